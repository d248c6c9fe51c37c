#include "cell.h"

#include <stdio.h>
#include <string.h>

#include "similar.h"
#include "units.h"

#define COUNT(array) (sizeof(array) / sizeof *(array))

enum { TARGET_NAME_MAX = 64 };

const struct cell cell_default = {.gap_ns = 1000000, .at_once = 1, .target = "tiny"};

const char *const axis_names[AXES] = {"strategy", "rss", "gap", "at_once", "target"};

static const char *const targets[] = {"tiny", "silent", "static", "dynamic"};

const char *target_name(const char *target) {
    const char *slash = strrchr(target, '/');
    return slash ? slash + 1 : target;
}

bool target_is_known(const char *target) {
    for (size_t i = 0; i < COUNT(targets); i++)
        if (strcmp(target, targets[i]) == 0)
            return true;
    return false;
}

static bool set_strategy(struct cell *cell, const char *text, char *why, size_t size) {
    cell->strategy = strategy_find(text);
    if (cell->strategy)
        return true;
    const char *meant = similar(text, strategy_names, strategy_count);
    if (meant)
        snprintf(why, size, "there is no strategy '%s'; did you mean %s?", text, meant);
    else
        snprintf(why, size, "there is no strategy '%s', but fork, vfork, posix_spawn, clone3, ...",
                 text);
    return false;
}

static bool set_target(struct cell *cell, const char *text, char *why, size_t size) {
    const char *name = target_name(text);
    cell->target = text;
    if (target_is_known(text))
        return true;
    if (strchr(text, '/') && *name) {
        bool taken = target_is_known(name), fits = strlen(name) <= TARGET_NAME_MAX;
        if (taken)
            snprintf(why, size, "'%s' has the name of a target that ships: rename it", text);
        else if (!fits)
            snprintf(why, size, "the name of '%s' has more than %d bytes", text, TARGET_NAME_MAX);
        return !taken && fits;
    }
    const char *meant = similar(text, targets, COUNT(targets));
    if (meant)
        snprintf(why, size, "there is no target '%s'; did you mean %s?", text, meant);
    else
        snprintf(why, size,
                 "there is no target '%s', but tiny, silent, static, dynamic, or a path with a "
                 "slash",
                 text);
    return false;
}

static bool set_at_once(struct cell *cell, const char *text, char *why, size_t size) {
    uint64_t n;
    if (!count_parse(text, 1, AT_ONCE_MAX, &n)) {
        snprintf(why, size, "'%s' is not a whole number from 1 to %d", text, AT_ONCE_MAX);
        return false;
    }
    cell->at_once = (unsigned)n;
    return true;
}

bool cell_set(struct cell *cell, enum axis axis, const char *text, char *why, size_t size) {
    switch (axis) {
    case AXIS_STRATEGY:
        return set_strategy(cell, text, why, size);
    case AXIS_RSS:
        if (size_parse(text, &cell->rss))
            return true;
        snprintf(why, size, "'%s' is not a size such as 0, 256MiB or 1GiB", text);
        return false;
    case AXIS_GAP:
        if (time_parse(text, &cell->gap_ns))
            return true;
        snprintf(why, size, "'%s' is not a time such as 0, 20us or 1ms", text);
        return false;
    case AXIS_AT_ONCE:
        return set_at_once(cell, text, why, size);
    default:
        return set_target(cell, text, why, size);
    }
}

/* An axis at its default is not in the name. */
void cell_name(struct cell *cell) {
    char *at = cell->name, *end = at + sizeof cell->name, value[32];
    at += snprintf(at, (size_t)(end - at), "spawn/%s", cell->strategy->name);
    if (cell->rss != cell_default.rss) {
        size_name(cell->rss, value, sizeof value);
        at += snprintf(at, (size_t)(end - at), "/rss:%s", value);
    }
    if (cell->gap_ns != cell_default.gap_ns) {
        time_name(cell->gap_ns, value, sizeof value);
        at += snprintf(at, (size_t)(end - at), "/gap:%s", value);
    }
    if (cell->at_once != cell_default.at_once)
        at += snprintf(at, (size_t)(end - at), "/at_once:%u", cell->at_once);
    if (strcmp(cell->target, cell_default.target) != 0)
        snprintf(at, (size_t)(end - at), "/target:%s", target_name(cell->target));
}
