#include "picture.h"

#include "escape.h"
#include "gnuplot.h"
#include "memory.h"
#include "style.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* In the picture's own units; the page scales it. */
static const double WIDTH = 480, USUAL_LEFT = 62, RIGHT = 10, TOP = 10, BOTTOM = 40;
static const double KEY_LINE = 17, KEY_WIDTH = 154;
enum { KEYS_A_LINE = 3, MOST_WIDTH = 15 };

/* Markers as paths around the place where the pen stands, filled but for the crosses. */
static const char *const markers[] = {
    "m-3 0a3 3 0 1 0 6 0a3 3 0 1 0-6 0",                   /* disc */
    "m-3-3h6v6h-6z",                                       /* square */
    "m0-4 3.7 6.4h-7.4z",                                  /* triangle */
    "m0 4 3.7-6.4h-7.4z",                                  /* the same upside down */
    "m0-4.2 4.2 4.2-4.2 4.2-4.2-4.2z",                     /* diamond */
    "m-3.5-1h2.5v-2.5h2v2.5h2.5v2h-2.5v2.5h-2v-2.5h-2.5z", /* plus */
    "m-2-4h4l2 4-2 4h-4l-2-4z",                            /* hexagon */
    "m-4-1.5h8v3h-8z",                                     /* bar */
    "m-1.5-4h3v8h-3z",                                     /* upright bar */
};

static double height_of(const struct picture *picture) {
    size_t lines = (picture->count + KEYS_A_LINE - 1) / KEYS_A_LINE;
    return picture->height + TOP + BOTTOM + (double)lines * KEY_LINE;
}

static double left_of(const struct picture *picture) {
    return picture->left > 0 ? picture->left : USUAL_LEFT;
}

static double on_x(const struct picture *picture, double x) {
    const struct axis *axis = &picture->x;
    double left = left_of(picture);
    return left + (x - axis->low) / (axis->high - axis->low) * (WIDTH - left - RIGHT);
}

static double on_y(const struct picture *picture, double y) {
    const struct axis *axis = &picture->y;
    double bottom = height_of(picture) - BOTTOM;
    return bottom - (y - axis->low) / (axis->high - axis->low) * picture->height;
}

static void write_axis(FILE *script, const char *name, const struct axis *axis) {
    fprintf(script, "set %srange [%.9g:%.9g]\nset %stics out nomirror (", name, axis->low,
            axis->high, name);
    for (size_t i = 0; i < axis->count; i++)
        fprintf(script, "%s'' %.9g", i ? ", " : "", axis->ticks[i].at);
    fputs(")\n", script);
}

static bool has_intervals(const struct series *series) {
    for (size_t i = 0; i < series->count; i++)
        if (!isnan(series->points[i].low))
            return true;
    return false;
}

static void write_data(FILE *script, const struct picture *picture) {
    for (size_t i = 0; i < picture->count; i++) {
        const struct series *series = &picture->series[i];
        if (!series->is_joined && !has_intervals(series))
            continue;
        fprintf(script, "$s%zu << EOD\n", i);
        for (size_t j = 0; j < series->count; j++) {
            const struct point *point = &series->points[j];
            bool given = !isnan(point->low);
            double usual = picture->is_across ? point->x : point->y;
            fprintf(script, "%.9g %.9g %.9g %.9g\n", point->x, point->y, given ? point->low : usual,
                    given ? point->high : usual);
        }
        fputs("EOD\n", script);
    }
}

/* The lines of every series, then the intervals; a line that cannot be seen makes gnuplot draw axes
 * where there are none. No text in the script is from the run. */
