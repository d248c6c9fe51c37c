#include "units.h"

#include <ctype.h>
#include <errno.h>
#include <math.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static const struct {
    const char *name;
    double ns;
} units[] = {{"ns", 1}, {"us", 1e3}, {"ms", 1e6}, {"s", 1e9}};

enum unit unit_for(double largest_ns) {
    return largest_ns >= 1e10 ? S : largest_ns >= 1e6 ? MS : US;
}

static int decimals_for(double size, enum unit unit) {
    if (unit == NS || size == 0 || size >= 99.95)
        return 0;
    if (size >= 9.95)
        return unit >= MS ? 1 : 0;
    if (size >= 0.995)
        return 1;
    int decimals = 2;
    while (decimals < 6 && size * pow(10, decimals) < 9.95)
        decimals++;
    return decimals;
}

struct label label_number(double ns, enum unit unit) {
    struct label label;
    double number = ns / units[unit].ns;
    snprintf(label.text, sizeof label.text, "%.*f", decimals_for(fabs(number), unit), number);
    return label;
}

struct label label_time(double ns, enum unit unit) {
    struct label label;
    snprintf(label.text, sizeof label.text, "%.27s %s", label_number(ns, unit).text,
             units[unit].name);
    return label;
}

struct scale {
    const char *name;
    int64_t size;
};

/* In the largest unit that leaves a whole number. */
static struct label label_exact(int64_t whole, const struct scale *scales) {
    struct label label;
    while (whole % scales->size)
        scales++;
    snprintf(label.text, sizeof label.text, "%jd %s", (intmax_t)(whole / scales->size),
             scales->name);
    return label;
}

struct label label_gap(int64_t ns) {
    static const struct scale scales[] = {
        {"s", 1000000000}, {"ms", 1000000}, {"us", 1000}, {"ns", 1}};
    return label_exact(ns, scales);
}

static const struct scale sizes[] = {
    {"TiB", 1LL << 40}, {"GiB", 1LL << 30}, {"MiB", 1LL << 20}, {"KiB", 1LL << 10}, {"B", 1}};

struct label label_size(int64_t bytes) {
    return bytes == 0 ? (struct label){"0"} : label_exact(bytes, sizes);
}

bool parse_size(const char *text, int64_t *bytes) {
    char *suffix;
    errno = 0;
    long long whole = strtoll(text, &suffix, 10);
    if (!isdigit((unsigned char)*text) || errno)
        return false;
    const struct scale *scale = sizes;
    while (scale->size > 1 && strcmp(suffix, scale->name))
        scale++;
    if (scale->size == 1 && *suffix)
        return false;
    return !__builtin_mul_overflow(whole, scale->size, bytes);
}

struct label label_at(int64_t bytes) {
    struct label label;
    snprintf(label.text, sizeof label.text, "at %.28s", bytes ? label_size(bytes).text : "0 MiB");
    return label;
}

struct label label_about(double bytes) {
    static const char *const names[] = {"B", "KiB", "MiB", "GiB", "TiB", "PiB", "EiB"};
    struct label label;
    size_t unit = 0;
    for (; bytes >= 1024 && unit + 1 < sizeof names / sizeof *names; unit++)
        bytes /= 1024;
    snprintf(label.text, sizeof label.text, "%.*f %s",
             bytes == floor(bytes) || bytes >= 100 ? 0 : 1, bytes, names[unit]);
    return label;
}

struct label label_rate(double per_second) {
    struct label label;
    if (!(per_second > 0))
        return (struct label){"0"};
    int beyond = (int)floor(log10(per_second)) - 2;
    double step = beyond > 0 ? pow(10, beyond) : 1;
    snprintf(label.text, sizeof label.text, "%.*f", beyond < 0 ? -beyond : 0,
             beyond > 0 ? round(per_second / step) * step : per_second);
    return label;
}
