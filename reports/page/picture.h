#pragma once

#include "run.h"

#include <stdbool.h>
#include <stdio.h>

/* A plot: gnuplot draws axes, lines and intervals; the points and the legend are ours. */

enum { MOST_POINTS = 2000 }; /* in one picture */

/* Of a strategy, the same in all pictures: a colour, a marker and a dash. */
enum { STYLES = 12 };

struct point {
    double x;
    double y;
    double low; /* the interval; NaN: none */
    double high;
    char *title; /* NULL: a bend of the line that is no datum */
};

struct series {
    char *name;
    size_t style;
    size_t marker; /* usually the style's */
    bool is_joined;
    size_t count;
    struct point *points;
};

/* Times are on a log axis: their decimal logarithm is what is drawn. */
struct tick {
    double at;
    char *text;
};

struct axis {
    const char *name;
    double low;
    double high;
    size_t count;
    struct tick *ticks;
};

struct picture {
    const char *id;    /* unique in its page */
    const char *title; /* read to those who do not see it */
    char *description;
    struct axis x;
    struct axis y;
    size_t count;
    struct series *series;
    bool is_dense;  /* many points, which are drawn small */
    bool is_across; /* the intervals are of x */
    double left;    /* room for the texts beside the y axis; 0: the usual */
    double height;  /* of the plot without its legend */
};

struct series *picture_series(struct picture *picture, const char *name, size_t style);
struct point *series_point(struct series *series);
void axis_tick(struct axis *axis, double at, const char *text);

/* A log axis from the least to the most ns, with ticks that fit its length. */
void axis_times(struct axis *axis, double least_ns, double most_ns);
double on_log(double ns);

/* The picture as an SVG element, malloced; NULL without gnuplot, and *why says so. */
char *picture_draw(const struct picture *picture, char **why);
/* That element as a file of its own, light and dark. */
void picture_write(FILE *out, const char *svg);
void picture_clear(struct picture *picture);