static char *write_script(const struct picture *picture) {
    char *script = NULL;
    size_t length;
    FILE *out = must(open_memstream(&script, &length));
    double height = height_of(picture), bottom = BOTTOM / height;
    fprintf(out,
            "set terminal svg size %.0f,%.0f font 'sans-serif,12' noenhanced dynamic\n"
            "set encoding utf8\nunset key\nset border 3\nset grid\nset tics scale 0.6\n"
            "set lmargin at screen %.6f\nset rmargin at screen %.6f\n"
            "set bmargin at screen %.6f\nset tmargin at screen %.6f\n"
            "set bars 0.5\n",
            WIDTH, height, left_of(picture) / WIDTH, 1 - RIGHT / WIDTH, bottom,
            bottom + picture->height / height);
    write_axis(out, "x", &picture->x);
    write_axis(out, "y", &picture->y);
    write_data(out, picture);
    fputs("plot NaN", out);
    for (size_t i = picture->count; i-- > 0;)
        if (picture->series[i].is_joined)
            fprintf(out, ", $s%zu using 1:2 with lines", i);
    for (size_t i = picture->count; i-- > 0;)
        if (has_intervals(&picture->series[i]))
            fprintf(out, ", $s%zu using 1:2:3:4 with %cerrorbars pointtype -1", i,
                    picture->is_across ? 'x' : 'y');
    fputc('\n', out);
    fclose(out);
    return must(script);
}

/* The class of gnuplot's plot of this number, in the order of the script; the axes have none. */
static void write_class(FILE *out, const struct picture *picture, size_t plot) {
    size_t seen = 1;
    for (size_t i = picture->count; i-- > 0;)
        if (picture->series[i].is_joined && ++seen == plot)
            fprintf(out, " class=\"s%zu line\"", picture->series[i].style);
    for (size_t i = picture->count; i-- > 0;)
        if (has_intervals(&picture->series[i]) && ++seen == plot)
            fprintf(out, " class=\"s%zu\"", picture->series[i].style);
}

static bool starts(const char *text, const char *start) {
    return !strncmp(text, start, strlen(start));
}

/* Colour and dash come from the style sheet; what gnuplot colours as itself is an axis. */
static void copy_path(FILE *out, const struct picture *picture, const char *path, size_t plot) {
    const char *end = strchr(path, '>'), *data = strstr(path, " d='");
    if (!end || !data || data > end)
        return;
    data += strlen(" d='");
    fputs("<path", out);
    if (memmem(path, (size_t)(end - path), "gridline", strlen("gridline")))
        fputs(" class=\"gridline\"", out);
    else if (memmem(path, (size_t)(end - path), "stroke='rgb", strlen("stroke='rgb")))
        write_class(out, picture, plot);
    fputs(" d=\"", out);
    fwrite(data, 1, strcspn(data, "'<>&\""), out);
    fputs("\"/>\n", out);
}

/* Nothing but the paths of gnuplot's axes and plots: the texts are ours. */
static void copy_plot(FILE *out, const struct picture *picture, const char *svg) {
    const char *defined = strstr(svg, "</defs>");
    size_t plot = 0;
    for (const char *tag = defined ? defined : svg; (tag = strchr(tag, '<')); tag++) {
        sscanf(tag, "<g id=\"gnuplot_plot_%zu", &plot);
        if (starts(tag, "<path "))
            copy_path(out, picture, tag, plot);
    }
}

static void write_marker(FILE *out, double x, double y, size_t marker) {
    fprintf(out, "<path d=\"M%.1f %.1f%s\"", x, y,
            markers[marker % (sizeof markers / sizeof *markers)]);
}

/* What comes first lies on top: the floors, which come last, hide nothing. */
static void write_points(FILE *out, const struct picture *picture) {
    double scale = picture->is_dense ? 0.55 : 1;
    for (size_t i = picture->count; i-- > 0;) {
        const struct series *series = &picture->series[i];
        fprintf(out, "<g class=\"s%zu points%s\" transform=\"scale(%.2f)\">\n", series->style,
                picture->is_dense ? " dense" : "", scale);
        for (size_t j = 0; j < series->count; j++) {
            const struct point *point = &series->points[j];
            if (!point->title)
                continue;
            write_marker(out, on_x(picture, point->x) / scale, on_y(picture, point->y) / scale,
                         series->marker);
            fputs("><title>", out);
            write_xml(out, point->title);
            fputs("</title></path>\n", out);
        }
        fputs("</g>\n", out);
    }
}

