#include "flame.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "escape.h"
#include "memory.h"

static const double WIDTH = 1200, SIDE = 10, ROW = 17, HEAD = 46, CHARACTER = 6.7, LEAST = 0.3;

struct frame {
    const char *name; /* in the entry: `length` bytes */
    size_t length;
    uint64_t count; /* with all that it called */
    struct frame *called, *next;
};

static struct frame *find(struct frame *caller, const char *name, size_t length) {
    struct frame **place = &caller->called;
    for (; *place; place = &(*place)->next)
        if ((*place)->length == length && memcmp((*place)->name, name, length) == 0)
            return *place;
    *place = must(calloc(1, sizeof **place));
    (*place)->name = name;
    (*place)->length = length;
    return *place;
}

static void add(struct frame *root, const struct stacks_entry *entry) {
    struct frame *frame = root;
    root->count += entry->count;
    for (const char *name = entry->calls;; name++) {
        size_t length = strcspn(name, ";");
        frame = find(frame, name, length);
        frame->count += entry->count;
        name += length;
        if (!*name)
            break;
    }
}

static int by_name(const void *left, const void *right) {
    const struct frame *a = *(struct frame *const *)left, *b = *(struct frame *const *)right;
    int order = memcmp(a->name, b->name, a->length < b->length ? a->length : b->length);
    return order ? order : (a->length > b->length) - (a->length < b->length);
}

/* By name, so that two graphs of one program look alike. */
static void sort(struct frame *frame) {
    size_t count = 0;
    for (struct frame *f = frame->called; f; f = f->next)
        count++;
    struct frame **list = must(calloc(count + 1, sizeof *list));
    count = 0;
    for (struct frame *f = frame->called; f; f = f->next)
        list[count++] = f;
    qsort(list, count, sizeof *list, by_name);
    for (size_t i = 0; i < count; i++) {
        list[i]->next = list[i + 1];
        sort(list[i]);
    }
    frame->called = list[0];
    free(list);
}

static double width_of(const struct frame *frame, const struct frame *root) {
    return (WIDTH - 2 * SIDE) * (double)frame->count / (double)root->count;
}

/* Of what is wide enough to be drawn. */
static size_t depth_of(const struct frame *frame, const struct frame *root) {
    size_t deepest = 0;
    for (const struct frame *f = frame->called; f; f = f->next)
        if (width_of(f, root) >= LEAST) {
            size_t depth = 1 + depth_of(f, root);
            deepest = depth > deepest ? depth : deepest;
        }
    return deepest;
}

/* One of five shades, by the name: the same function looks the same everywhere. */
static unsigned shade_of(const char *name) {
    unsigned hash = 5381;
    for (; *name; name++)
        hash = hash * 33 + (unsigned char)*name;
    return hash % 5;
}

static void write_part(FILE *out, const char *name, size_t most) {
    size_t end = 0, width = 0;
    for (; name[end] && width <= most; end++)
        width += ((unsigned char)name[end + 1] & 0xc0) != 0x80;
    char *part = must(strndup(name, end));
    write_xml(out, part);
    free(part);
    if (name[end])
        fputs("\u2026", out);
}

static void draw(FILE *out, const struct frame *f, const struct frame *root, double x, double y) {
    double width = width_of(f, root);
    char *name = must(strndup(f->name, f->length));
    bool kernel = strcmp(name, "[kernel]") == 0;
    fputs("<g><title>", out);
    write_xml(out, name);
    fprintf(out, ": %" PRIu64 " (%.1f %%)</title><rect class=\"%c%u\" x=\"%.1f\" y=\"%.1f\" ",
            f->count, 100 * (double)f->count / (double)root->count, kernel ? 'k' : 'f',
            shade_of(name), x, y);
    fprintf(out, "width=\"%.1f\" height=\"%.0f\"/>", width, ROW - 1);
    if (width > 4 * CHARACTER) {
        fprintf(out, "<text x=\"%.1f\" y=\"%.1f\">", x + 3, y + ROW - 5);
        write_part(out, name, (size_t)((width - 6) / CHARACTER) - 1);
        fputs("</text>", out);
    }
    fputs("</g>\n", out);
    free(name);
}

static void draw_called(FILE *out, const struct frame *frame, const struct frame *root, double x,
                        double y) {
    for (const struct frame *f = frame->called; f; f = f->next) {
        double width = width_of(f, root);
        if (width >= LEAST) {
            draw(out, f, root, x, y);
            draw_called(out, f, root, x, y - ROW);
        }
        x += width;
    }
}

static void free_called(struct frame *frame) {
    for (struct frame *f = frame->called, *next; f; f = next) {
        next = f->next;
        free_called(f);
        free(f);
    }
}

static const char style[] =
    ":root{color-scheme:light dark}svg{background:#fff}"
    "text{font:11px ui-monospace,'DejaVu Sans Mono',monospace;fill:#1b1b1b}"
    ".head{font:600 15px system-ui,sans-serif}.soft{font:12px system-ui,sans-serif;fill:#555}"
    ".f0{fill:#f2a65e}.f1{fill:#f4b66a}.f2{fill:#ee9650}.f3{fill:#f6c47c}.f4{fill:#f0a040}"
    ".k0,.k1,.k2,.k3,.k4{fill:#8fb8de}g:hover rect{stroke:#1b1b1b}"
    "@media(prefers-color-scheme:dark){svg{background:#16181c}.head{fill:#eee}.soft{fill:#aaa}"
    "g:hover rect{stroke:#fff}}";

void flame_write(FILE *out, const char *title, const struct stacks_entry *entries, size_t count) {
    struct frame root = {0};
    for (size_t i = 0; i < count; i++)
        add(&root, &entries[i]);
    sort(&root);
    double height = HEAD + ROW * (double)(depth_of(&root, &root)) + SIDE;
    fprintf(out,
            "<svg xmlns=\"http://www.w3.org/2000/svg\" viewBox=\"0 0 %.0f %.0f\" role=\"img\" "
            "aria-labelledby=\"title\">\n<title id=\"title\">",
            WIDTH, height);
    write_xml(out, title);
    fprintf(out, "</title>\n<style>%s</style>\n<text class=\"head\" x=\"%.0f\" y=\"20\">", style,
            SIDE);
    write_xml(out, title);
    fprintf(
        out,
        "</text>\n<text class=\"soft\" x=\"%.0f\" y=\"37\">Each row was called by the one below "
        "it; the wider, the more copies; blue: the kernel wrote, for the program</text>\n",
        SIDE);
    if (root.count > 0)
        draw_called(out, &root, &root, SIDE, height - SIDE - ROW);
    fputs("</svg>\n", out);
    free_called(&root);
}
