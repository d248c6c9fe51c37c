#include "conflicts.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

const char *const page_words[] = {"4k", "thp", "hugetlb", "shared", "heap", "simulated", NULL};
const char *const memory_words[] = {"idle", "rewritten", "dontfork", NULL};
const char *const between_words[] = {"work", "touch", "sleep", NULL};
const char *const pin_words[] = {"none", "caller", NULL};
const char *const load_words[] = {"idle", "others", "all", NULL};
const char *const victim_words[] = {"none", "spinner", "faulter", "ticker", NULL};
const char *const place_words[] = {"free", "beside", "away", NULL};
const char *const after_words[] = {"none", "living", "gone", NULL};
const char *const traced_words[] = {"no", "phases", "trace", NULL};

/* What starts its children elsewhere is told by one thread, whose processor time is the parent's
 * but for the launcher's; and it is made before the victim and the children's standard input. */
bool strategy_conflicts(const struct cell *cell, char *why, size_t size) {
    const struct strategy *strategy = cell->strategy;
    if (!strategy->body || !strategy->elsewhere ||
        (cell->spawners == 1 && !cell->victim && cell->after == AFTER_NONE))
        return false;
    snprintf(why, size, "%s takes one spawner, no victim and no 'after'", strategy->name);
    return true;
}

bool pages_conflict(const struct cell *cell, char *why, size_t size) {
    const struct ballast *b = &cell->ballast;
    uint64_t whole = b->pages == PAGES_SIMULATED                          ? UINT64_C(1) << 30
                     : b->pages == PAGES_THP || b->pages == PAGES_HUGETLB ? UINT64_C(2) << 20
                                                                          : 1;
    if (b->pages == PAGES_4K || (b->rss > 0 && b->rss % whole == 0))
        return false;
    if (b->rss == 0)
        snprintf(why, size, "'%s' needs memory: an rss above 0", page_words[b->pages]);
    else
        snprintf(why, size, "'%s' takes an rss of whole %s", page_words[b->pages],
                 b->pages == PAGES_SIMULATED ? "GiB" : "2MiB");
    return true;
}

bool memory_conflicts(const struct cell *cell, char *why, size_t size) {
    const struct ballast *b = &cell->ballast;
    if (cell->memory == MEMORY_IDLE)
        return false;
    if (b->rss == 0)
        snprintf(why, size, "'%s' needs memory: an rss above 0", memory_words[cell->memory]);
    else if (cell->memory == MEMORY_REWRITTEN && b->pages == PAGES_SIMULATED)
        snprintf(why, size, "simulated memory cannot be rewritten: it would become real");
    else if (cell->memory == MEMORY_DONTFORK && b->pages == PAGES_HEAP)
        snprintf(why, size, "a heap cannot be left out: a copy needs its own");
    else
        return false;
    return true;
}

bool between_conflicts(const struct cell *cell, char *why, size_t size) {
    if (cell->between == BETWEEN_WORK || cell->gap_ns > 0)
        return false;
    snprintf(why, size, "'%s' needs time: a gap above 0", between_words[cell->between]);
    return true;
}

bool victim_conflicts(const struct cell *cell, char *why, size_t size) {
    if (!cell->victim || (cell->spawners == 1 && cell->commands == 1))
        return false;
    snprintf(why, size, "'%s' is a victim of one spawner, and of one burst at a time",
             victim_words[cell->victim]);
    return true;
}

bool place_conflicts(const struct cell *cell, char *why, size_t size) {
    const char *word = place_words[cell->place];
    if (cell->place == PLACE_FREE)
        return false;
    if (!cell->victim)
        snprintf(why, size, "'%s' is where a victim is, and there is none", word);
    else if (cell->pin != PIN_NONE)
        snprintf(why, size, "'%s' pins the spawner itself", word);
    else if (cell->place == PLACE_BESIDE && cell->between != BETWEEN_SLEEP)
        snprintf(why, size, "'%s' needs a spawner that leaves its CPU: between:sleep", word);
    else
        return false;
    return true;
}

bool after_conflicts(const struct cell *cell, char *why, size_t size) {
    const char *word = after_words[cell->after];
    if (cell->after == AFTER_NONE)
        return false;
    if (cell->strategy->body && strcmp(target_name(cell->target), "waiter") != 0)
        snprintf(why, size, "'%s' needs a target that lives until it is told: waiter", word);
    else if (cell_children(cell) > 1 || cell->commands > 1)
        snprintf(why, size, "'%s' is of one child: at_once, spawners and commands 1", word);
    else if (cell->victim || cell->strategy->captures)
        snprintf(why, size, "'%s' goes without a %s", word, cell->victim ? "victim" : "capture");
    else if (cell->attribute->input)
        snprintf(why, size, "'%s' tells the child by its standard input, which '%s' replaces", word,
                 cell->attribute->name);
    else if (cell->ballast.rss == 0 || cell->ballast.pages == PAGES_SIMULATED)
        snprintf(why, size, "'%s' needs memory to write: an rss above 0 that is real", word);
    else
        return false;
    return true;
}

bool target_conflicts(const struct cell *cell, char *why, size_t size) {
    bool waits = strcmp(cell->target, "waiter") == 0;
    if (waits && cell->after == AFTER_NONE)
        snprintf(why, size, "waiter waits for what only cells with 'after' tell it");
    else if (cell->strategy->is_worker && !target_stamps(cell->target) &&
             strcmp(cell->target, "silent") != 0)
        snprintf(why, size, "%s executes nothing: tiny, silent or waiter", cell->strategy->name);
    else
        return false;
    return true;
}

bool attribute_conflicts(const struct cell *cell, char *why, size_t size) {
    const struct attribute *attribute = cell->attribute;
    bool sent = attribute->environment || attribute->hands_down;
    if (!attribute->set || cell->strategy->has_attributes || (cell->strategy->sends && sent))
        return false;
    snprintf(why, size,
             "%s cannot take '%s': forkless_spawn, forkless_start and batches take attributes",
             cell->strategy->name, cell->attribute->name);
    return true;
}

bool spawners_conflict(const struct cell *cell, char *why, size_t size) {
    if (cell_children(cell) <= CHILDREN_MAX)
        return false;
    snprintf(why, size, "%" PRIu64 " spawners of %" PRIu64 " at once have more than %d children",
             cell->spawners, cell->at_once, CHILDREN_MAX);
    return true;
}

bool commands_conflict(const struct cell *cell, char *why, size_t size) {
    const struct strategy *strategy = cell->strategy;
    if (cell->commands == 1 && !strategy->body && strategy->many)
        snprintf(why, size, "%s takes 2 commands or more", strategy->name);
    else if (cell->commands > 1 && (strategy->captures || !strategy_starts(strategy)))
        snprintf(why, size, "%s takes one command", strategy->name);
    else if (cell->commands > 1 && cell->spawners > 1)
        snprintf(why, size, "several spawners take one command each");
    else if (strategy->most && cell->at_once > strategy->most)
        snprintf(why, size, "%s takes at most %u at once", strategy->name, strategy->most);
    else
        return false;
    return true;
}
