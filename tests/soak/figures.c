#include "figures.h"

#include <stdio.h>

atomic_long figures[FIGURES];

static const char *const names[FIGURES] = {
    [SPAWNED] = "spawned",
    [STARTED] = "started",
    [RUN] = "run",
    [RUN_STARTED] = "run_started",
    [FREED_RUNNING] = "freed_running",
    [SHARED] = "shared",
    [OVERRIDDEN] = "overridden",
    [HELPED] = "helped",
    [EXITED] = "exited",
    [DIED] = "died_of_signal",
    [EXEC_ERRORS] = "exec_errors",
    [TIMEOUTS] = "timeouts",
    [LIMITED] = "limited",
    [NOT_DEAD_IN_TIME] = "not_dead_in_time",
    [HELD_BY_OTHERS] = "outputs_held_by_others",
    [CAPTURED] = "bytes_captured",
    [HIT_KILL] = "killed",
    [HIT_TERM] = "terminated",
    [HIT_USR1] = "signalled",
    [HIT_STOP] = "stopped",
    [STRAYS] = "strays",
    [FORKS] = "forks",
};

void figures_print(void) {
    for (int f = 0; f < FIGURES; f++)
        printf("%s %ld\n", names[f], atomic_load(&figures[f]));
}
