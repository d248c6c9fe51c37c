#include "cell.h"

#include <stdio.h>
#include <string.h>

#include "similar.h"
#include "units.h"

#define COUNT(array) (sizeof(array) / sizeof *(array))

enum { TARGET_NAME_MAX = 64 };

const struct cell cell_default = {
    .gap_ns = 1000000, .at_once = 1, .spawners = 1, .attribute = &attributes[0], .target = "tiny"};

const char *const axis_names[AXES] = {"strategy", "rss",      "gap",        "at_once",
                                      "fds",      "spawners", "attributes", "target"};

static const char *const targets[] = {"tiny", "silent", "static", "dynamic", "mebibyte"};

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
                 "there is no target '%s', but tiny, silent, static, dynamic, mebibyte, or a "
                 "path with a slash",
                 text);
    return false;
}

static bool set_count(unsigned *out, const char *text, unsigned least, unsigned most, char *why,
                      size_t size) {
    uint64_t n;
    if (!count_parse(text, least, most, &n)) {
        snprintf(why, size, "'%s' is not a whole number from %u to %u", text, least, most);
        return false;
    }
    *out = (unsigned)n;
    return true;
}

static bool set_attribute(struct cell *cell, const char *text, char *why, size_t size) {
    cell->attribute = attribute_find(text);
    if (cell->attribute)
        return true;
    const char *meant = attribute_similar(text);
    if (meant)
        snprintf(why, size, "there is no attribute '%s'; did you mean %s?", text, meant);
    else
        snprintf(why, size, "there is no attribute '%s'; --list names those that there are", text);
    return false;
}

unsigned cell_children(const struct cell *cell) {
    return cell->at_once * cell->spawners;
}

enum axis cell_conflict(const struct cell *cell, char *why, size_t size) {
    if (cell_children(cell) > CHILDREN_MAX) {
        snprintf(why, size, "%u spawners of %u at once have more than %d children", cell->spawners,
                 cell->at_once, CHILDREN_MAX);
        return AXIS_SPAWNERS;
    }
    if (cell->attribute->set && !cell->strategy->has_attributes) {
        snprintf(why, size,
                 "%s cannot take '%s': forkless_spawn and forkless_start take attributes",
                 cell->strategy->name, cell->attribute->name);
        return AXIS_ATTRIBUTES;
    }
    return AXES;
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
        return set_count(&cell->at_once, text, 1, CHILDREN_MAX, why, size);
    case AXIS_FDS:
        return set_count(&cell->fds, text, 0, FDS_MAX, why, size);
    case AXIS_SPAWNERS:
        return set_count(&cell->spawners, text, 1, SPAWNERS_MAX, why, size);
    case AXIS_ATTRIBUTES:
        return set_attribute(cell, text, why, size);
    default:
        return set_target(cell, text, why, size);
    }
}

/* An axis at its default is not in the name. */
void cell_name(struct cell *cell) {
    char *at = cell->name, *end = at + sizeof cell->name, value[32];
    at += snprintf(at, (size_t)(end - at), "%s/%s", cell->strategy->captures ? "capture" : "spawn",
                   cell->strategy->name);
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
    if (cell->fds != cell_default.fds)
        at += snprintf(at, (size_t)(end - at), "/fds:%u", cell->fds);
    if (cell->spawners != cell_default.spawners)
        at += snprintf(at, (size_t)(end - at), "/spawners:%u", cell->spawners);
    if (cell->attribute != cell_default.attribute)
        at += snprintf(at, (size_t)(end - at), "/attributes:%s", cell->attribute->name);
    if (strcmp(cell->target, cell_default.target) != 0)
        snprintf(at, (size_t)(end - at), "/target:%s", target_name(cell->target));
}
