#pragma once

#include <stdbool.h>
#include <stdint.h>

/* Numbers as people read them. */

struct label {
    char text[32];
};

enum unit { NS, US, MS, S };

/* The unit in which a row or a sentence with this largest duration reads best: us or ms. */
enum unit unit_for(double largest_ns);

/* "44.6 MiB": rounded, in the largest unit that it fills. */
struct label label_about(double bytes);

struct label label_number(double ns, enum unit unit); /* two or three digits: 83 */
struct label label_time(double ns, enum unit unit);   /* 83 us */
struct label label_gap(int64_t ns);                   /* to the digit: 1 ms, 1500 us */
struct label label_size(int64_t bytes);               /* to the digit: 0, 256 MiB */
struct label label_at(int64_t bytes);                 /* the same in a sentence: at 256 MiB */
bool parse_size(const char *text, int64_t *bytes);    /* 1073741824, 512MiB; false: neither */
struct label label_rate(double per_second);           /* three digits: 2910 */
