#include "copies.h"

#include <jansson.h>
#include <string.h>

#include "memory.h"

static json_t *integer(__u64 value) {
    return json_integer((json_int_t)value);
}

/* Each kind as [by programs, by the kernel for them] would need explaining: two objects do not. */
static json_t *describe_faults(const struct copies_row *row) {
    json_t *object = json_object();
    for (unsigned kind = 0; kind < COW_KINDS; kind++)
        json_object_set_new(object, copies_kinds[kind], integer(copies_of(row, kind)));
    json_object_set_new(object, "copies_by_kernel", integer(row->faults[COW_COPY][1]));
    json_object_set_new(object, "copied_bytes", integer(row->copied));
    return object;
}

/* Names are bytes; JSON is UTF-8. */
static json_t *describe_text(const char *text, size_t length) {
    json_t *string = json_stringn(text, length);
    if (string)
        return string;
    char *plain = must(strndup(text, length));
    for (char *c = plain; *c; c++)
        if (*c & 0x80)
            *c = '?';
    string = json_string(plain);
    free(plain);
    return string;
}

static json_t *describe_mappings(const struct copies *c) {
    json_t *array = json_array();
    for (size_t i = 0; i < c->used; i++) {
        json_t *object = describe_faults(&c->rows[i]);
        json_object_set_new(object, "name",
                            describe_text(c->rows[i].name, strlen(c->rows[i].name)));
        json_object_set_new(object, "start", integer(c->rows[i].start));
        json_object_set_new(object, "end", integer(c->rows[i].end));
        json_array_append_new(array, object);
    }
    return array;
}

static json_t *describe_calls(const char *calls) {
    json_t *array = json_array();
    for (;; calls++) {
        size_t length = strcspn(calls, ";");
        json_array_append_new(array, describe_text(calls, length));
        calls += length;
        if (!*calls)
            return array;
    }
}

static json_t *describe_stacks(const struct copies *c) {
    json_t *array = json_array();
    for (size_t i = 0; i < c->stacks_used; i++)
        json_array_append_new(array, json_pack("{s:o,s:o}", "copies", integer(c->stacks[i].count),
                                               "calls", describe_calls(c->stacks[i].calls)));
    return array;
}

static json_t *describe_sharing(const struct copies *c) {
    json_t *array = json_array();
    for (size_t i = 0; i < c->sharings.used; i++) {
        const struct sharing *s = &c->sharings.list[i];
        json_array_append_new(
            array, json_pack("{s:f,s:o,s:o,s:o,s:o,s:f,s:o}", "seconds", s->at, "processes",
                             integer(s->processes), "resident", integer(s->resident),
                             "proportional", integer(s->proportional), "shared", integer(s->shared),
                             "share", sharing_percent(s) / 100, "copies", integer(s->copies)));
    }
    return array;
}

static json_t *describe_lost(const struct copies *c) {
    return json_pack("{s:o,s:o,s:o,s:o}", "stacks", integer(c->lost.stacks), "faults",
                     integer(c->lost.faults + c->lost.mappings), "processes",
                     integer(c->lost.processes), "records", integer(c->lost_records));
}

void copies_json(const struct copies *c, FILE *out) {
    json_t *all = json_pack("{s:f,s:o,s:o,s:o,s:o,s:o,s:o}", "seconds", c->seconds, "processes",
                            integer(c->processes), "total", describe_faults(&c->total), "mappings",
                            describe_mappings(c), "stacks", describe_stacks(c), "sharing",
                            describe_sharing(c), "lost", describe_lost(c));
    json_dumpf(must(all), out, JSON_INDENT(2) | JSON_REAL_PRECISION(6));
    putc('\n', out);
    json_decref(all);
}