/* What is too long for its place ends in an ellipsis; the titles of the points have all of it. */
static void write_text(FILE *out, double x, double y, const char *where, const char *text) {
    size_t length = 0;
    for (size_t width = 0; text[length] && width <= MOST_WIDTH; length++)
        width += ((unsigned char)text[length + 1] & 0xc0) != 0x80;
    fprintf(out, "<text x=\"%.1f\" y=\"%.1f\"%s>", x, y, where);
    char *part = must(strndup(text, length));
    write_xml(out, part);
    free(part);
    fprintf(out, "%s</text>\n", text[length] ? "\u2026" : "");
}

static void write_name(FILE *out, double x, double y, const char *where, const char *name) {
    fprintf(out, "<text x=\"%.1f\" y=\"%.1f\"%s>%s</text>\n", x, y, where, name);
}

/* By us, so that no text of the run comes to gnuplot. */
static void write_ticks(FILE *out, const struct picture *picture) {
    double bottom = height_of(picture) - BOTTOM, left = left_of(picture);
    for (size_t i = 0; i < picture->x.count; i++)
        write_text(out, on_x(picture, picture->x.ticks[i].at), bottom + 18,
                   " text-anchor=\"middle\"", picture->x.ticks[i].text);
    for (size_t i = 0; i < picture->y.count; i++)
        write_text(out, left - 8, on_y(picture, picture->y.ticks[i].at) + 4, " text-anchor=\"end\"",
                   picture->y.ticks[i].text);
    write_name(out, (left + WIDTH - RIGHT) / 2, bottom + 35, " text-anchor=\"middle\"",
               picture->x.name);
    double middle = bottom - picture->height / 2;
    char turned[64];
    snprintf(turned, sizeof turned, " text-anchor=\"middle\" transform=\"rotate(-90 11 %.1f)\"",
             middle);
    if (*picture->y.name)
        write_name(out, 11, middle, turned, picture->y.name);
}

static void write_legend(FILE *out, const struct picture *picture) {
    for (size_t i = 0; i < picture->count; i++) {
        const struct series *series = &picture->series[i];
        double x = 12 + (double)(i % KEYS_A_LINE) * KEY_WIDTH;
        double y = 12 + (double)(i / KEYS_A_LINE) * KEY_LINE;
        if (series->is_joined)
            fprintf(out, "<path class=\"s%zu line\" d=\"M%.1f %.1fh24\"/>", series->style, x, y);
        fprintf(out, "<g class=\"s%zu points\">", series->style);
        write_marker(out, x + 12, y, series->marker);
        fputs("/></g>", out);
        write_text(out, x + 29, y + 4, "", series->name);
    }
}

char *picture_draw(const struct picture *picture, char **why) {
    char *script = write_script(picture);
    char *plot = gnuplot_run(script, why);
    free(script);
    if (!plot)
        return NULL;
    char *svg = NULL;
    size_t length;
    FILE *out = must(open_memstream(&svg, &length));
    fprintf(out,
            "<svg class=\"plot\" viewBox=\"0 0 %.0f %.0f\" "
            "role=\"img\" aria-labelledby=\"%s-title %s-desc\">\n<title id=\"%s-title\">",
            WIDTH, height_of(picture), picture->id, picture->id, picture->id);
    write_xml(out, picture->title);
    fprintf(out, "</title>\n<desc id=\"%s-desc\">", picture->id);
    write_xml(out, picture->description);
    fputs("</desc>\n", out);
    copy_plot(out, picture, plot);
    write_ticks(out, picture);
    write_points(out, picture);
    write_legend(out, picture);
    fputs("</svg>\n", out);
    fclose(out);
    free(plot);
    return must(svg);
}

void picture_write(FILE *out, const char *svg) {
    const char *inside = strchr(svg, '>') + 1;
    fprintf(out, "<svg xmlns=\"http://www.w3.org/2000/svg\" width=\"640\" %.*s\n<style>:root{%s}\n",
            (int)(inside - svg - (long)strlen("<svg ")), svg + strlen("<svg "), light_colours);
    fprintf(out,
            "@media(prefers-color-scheme:dark){:root{%s}}\n%s\n.plot{background:var(--paper)}"
            "</style>%s",
            dark_colours, picture_style, inside);
}
