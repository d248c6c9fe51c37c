#include "simulated.h"

#include "analysis.h"
#include "describe.h"
#include "further.h"
#include "judge.h"
#include "memory.h"

#include <stdlib.h>

bool has_simulated(const struct run *run) {
    for (size_t i = 0; i < run->cell_count; i++)
        if (is_simulated(&run->cells[i]) && count_rounds(run, &run->cells[i]) > 0)
            return true;
    return false;
}

static char *describe_ratio(const struct estimate *ratio) {
    if (ratio->rounds < 2)
        return sentence("%.2f", ratio->value);
    return sentence("%.2f (%.2f to %.2f)", ratio->value, ratio->ci.low, ratio->ci.high);
}

/* Where both are, whose pages alone differ. */
static char *describe_pair(const struct axes *simulated) {
    struct axes axes = *simulated;
    axes.more = further_without(simulated->more, "pages");
    char *more = describe_more(&axes);
    char *where = sentence("%s%s%s", label_at(axes.rss).text, *more ? ", " : "", more);
    free(more);
    free(axes.more);
    return where;
}

void show_simulated(const struct run *run, show_table *show, void *to) {
    if (!has_simulated(run))
        return;
    struct medians ratios = {.table = table_new(run->cell_count + 1, 2)};
    size_t rows = 1;
    table_set(ratios.table, 0, 0, "fork");
    table_set(ratios.table, 0, 1, "real over simulated");
    for (size_t i = 0; i < run->cell_count; i++) {
        struct estimate ratio = real_over_simulated(run, &run->cells[i]);
        if (ratio.rounds == 0)
            continue;
        char *text = describe_ratio(&ratio);
        char *where = describe_pair(&run->cells[i].axes);
        table_set(ratios.table, rows, 0, where);
        table_set(ratios.table, rows++, 1, text);
        free(where);
        free(text);
    }
    ratios.table->rows = rows;
    show(&(struct shown){.title = "Simulated memory against real memory: \"call\"",
                         .detail = rows > 1
                                       ? "beyond 0.67 to 1.5 what is simulated would not stand here"
                                       : "this run has no size with both: what is simulated is "
                                         "not checked",
                         .medians = &ratios},
         to);
    medians_free(&ratios);
}
