#pragma once

#include "document.h"
#include "run.h"
#include "second_clock.h"

/* Everything that there is to say about a run, in the order in which it is read. The clock may be
 * NULL. */
struct document page_make(const struct run *run, const struct second_clock *clock,
                          bool with_pictures);

/* One picture, cost by parent size, as an SVG file of its own; NULL: *why says why not. */
char *page_picture(const struct run *run, char **why);
