#include "copies.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "units.h"

enum { WIDTH = 80, NAME = 31, ROWS = 12, STACKS = 6, SAMPLES = 12, CALLS = 8 };

/* What is too long for its column loses its middle. */
static void write_name(FILE *out, const char *name, size_t width) {
    size_t length = strlen(name);
    if (length <= width) {
        fprintf(out, "%-*s", (int)width, name);
        return;
    }
    size_t tail = (width - 2) / 2, head = width - 2 - tail;
    fprintf(out, "%.*s..%s", (int)head, name, name + length - tail);
}

static void write_row(FILE *out, const char *name, const struct copies_row *row) {
    write_name(out, name, NAME);
    fprintf(out, " %8" PRIu64 " %7" PRIu64, (uint64_t)copies_of(row, COW_COPY),
            (uint64_t)row->faults[COW_COPY][1]);
    for (unsigned kind = COW_REUSE; kind < COW_KINDS; kind++)
        fprintf(out, " %7" PRIu64, (uint64_t)copies_of(row, kind));
    putc('\n', out);
}

static void write_mappings(const struct copies *c, FILE *out) {
    fprintf(out, "\n%-*s %8s %7s %7s %7s %7s %7s\n", NAME, "by mapping", "copies", "kernel",
            "reused", "zeros", "shared", "untold");
    struct copies_row rest = {0};
    for (size_t i = 0; i < c->used; i++) {
        const struct copies_row *row = &c->rows[i];
        if (i < ROWS) {
            char name[sizeof row->name + 32];
            bool nameless = !row->inode && row->place == COW_ELSEWHERE && row->start;
            snprintf(name, sizeof name, "%s%s%s", row->name, nameless ? " " : "",
                     nameless ? label_about((double)(row->end - row->start)).text : "");
            write_row(out, name, row);
            continue;
        }
        for (unsigned kind = 0; kind < COW_KINDS; kind++)
            for (int by = 0; by < 2; by++)
                rest.faults[kind][by] += c->rows[i].faults[kind][by];
    }
    if (c->used > ROWS) {
        char name[32];
        snprintf(name, sizeof name, "%zu others", c->used - ROWS);
        write_row(out, name, &rest);
    }
}

/* The innermost calls first, as many lines as it takes. */
static void write_calls(FILE *out, const char *calls, size_t indent) {
    const char *end = calls + strlen(calls);
    size_t column = indent;
    for (int shown = 0; end > calls && shown <= CALLS; shown++) {
        const char *name = end;
        while (name > calls && name[-1] != ';')
            name--;
        bool last = name == calls;
        size_t length = (size_t)(end - name), room = WIDTH - 2 - indent;
        if (shown == CALLS && !last) {
            name = "...";
            length = 3;
            last = true;
        }
        bool cut = length > room;
        size_t width = cut ? room : length;
        if (shown > 0 && column + 1 + width + (last ? 0 : 2) > WIDTH) {
            fprintf(out, "\n%*s", (int)indent, "");
            column = indent;
        } else if (shown > 0) {
            putc(' ', out);
            column++;
        }
        fprintf(out, "%.*s%s%s", (int)(cut ? room - 2 : length), name, cut ? ".." : "",
                last ? "" : " <");
        column += width + 2;
        end = name - 1;
        if (last)
            break;
    }
    putc('\n', out);
}

static void write_stacks(const struct copies *c, FILE *out) {
    __u64 all = 0;
    for (size_t i = 0; i < c->stacks_used; i++)
        all += c->stacks[i].count;
    if (all == 0)
        return;
    fputs("\nby stack, innermost first\n", out);
    for (size_t i = 0; i < c->stacks_used && i < STACKS; i++) {
        fprintf(out, "%8" PRIu64 " %3.0f %%  ", c->stacks[i].count,
                100 * (double)c->stacks[i].count / (double)all);
        write_calls(out, c->stacks[i].calls, 15);
    }
    if (c->stacks_used > STACKS)
        fprintf(out, "%16s%zu others; --folded and --svg have all\n", "", c->stacks_used - STACKS);
}

static void write_sharing(const struct copies *c, FILE *out) {
    const struct sharings *all = &c->sharings;
    if (all->used == 0)
        return;
    fprintf(out, "\n%-14s %10s %11s %11s %11s %8s %8s\n", "still shared", "processes", "rss", "pss",
            "shared", "share", "copies");
    size_t rows = all->used < SAMPLES ? all->used : SAMPLES;
    for (size_t i = 0; i < rows; i++) {
        const struct sharing *s = &all->list[rows > 1 ? i * (all->used - 1) / (rows - 1) : 0];
        fprintf(out, "%12.1f s %10" PRIu64 " %11s", s->at, s->processes,
                label_about((double)s->resident).text);
        fprintf(out, " %11s", label_about((double)s->proportional).text);
        fprintf(out, " %11s %6.1f %% %8" PRIu64 "\n", label_about((double)s->shared).text,
                sharing_percent(s), s->copies);
    }
}

void copies_text(const struct copies *c, FILE *out) {
    __u64 copies = copies_of(&c->total, COW_COPY);
    fprintf(out,
            "%" PRIu64 " cop%s (%s), %" PRIu64 " of them by the kernel, in %" PRIu64
            " process%s and %.1f s\n",
            (uint64_t)copies, copies == 1 ? "y" : "ies", label_about((double)c->total.copied).text,
            (uint64_t)c->total.faults[COW_COPY][1], (uint64_t)c->processes,
            c->processes == 1 ? "" : "es", c->seconds);
    if (c->used > 0)
        write_mappings(c, out);
    write_stacks(c, out);
    write_sharing(c, out);
    char *losses = NULL;
    size_t length;
    FILE *text = open_memstream(&losses, &length);
    if (!text)
        return;
    copies_losses(c, text);
    fclose(text);
    if (losses && length > 0)
        fprintf(out, "\n%s", losses);
    free(losses);
}

void copies_folded(const struct copies *c, FILE *out) {
    for (size_t i = 0; i < c->stacks_used; i++)
        fprintf(out, "%s %" PRIu64 "\n", c->stacks[i].calls, c->stacks[i].count);
}
