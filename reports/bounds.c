#include "bounds.h"

#include "fields.h"
#include "memory.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static const char *const kind_names[KINDS] = {"value",      "difference", "ratio",
                                              "rate_ratio", "slope",      "slope_ratio"};

/* The place of a field's text among names. */
static bool read_choice(struct source *source, const json_t *object, const char *key,
                        const char *const *names, size_t count, size_t *place) {
    char *text;
    if (!field_text(source, object, key, &text))
        return false;
    for (*place = 0; *place < count; (*place)++)
        if (!strcmp(text, names[*place]))
            break;
    bool known = *place < count;
    if (!known)
        refuse(source, "`%s` cannot be %s", key, text);
    free(text);
    return known;
}

static bool check_keys(struct source *source, json_t *object) {
    static const char *const known[] = {"id",   "says", "kind", "figure", "percentile", "of",
                                        "over", "less", "per",  "along",  "at_most",    "at_least"};
    const char *key;
    json_t *value;
    json_object_foreach(object, key, value) {
        size_t i = 0;
        while (i < sizeof known / sizeof *known && strcmp(key, known[i]))
            i++;
        if (i == sizeof known / sizeof *known)
            return refuse(source, "`%s` is not a field of a bound", key);
    }
    return true;
}

static bool read_limit(struct source *source, const json_t *object, struct bound *bound) {
    bound->at_least = json_object_get(object, "at_least");
    if (bound->at_least && json_object_get(object, "at_most"))
        return refuse(source, "`at_most` and `at_least` exclude each other");
    const char *key = bound->at_least ? "at_least" : "at_most";
    return field_number(source, object, key, &bound->limit) &&
           (bound->limit > 0 || refuse(source, "`%s` is not above 0", key));
}

static bool read_percentile(struct source *source, const json_t *object, struct bound *bound) {
    bound->percentile = 50;
    if (!json_object_get(object, "percentile"))
        return true;
    if (bound->kind != VALUE && bound->kind != RATIO)
        return refuse(source, "`percentile` goes with the kinds `value` and `ratio` only");
    return field_number(source, object, "percentile", &bound->percentile) &&
           (bound->percentile < 100 || refuse(source, "`percentile` is not below 100"));
}

/* What stands beside the cell or strategy of a bound, where its kind asks for it. */
static bool read_other(struct source *source, const json_t *object, struct bound *bound) {
    bool is_difference = bound->kind == DIFFERENCE;
    const char *key = is_difference ? "less" : "over", *other = is_difference ? "over" : "less";
    bool is_alone = bound->kind == VALUE || bound->kind == SLOPE;
    bound->per = 1;
    if (json_object_get(object, other) || (is_alone && json_object_get(object, key)))
        return refuse(source, "`%s` does not go with the kind `%s`",
                      json_object_get(object, other) ? other : key, kind_names[bound->kind]);
    if (!is_alone && !field_text(source, object, key, &bound->over))
        return false;
    if (!json_object_get(object, "per"))
        return true;
    if (!is_difference)
        return refuse(source, "`per` goes with the kind `difference` only");
    return field_number(source, object, "per", &bound->per) &&
           (bound->per > 0 || refuse(source, "`per` is not above 0"));
}

static bool read_bound(struct source *source, json_t *object, struct bound *bound) {
    size_t kind, figure;
    if (!check_keys(source, object) || !field_text(source, object, "id", &bound->id) ||
        !field_text(source, object, "says", &bound->says) ||
        !read_choice(source, object, "kind", kind_names, KINDS, &kind) ||
        !read_choice(source, object, "figure", figure_names, FIGURES, &figure) ||
        !field_text(source, object, "of", &bound->of))
        return false;
    bound->kind = (enum kind)kind;
    bound->figure = (enum figure)figure;
    if (json_object_get(object, "along")) {
        if (bound->kind != SLOPE && bound->kind != SLOPE_RATIO)
            return refuse(source, "`along` goes with a slope only");
        if (!field_text(source, object, "along", &bound->along))
            return false;
    }
    return read_other(source, object, bound) && read_percentile(source, object, bound) &&
           read_limit(source, object, bound);
}

static bool read_list(const char *path, const json_t *list, struct bounds *bounds, char **error) {
    bool good = true;
    bounds->list = must(calloc(json_array_size(list) + 1, sizeof *bounds->list));
    for (size_t i = 0; good && i < json_array_size(list); i++) {
        char *place = sentence("%s: bound %zu", path, i + 1);
        struct source source = {.path = place};
        good = read_bound(&source, json_array_get(list, i), &bounds->list[bounds->count++]);
        *error = source.error;
        free(place);
    }
    return good;
}

bool bounds_read(const char *path, struct bounds *bounds, char **error) {
    struct source source = {.path = path};
    json_t *list, *object = load_json(&source);
    bool good = object && field_array(&source, object, "bounds", &list);
    *error = source.error;
    *bounds = (struct bounds){.count = 0};
    good = good && read_list(path, list, bounds, error);
    json_decref(object);
    if (!good)
        bounds_free(bounds);
    return good;
}

/* What a name has in the place of the `*`: malloced; NULL when it is not so. */
static char *match(const char *pattern, const char *name) {
    const char *star = strchr(pattern, '*');
    size_t before = (size_t)(star - pattern), after = strlen(star + 1), length = strlen(name);
    if (length <= before + after || strncmp(name, pattern, before) ||
        strcmp(name + length - after, star + 1) ||
        memchr(name + before, '/', length - before - after))
        return NULL;
    return must(strndup(name + before, length - before - after));
}

static char *fill(const char *text, const char *found) {
    const char *star = text ? strchr(text, '*') : NULL;
    if (!star)
        return text ? must(strdup(text)) : NULL;
    return sentence("%.*s%s%s", (int)(star - text), text, found, star + 1);
}

static void add_filled(struct bounds *bounds, const struct bound *bound, const char *found) {
    bounds->list = must(reallocarray(bounds->list, bounds->count + 1, sizeof *bounds->list));
    struct bound *added = &bounds->list[bounds->count++];
    *added = *bound;
    added->id = fill(bound->id, found);
    added->says = fill(bound->says, found);
    added->of = fill(bound->of, found);
    added->over = fill(bound->over, found);
    added->along = bound->along ? must(strdup(bound->along)) : NULL;
}

static bool has_its_own(const struct bounds *bounds, const char *cell) {
    for (size_t i = 0; i < bounds->count; i++)
        if (!strcmp(bounds->list[i].of, cell))
            return true;
    return false;
}

struct bounds bounds_for(const struct bounds *bounds, const struct run *run) {
    struct bounds all = {.count = 0};
    for (size_t i = 0; i < bounds->count; i++) {
        const struct bound *bound = &bounds->list[i];
        size_t before = all.count;
        for (size_t c = 0; strchr(bound->of, '*') && c < run->cell_count; c++) {
            const char *name = run->cells[c].name;
            char *found = has_its_own(bounds, name) ? NULL : match(bound->of, name);
            if (found)
                add_filled(&all, bound, found);
            free(found);
        }
        if (all.count == before)
            add_filled(&all, bound, "*");
    }
    return all;
}

void bounds_free(struct bounds *bounds) {
    for (size_t i = 0; i < bounds->count; i++) {
        free(bounds->list[i].id);
        free(bounds->list[i].says);
        free(bounds->list[i].of);
        free(bounds->list[i].over);
        free(bounds->list[i].along);
    }
    free(bounds->list);
}
