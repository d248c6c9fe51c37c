#include "notes.h"

#include "layout.h"
#include "memory.h"

#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

void notes_add(struct notes *notes, const char *row, const char *column, const char *why) {
    for (size_t i = 0; i < notes->count; i++) {
        struct note *note = &notes->list[i];
        if (strcmp(note->row, row) || strcmp(note->why, why))
            continue;
        char *columns = sentence("%s, %s", note->columns, column);
        free(note->columns);
        note->columns = columns;
        note->column_count++;
        return;
    }
    notes->list = must(reallocarray(notes->list, notes->count + 1, sizeof *notes->list));
    notes->list[notes->count++] = (struct note){.row = must(strdup(row)),
                                                .columns = must(strdup(column)),
                                                .column_count = 1,
                                                .why = must(strdup(why))};
}

/* "fork, vfork (1 GiB, 4 GiB)": the rows that lack the same columns for the same reason. */
static void write_places(const struct notes *notes, size_t first, bool *written, FILE *text) {
    const struct note *like = &notes->list[first];
    for (size_t i = first; i < notes->count; i++) {
        const struct note *note = &notes->list[i];
        if (written[i] || strcmp(note->why, like->why) || strcmp(note->columns, like->columns))
            continue;
        fprintf(text, "%s%s", i == first ? "" : ", ", note->row);
        written[i] = true;
    }
    if (like->column_count < notes->columns)
        fprintf(text, " (%s)", like->columns);
}

char **notes_lines(const struct notes *notes, size_t *count) {
    bool *written = must(calloc(notes->count + 1, sizeof *written));
    char **lines = must(calloc(notes->count + 1, sizeof *lines));
    *count = 0;
    for (size_t i = 0; i < notes->count; i++) {
        if (written[i])
            continue;
        size_t length;
        FILE *text = must(open_memstream(&lines[*count], &length));
        for (size_t j = i; j < notes->count; j++) {
            if (written[j] || strcmp(notes->list[j].why, notes->list[i].why))
                continue;
            fputs(i == j ? "" : "; ", text);
            write_places(notes, j, written, text);
        }
        fprintf(text, ": %s", notes->list[i].why);
        fclose(text);
        must(lines[(*count)++]);
    }
    free(written);
    return lines;
}

void notes_print(const struct notes *notes, FILE *out) {
    size_t count;
    char **lines = notes_lines(notes, &count);
    for (size_t i = 0; i < count; i++) {
        fputs(" -  ", out);
        print_words(out, lines[i], 4, 4);
        free(lines[i]);
    }
    free(lines);
}

void notes_clear(struct notes *notes) {
    for (size_t i = 0; i < notes->count; i++) {
        free(notes->list[i].row);
        free(notes->list[i].columns);
        free(notes->list[i].why);
    }
    free(notes->list);
}
