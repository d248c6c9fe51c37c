#include "cell.h"

#include <stdio.h>
#include <string.h>

#include "axes.h"
#include "similar.h"

#define COUNT(array) (sizeof(array) / sizeof *(array))

enum { TARGET_NAME_MAX = 64 };

const struct cell cell_default = {.gap_ns = 1000000,
                                  .at_once = 1,
                                  .commands = 1,
                                  .spawners = 1,
                                  .attribute = &attributes[0],
                                  .target = "tiny"};

static const char *const targets[] = {"tiny",   "silent",   "static", "dynamic",
                                      "script", "mebibyte", "waiter"};

const char *target_name(const char *target) {
    const char *slash = strrchr(target, '/');
    return slash ? slash + 1 : target;
}

bool target_stamps(const char *target) {
    return strcmp(target, "tiny") == 0 || strcmp(target, "waiter") == 0;
}

bool target_is_known(const char *target) {
    for (size_t i = 0; i < COUNT(targets); i++)
        if (strcmp(target, targets[i]) == 0)
            return true;
    return false;
}

bool target_check(const char *target, char *why, size_t size) {
    const char *name = target_name(target);
    if (target_is_known(target))
        return true;
    if (strchr(target, '/') && *name) {
        bool taken = target_is_known(name), fits = strlen(name) <= TARGET_NAME_MAX;
        if (taken)
            snprintf(why, size, "'%s' has the name of a target that ships: rename it", target);
        else if (!fits)
            snprintf(why, size, "the name of '%s' has more than %d bytes", target, TARGET_NAME_MAX);
        return !taken && fits;
    }
    const char *meant = similar(target, targets, COUNT(targets));
    if (meant)
        snprintf(why, size, "there is no target '%s'; did you mean %s?", target, meant);
    else
        snprintf(
            why, size,
            "there is no target '%s', but tiny, silent, static, dynamic, script, mebibyte, waiter, "
            "or a path with a slash",
            target);
    return false;
}

bool cell_is_in(const struct cell *cell, unsigned round) {
    return cell->rounds == 0 || round < cell->rounds;
}

bool cell_has_threads(const struct cell *cell) {
    return cell->spawners > 1 || cell->threads > 0 || cell->victim || cell->strategy->has_thread;
}

unsigned cell_children(const struct cell *cell) {
    return (unsigned)(cell->at_once * cell->spawners);
}

unsigned cell_descriptors(const struct cell *cell) {
    return (unsigned)(cell->strategy->keeps + cell->attribute->keeps) * cell_children(cell);
}

unsigned cell_processes(const struct cell *cell) {
    const struct strategy *strategy = cell->strategy;
    return cell_children(cell) * (1 + strategy->loops) + (unsigned)cell->spawners +
           (unsigned)cell->threads + (cell->victim != VICTIM_NONE) +
           (strategy->elsewhere && !strategy->loops);
}

uint64_t ballast_mappings(const struct ballast *b) {
    return b->mappings + (b->pages == PAGES_SIMULATED ? b->rss >> 30 : 0); /* each of 1 GiB */
}

unsigned cell_spawns(const struct cell *cell) {
    return cell->commands > 1 ? (unsigned)cell->commands : cell_children(cell);
}

static const char *case_of(const struct cell *cell) {
    return cell->commands > 1 ? "batch" : cell->strategy->captures ? "capture" : "spawn";
}

/* An axis at its default is not in the name. */
void cell_name(struct cell *cell) {
    char text[AXIS_TEXT_SIZE];
    size_t used = (size_t)snprintf(cell->name, sizeof cell->name, "%s/%s", case_of(cell),
                                   cell->strategy->name);
    for (size_t i = 1; i < axis_count && used < sizeof cell->name; i++) {
        if (axis_is_default(&axes[i], cell))
            continue;
        axis_print(&axes[i], cell, text);
        used += (size_t)snprintf(cell->name + used, sizeof cell->name - used, "/%s:%s",
                                 axes[i].name, text);
    }
}
