#include "splice.h"

#include "escape.h"
#include "memory.h"
#include "output.h"
#include "page.h"
#include "picture.h"
#include "render.h"
#include "replace.h"

#include <errno.h>
#include <libgen.h>
#include <stdlib.h>
#include <string.h>

static const char BEGIN[] = "<!-- forkless:begin ", END[] = "<!-- forkless:end ", CLOSE[] = " -->";

struct splicing {
    const char *path;
    const struct run *run;
    char **error;
    bool is_usage; /* the error is in the Markdown file, not in what we do */
    struct document page;
    char *picture; /* where it goes, as the marker says it; NULL: nowhere */
    char *svg;
};

static bool refuse(struct splicing *splicing, char *why) {
    *splicing->error = why;
    return false;
}

/* The first of a kind in a section, or where that is NULL before all sections. */
static const struct element *find_element(const struct splicing *splicing, const char *section,
                                          enum element_kind kind) {
    const char *now = NULL;
    for (size_t i = 0; i < splicing->page.count; i++) {
        const struct element *element = &splicing->page.elements[i];
        if (element->kind == SECTION)
            now = element->name;
        bool is_there = section ? now && !strcmp(now, section) : !now;
        if (is_there && element->kind == kind)
            return element;
    }
    return NULL;
}

static bool make_picture(struct splicing *splicing, const char *file) {
    if (splicing->picture)
        return refuse(splicing, sentence("%s: there are two pictures", splicing->path));
    if (*file == '/' || strstr(file, "..") || strpbrk(file, "()<> \t\\"))
        return refuse(splicing, sentence("%s: the picture's file '%s' is no plain name beside it",
                                         splicing->path, file));
    size_t length = strlen(file);
    if (length < 5 || strcmp(file + length - 4, ".svg"))
        return refuse(splicing, sentence("%s: the picture's file '%s' does not end in .svg",
                                         splicing->path, file));
    char *why;
    splicing->svg = page_picture(splicing->run, &why);
    if (!splicing->svg) {
        splicing->is_usage = false;
        refuse(splicing, sentence("%s: there is no picture: %s", splicing->path, why));
        free(why);
        return false;
    }
    splicing->picture = must(strdup(file));
    return true;
}

/* The longest row of backticks in a text cannot end a fence that is longer. */
static void write_fenced(FILE *out, const char *text) {
    size_t longest = 2, row = 0;
    for (const char *c = text; *c; c++) {
        row = *c == '`' ? row + 1 : 0;
        longest = row > longest ? row : longest;
    }
    for (size_t i = 0; i <= longest; i++)
        fputc('`', out);
    fprintf(out, "text\n%s", text);
    for (size_t i = 0; i <= longest; i++)
        fputc('`', out);
    fputc('\n', out);
}

static void write_text(const struct splicing *splicing, FILE *out) {
    size_t length;
    char *lacking, *text = render(splicing->run, NULL, TEXT, &length, &lacking);
    write_fenced(out, text);
    free(text);
}

static bool write_part(struct splicing *splicing, const char *name, FILE *out) {
    static const char picture[] = "picture ";
    if (!strcmp(name, "text")) {
        write_text(splicing, out);
    } else if (!strcmp(name, "verdict")) {
        const struct element *verdict = find_element(splicing, NULL, PARAGRAPH);
        write_markdown(out, verdict ? verdict->text : "Nothing was measured.");
        fputc('\n', out);
    } else if (!strcmp(name, "table")) {
        const struct element *table = find_element(splicing, "ranking", GRID);
        if (table)
            markdown_grid(&table->grid, out);
    } else if (!strncmp(name, picture, strlen(picture))) {
        const char *file = name + strlen(picture);
        if (!make_picture(splicing, file))
            return false;
        fprintf(out, "![How long one spawn holds its caller, by the parent's memory](%s)\n", file);
    } else {
        return refuse(splicing,
                      sentence("%s: '%s' is none of text, verdict, table, picture FILE.svg",
                               splicing->path, name));
    }
    return true;
}

