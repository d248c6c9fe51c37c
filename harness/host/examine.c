#include "examine.h"

#include <stdarg.h>
#include <stdio.h>

#include "build.h"
#include "config.h"
#include "finding.h"

void find_good(struct finding *f, const char *format, ...) {
    va_list arguments;
    va_start(arguments, format);
    f->level = GOOD;
    f->effect = f->next = NULL;
    vsnprintf(f->found, sizeof f->found, format, arguments);
    va_end(arguments);
}

void find(struct finding *f, enum level level, const char *effect, const char *next,
          const char *format, ...) {
    va_list arguments;
    va_start(arguments, format);
    f->level = level;
    f->effect = effect;
    f->next = next;
    vsnprintf(f->found, sizeof f->found, format, arguments);
    va_end(arguments);
}

static void examine_build(struct finding *f) {
    if (build_objection())
        find(f, WARNING, "forkless bench does not measure with it: its figures would mislead",
             "scripts/build build/release -Dbuildtype=release", "%s", build_objection());
    else
        find_good(f, "%s, %s", BUILD_TYPE, BUILD_COMPILER);
}

static const struct {
    const char *name;
    void (*examine)(struct finding *);
} examinations[] = {
    {"build", examine_build},
    {"virtual", examine_virtual},
    {"steal", examine_steal},
    {"others", examine_others},
    {"load", examine_load},
    {"governor", examine_governor},
    {"turbo", examine_turbo},
    {"mitigations", examine_mitigations},
    {"memory", examine_memory},
    {"swap", examine_swap},
    {"thp", examine_thp},
    {"overcommit", examine_overcommit},
    {"limits", examine_limits},
    {"quota", examine_quota},
    {"pids", examine_pids},
    {"clone3", examine_clone3},
    {"clear_sighand", examine_clear_sighand},
    {"pidfd", examine_pidfd},
    {"close_range", examine_close_range},
    {"seccomp", examine_seccomp},
    {"tracing", examine_tracing},
};

json_t *examine_host(void) {
    static const char *const levels[] = {"good", "note", "warning", "unknown"};
    json_t *findings = json_array();
    noise_sample();
    for (size_t i = 0; i < sizeof examinations / sizeof *examinations; i++) {
        struct finding f = {0};
        examinations[i].examine(&f);
        json_t *one = json_pack("{s:s,s:s,s:s}", "name", examinations[i].name, "level",
                                levels[f.level], "found", f.found);
        if (f.level != GOOD) {
            json_object_set_new(one, "effect", json_string(f.effect));
            json_object_set_new(one, "next", json_string(f.next));
        }
        json_array_append_new(findings, one);
    }
    return findings;
}
