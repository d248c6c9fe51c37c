#include "units.h"

#include <ctype.h>
#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

struct unit {
    const char *name;
    uint64_t value;
};
static const struct unit sizes[] = {
    {"TiB", UINT64_C(1) << 40},
    {"GiB", UINT64_C(1) << 30},
    {"MiB", UINT64_C(1) << 20},
    {"KiB", UINT64_C(1) << 10},
};
static const struct unit times[] = {{"s", 1000000000}, {"ms", 1000000}, {"us", 1000}, {"ns", 1}};

enum { UNITS = 4, PAGE = 4096 };

static bool parse(const char *text, const struct unit *units, uint64_t *out) {
    char *end;
    if (!isdigit((unsigned char)text[0]))
        return false;
    errno = 0;
    unsigned long long n = strtoull(text, &end, 10);
    if (errno)
        return false;
    if (n == 0 && *end == '\0') {
        *out = 0;
        return true;
    }
    for (int i = 0; i < UNITS; i++)
        if (strcmp(end, units[i].name) == 0)
            return !__builtin_mul_overflow(n, units[i].value, out) && *out <= INT64_MAX;
    return false;
}

static void name(uint64_t value, const struct unit *units, char *out, size_t size) {
    const struct unit *unit = units;
    while (unit < units + UNITS - 1 && value % unit->value != 0)
        unit++;
    if (value == 0)
        snprintf(out, size, "0");
    else
        snprintf(out, size, "%" PRIu64 "%s", value / unit->value, unit->name);
}

bool size_parse(const char *text, uint64_t *bytes) {
    return parse(text, sizes, bytes) && *bytes % PAGE == 0;
}

void size_name(uint64_t bytes, char *out, size_t size) {
    name(bytes, sizes, out, size);
}

bool time_parse(const char *text, uint64_t *ns) {
    return parse(text, times, ns);
}

void time_name(uint64_t ns, char *out, size_t size) {
    name(ns, times, out, size);
}

bool count_parse(const char *text, uint64_t least, uint64_t most, uint64_t *out) {
    char *end;
    if (!isdigit((unsigned char)text[0]))
        return false;
    errno = 0;
    unsigned long long n = strtoull(text, &end, 10);
    *out = n;
    return !errno && *end == '\0' && n >= least && n <= most;
}