/* The name in the marker that a line is; NULL: it is none. */
static char *name_in(const char *line, size_t length, const char *start) {
    size_t before = strlen(start), after = strlen(CLOSE);
    while (length > 0 && strchr(" \t\r\n", line[length - 1]))
        length--;
    if (length < before + after || strncmp(line, start, before) ||
        strncmp(line + length - after, CLOSE, after))
        return NULL;
    return must(strndup(line + before, length - before - after));
}

struct marker {
    char *name; /* NULL: outside */
    size_t line;
};

static bool step(struct splicing *splicing, struct marker *open, const char *line, size_t length,
                 size_t number, FILE *out) {
    char *begins = name_in(line, length, BEGIN), *ends = name_in(line, length, END);
    bool good = true;
    if (begins && open->name)
        good = refuse(splicing, sentence("%s:%zu: '%s' begins inside '%s'", splicing->path, number,
                                         begins, open->name));
    else if (ends && (!open->name || strcmp(ends, open->name)))
        good = refuse(splicing, sentence("%s:%zu: '%s' ends and did not begin", splicing->path,
                                         number, ends));
    else if (begins || ends || !open->name)
        fwrite(line, 1, length, out);
    if (good && begins) {
        good = write_part(splicing, begins, out);
        *open = (struct marker){.name = must(strdup(begins)), .line = number};
    } else if (good && ends) {
        free(open->name);
        open->name = NULL;
    }
    free(begins);
    free(ends);
    return good;
}

static bool copy_lines(struct splicing *splicing, FILE *in, FILE *out) {
    struct marker open = {0};
    char *line = NULL;
    size_t space = 0, number = 0, parts = 0;
    ssize_t length;
    bool good = true;
    while (good && (length = getline(&line, &space, in)) >= 0) {
        bool outside = !open.name;
        good = step(splicing, &open, line, (size_t)length, ++number, out);
        parts += outside && open.name;
    }
    if (good && ferror(in))
        good =
            refuse(splicing, sentence("%s: cannot be read: %s", splicing->path, strerror(errno)));
    else if (good && open.name)
        good = refuse(splicing, sentence("%s:%zu: '%s' begins and does not end", splicing->path,
                                         open.line, open.name));
    else if (good && parts == 0)
        good = refuse(splicing,
                      sentence("%s: there is no marker '%sNAME%s'", splicing->path, BEGIN, CLOSE));
    free(open.name);
    free(line);
    return good;
}

static bool write_picture(struct splicing *splicing) {
    char *folder = must(strdup(splicing->path)), *svg = NULL;
    char *file = sentence("%s/%s", dirname(folder), splicing->picture);
    size_t length;
    FILE *out = must(open_memstream(&svg, &length));
    picture_write(out, splicing->svg);
    fclose(out);
    bool good = replace_file(file, must(svg), length, splicing->error);
    free(svg);
    free(file);
    free(folder);
    return good;
}

static bool write_files(struct splicing *splicing, const char *text, size_t length) {
    splicing->is_usage = false;
    return (!splicing->picture || write_picture(splicing)) &&
           replace_file(splicing->path, text, length, splicing->error);
}

bool splice(const char *path, const struct run *run, char **error, bool *is_usage) {
    struct splicing splicing = {.path = path, .run = run, .error = error, .is_usage = true};
    FILE *in = fopen(path, "re");
    if (!in) {
        *is_usage = true;
        return refuse(&splicing, sentence("%s: cannot be opened: %s", path, strerror(errno)));
    }
    splicing.page = page_make(run, NULL, false);
    char *text = NULL;
    size_t length;
    FILE *out = must(open_memstream(&text, &length));
    bool good = copy_lines(&splicing, in, out);
    fclose(in);
    fclose(out);
    good = good && write_files(&splicing, must(text), length);
    *is_usage = splicing.is_usage;
    free(text);
    free(splicing.picture);
    free(splicing.svg);
    document_free(&splicing.page);
    return good;
}
