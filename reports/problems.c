#include "problems.h"

#include "memory.h"

#include <stdlib.h>
#include <string.h>

struct list {
    size_t count;
    struct problem *problems;
};

static struct problem *find_or_add(struct list *list, const struct measurement *measurement) {
    for (size_t i = 0; i < list->count; i++)
        if (list->problems[i].state == measurement->state &&
            !strcmp(list->problems[i].reason, measurement->reason))
            return &list->problems[i];
    list->problems = must(reallocarray(list->problems, list->count + 1, sizeof *list->problems));
    struct problem *problem = &list->problems[list->count++];
    *problem = (struct problem){.state = measurement->state, .reason = measurement->reason};
    return problem;
}

static void add_cell(struct list *list, const struct run *run, const struct cell *cell) {
    for (size_t round = 0; round < run->rounds; round++) {
        const struct measurement *measurement = &cell->rounds[round];
        if (measurement->state == NOT_RUN || measurement->state == MEASURED)
            continue;
        struct problem *problem = find_or_add(list, measurement);
        if (!problem->first)
            problem->first = cell;
        if (problem->last != cell)
            problem->cells++;
        problem->last = cell;
        problem->measurements++;
    }
}

struct problem *find_problems(const struct run *run, const bool *known, size_t *count) {
    struct list list = {.count = 0};
    for (size_t i = 0; i < run->cell_count; i++)
        if (!known[i])
            add_cell(&list, run, &run->cells[i]);
    *count = list.count;
    return list.problems;
}

char *why_missing(const struct run *run, const struct cell *cell) {
    if (!cell)
        return sentence("not in this run");
    for (size_t round = 0; round < run->rounds; round++)
        if (cell->rounds[round].state == MEASURED)
            return sentence("the target does not stamp its first instruction");
    struct list list = {.count = 0};
    add_cell(&list, run, cell);
    if (list.count == 0)
        return sentence("the run ended before its turn");
    const struct problem *problem = &list.problems[0];
    const char *state = state_names[problem->state];
    char *why = list.count == 1
                    ? sentence("%s: %s", state, problem->reason)
                    : sentence("%s: %s (one of %zu reasons)", state, problem->reason, list.count);
    free(list.problems);
    return why;
}
