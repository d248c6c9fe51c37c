/*
 * storm STRATEGY N [TARGET]: N children, one after the other, back to back. Made for the clock of
 * another program, which measures the whole of it; the spawns and what is verified of each are
 * those of forkless-bench.
 */
#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "choose.h"
#include "paths.h"
#include "program.h"
#include "sample.h"
#include "units.h"

enum { STORM_MAX = 1000000 };

/* The children's standard output, as in a block: a pipe for the stamps, or nothing. */
static int open_output(struct sampler *s) {
    int ends[2] = {-1, -1};
    s->has_stamps = strcmp(s->cell->target, "tiny") == 0;
    if (s->has_stamps ? pipe2(ends, O_CLOEXEC) < 0 || fcntl(ends[0], F_SETFL, O_NONBLOCK) < 0
                      : (ends[1] = open("/dev/null", O_WRONLY | O_CLOEXEC)) < 0)
        return -errno;
    s->stamps = ends[0];
    return dup2(ends[1], STDOUT_FILENO) < 0 ? -errno : 0;
}

static int spawn_all(struct sampler *s, uint64_t count) {
    struct sample sample;
    for (uint64_t i = 0; i < count; i++)
        if (sample_take(s, &sample) < 0)
            return complain(s->turn.unsupported ? UNSUPPORTED : CELLS_FAILED, "%s: %s",
                            s->cell->strategy->name, s->turn.problem);
    return OK;
}

static int storm(struct cell *cell, uint64_t count) {
    char target[PATH_SIZE], programs[PATH_SIZE];
    struct sampler sampler = {.cell = cell};
    const struct strategy *strategy = cell->strategy;
    if (!target_path(cell, target, sizeof target) || !path_small(programs, sizeof programs))
        return complain(INTERNAL, "the path of the target %s is too long", cell->target);
    int rc = open_output(&sampler);
    if (rc == 0 && strategy->prepare)
        rc = strategy->prepare(&(struct request){target, programs, 1, cell->attribute, 1});
    if (rc < 0)
        return complain(INTERNAL, "%s could not be prepared: %s", strategy->name, strerror(-rc));
    int code = spawn_all(&sampler, count);
    if (strategy->cleanup)
        strategy->cleanup();
    return code;
}

int main(int argc, char **argv) {
    struct cell cell = cell_default;
    char why[200];
    uint64_t count;
    int code = check_standard_files();
    if (code != OK)
        return code;
    if (argc != 3 && argc != 4)
        return complain(USAGE, "usage: storm STRATEGY N [TARGET]");
    /* hyperfine's own, up to 4 KiB of it, which each exec would copy. */
    unsetenv("HYPERFINE_RANDOMIZED_ENVIRONMENT_OFFSET");
    cell.gap_ns = 0;
    if (!axis_set(axis_find("strategy"), &cell, argv[1], why, sizeof why) ||
        (argc == 4 && !axis_set(axis_find("target"), &cell, argv[3], why, sizeof why)))
        return complain(USAGE, "%s", why);
    if (!count_parse(argv[2], 0, STORM_MAX, &count))
        return complain(USAGE, "'%s' is not a whole number from 0 to %d", argv[2], STORM_MAX);
    return storm(&cell, count);
}
