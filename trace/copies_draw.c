#include "copies.h"

#include <inttypes.h>
#include <math.h>
#include <stdlib.h>

#include "flame.h"
#include "memory.h"
#include "picture.h"
#include "replace.h"
#include "units.h"

static void scale(struct picture *picture, double seconds) {
    char text[32];
    double step = pow(10, floor(log10(fmax(seconds, 0.1) / 2)));
    while (seconds / step > 6)
        step *= 2;
    picture->x = (struct axis){.name = "seconds", .low = 0, .high = fmax(seconds, step)};
    for (double at = 0; at <= picture->x.high + step / 100; at += step) {
        snprintf(text, sizeof text, "%.3g", at);
        axis_tick(&picture->x, at, text);
    }
    picture->y = (struct axis){.name = "still shared", .low = 0, .high = 100};
    for (int at = 0; at <= 100; at += 25) {
        snprintf(text, sizeof text, "%d %%", at);
        axis_tick(&picture->y, at, text);
    }
}

static bool put(const char *path, char *text, size_t length, char **why) {
    bool good = replace_file(path, must(text), length, why);
    free(text);
    return good;
}

static char *draw_sharing(const struct copies *c, char **why) {
    struct picture picture = {
        .id = "sharing", .title = "How much memory is still shared", .height = 200};
    struct sharings thinned = c->sharings;
    thinned.list = must(malloc((thinned.used + 1) * sizeof *thinned.list));
    for (size_t i = 0; i < thinned.used; i++)
        thinned.list[i] = c->sharings.list[i];
    sharings_thin(&thinned, 200);
    scale(&picture, thinned.used ? thinned.list[thinned.used - 1].at : 0);
    struct series *series = picture_series(&picture, "of the family", 0);
    series->is_joined = true;
    for (size_t i = 0; i < thinned.used; i++) {
        const struct sharing *s = &thinned.list[i];
        struct point *point = series_point(series);
        point->x = s->at;
        point->y = sharing_percent(s);
        point->title =
            sentence("%.1f s: %.1f %% of %s in %" PRIu64 " processes, %" PRIu64 " copies", s->at,
                     point->y, label_about((double)s->resident).text, s->processes, s->copies);
    }
    picture.description = sentence("The share of a family's memory that more than one process has "
                                   "mapped, at %zu moments.",
                                   thinned.used);
    char *svg = picture_draw(&picture, why);
    picture_clear(&picture);
    free(thinned.list);
    return svg;
}

bool copies_plot(const struct copies *c, const char *path, char **why) {
    char *reason = NULL, *text = NULL, *svg = draw_sharing(c, &reason);
    size_t length;
    if (!svg) {
        *why = sentence("%s is not drawn: %s", path, reason);
        free(reason);
        return false;
    }
    FILE *out = must(open_memstream(&text, &length));
    picture_write(out, svg);
    fclose(out);
    free(svg);
    return put(path, text, length, why);
}

bool copies_flame(const struct copies *c, const char *title, const char *path, char **why) {
    char *text = NULL;
    size_t length;
    FILE *out = must(open_memstream(&text, &length));
    flame_write(out, title, c->stacks, c->stacks_used);
    fclose(out);
    return put(path, text, length, why);
}
