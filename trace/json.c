#include "json.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>

#include "clock.h"
#include "intervals.h"

/* A name may be any bytes: those that are no UTF-8 become '?'. */
static json_t *text(const char *bytes) {
    json_t *value = json_string(bytes);
    if (value)
        return value;
    char plain[SPAWN_PATH];
    size_t i = 0;
    for (; bytes[i] && i < sizeof plain - 1; i++)
        plain[i] = (unsigned char)bytes[i] < 0x80 ? bytes[i] : '?';
    plain[i] = '\0';
    return json_string(plain);
}

static json_t *flags_of(const struct creation *c) {
    char names[256];
    json_t *flags = json_array();
    creation_flags(c, names, sizeof names);
    for (char *rest = names, *name; (name = strsep(&rest, "|"));)
        if (name[0])
            json_array_append_new(flags, json_string(name));
    return flags;
}

static json_t *error_of(int error) {
    const char *name = error ? strerrorname_np(error) : NULL;
    return error == 0 ? json_null() : name ? json_string(name) : json_integer(error);
}

static void add_then(json_t *line, const struct creation *c) {
    static const char *const names[] = {"unknown", "failed", "exec", "exit", "runs_on"};
    json_object_set_new(line, "then", json_string(names[c->then]));
    bool did = c->then == THEN_EXEC || c->then == THEN_EXIT;
    if (did)
        json_object_set_new(line, "after", json_integer(c->when - c->asked));
    if (did && c->path[0])
        json_object_set_new(line, "path", text(c->path));
    if (c->then == THEN_EXIT) {
        json_object_set_new(line, "exec_error", error_of(c->exec_error));
        if (WIFSIGNALED(c->status))
            json_object_set_new(line, "signal", json_integer(WTERMSIG(c->status)));
        else
            json_object_set_new(line, "status", json_integer(WEXITSTATUS(c->status)));
    }
}

static json_t *phases_of(const struct creation *c) {
    int64_t ns[INTERVALS];
    json_t *phases = json_object();
    if (!c->phases.id) {
        json_decref(phases);
        return json_null();
    }
    intervals_of(&c->phases, ns);
    for (size_t i = 0; i < INTERVALS; i++)
        json_object_set_new(phases, interval_names[i],
                            ns[i] == INTERVAL_UNKNOWN ? json_null() : json_integer(ns[i]));
    return phases;
}

json_t *json_creation(const struct creation *c, bool phases) {
    json_int_t wall = clock_ns(CLOCK_REALTIME) - now_ns() + c->asked;
    json_t *line =
        json_pack("{s:s,s:I,s:o,s:i,s:i,s:o,s:s,s:s,s:o,s:I,s:I,s:I,s:I,s:i,s:i}", "event",
                  "creation", "time", wall, "program", text(c->name), "pid", c->pid, "tid", c->tid,
                  "thread", text(c->thread), "kind", creation_kind(c), "system_call",
                  creation_call(c), "flags", flags_of(c), "asked", (json_int_t)c->asked, "call",
                  (json_int_t)c->call, "rss", (json_int_t)c->rss, "page_tables",
                  (json_int_t)c->page_tables, "mappings", c->mappings, "threads", c->threads);
    json_object_set_new(line, "child", c->child ? json_integer(c->child) : json_null());
    json_object_set_new(line, "error", error_of(c->error));
    json_object_set_new(line, "caller_ended", json_boolean(c->caller_ended));
    add_then(line, c);
    if (phases)
        json_object_set_new(line, "phases", phases_of(c));
    if (c->trail) {
        json_t *stack = json_array();
        for (size_t i = 0; i < c->trail->count; i++)
            json_array_append_new(stack, text(c->trail->names[i]));
        json_object_set_new(line, "stack", stack);
    } else {
        json_object_set_new(line, "stack", json_null());
        json_object_set_new(line, "no_stack", json_string(c->no_trail ? c->no_trail : "unknown"));
    }
    return line;
}

void json_print(json_t *value) {
    char *line = json_dumps(value, JSON_COMPACT | JSON_REAL_PRECISION(6));
    if (line)
        puts(line);
    free(line);
    json_decref(value);
}
