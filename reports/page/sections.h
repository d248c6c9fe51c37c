#pragma once

#include "analysis.h"
#include "document.h"
#include "floor.h"
#include "picture.h"
#include "second_clock.h"
#include "units.h"
#include "view.h"

/* What stands on a page of a run. Each function adds its part where the run holds what it shows. */

struct subject {
    const struct run *run;
    const struct view *view;
    struct document *document;
    bool has_pictures; /* wanted */
};

void add_verdict(const struct subject *subject);
void add_cost_picture(const struct subject *subject);
void add_ranking(const struct subject *subject);
void add_second_clock(const struct subject *subject, const struct second_clock *clock);
void add_growth(const struct subject *subject);
void add_heat_map(const struct subject *subject);
void add_samples(const struct subject *subject); /* tails, order, CPU beside call */
void add_tables(const struct subject *subject);
void add_problems(const struct subject *subject);
void add_disturbance(const struct subject *subject);
void add_host(const struct subject *subject);
void add_bias(const struct subject *subject);
void add_cells(const struct subject *subject);
void add_command(const struct subject *subject);

/* "93 us (90 to 97)", or the value alone, or "-". */
char *describe_estimate(const struct estimate *estimate);

size_t style_of(const struct view *view, const char *strategy);

/* Draws, adds and clears the picture; a picture without points is not added. */
void add_picture(const struct subject *subject, struct picture *picture, char *caption);

/* "What costs what", a table with a row for each pair; takes the texts over. */
struct grid *add_pairs(const struct subject *subject, char *caption, const char *key,
                       const char *value, size_t count);
