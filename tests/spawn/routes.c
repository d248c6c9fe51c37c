/* Each mechanism, by each call that can come to it, and with the other way of closing. */
#include <errno.h>
#include <signal.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include "support.h"

#define VM    FORKLESS_CLONE3_VM
#define VFORK FORKLESS_CLONE3_VFORK
#define CLONE FORKLESS_CLONE_VFORK

static const struct route routes[] = {
    {"start", forkless_start, VM, VM, false, false},
    {"spawn", forkless_spawn, VFORK, VFORK, false, false},
    {"start, held", forkless_start, VFORK, VFORK, false, false},
    {"start by clone", forkless_start, CLONE, CLONE, false, false},
    {"spawn by clone", forkless_spawn, CLONE, CLONE, false, false},
    {"start without clone3", forkless_start, VM, CLONE, true, false},
    {"spawn without clone3", forkless_spawn, VM, CLONE, true, false},
    {"start without close_range", forkless_start, VM, VM, false, true},
    {"spawn without close_range", forkless_spawn, VFORK, VFORK, false, true},
    {"spawn without both", forkless_spawn, VM, CLONE, true, true},
};

void on_each_route(void (*body)(const struct route *)) {
    for (const struct route *r = routes; r < routes + sizeof routes / sizeof *routes; r++) {
        pid_t pid = forked();
        if (pid == 0) {
            CHECK_EQ(prctl(PR_SET_PDEATHSIG, SIGKILL), 0); /* also in a session of its own */
            CHECK_EQ(forkless_mechanism_limit(r->limit), 0);
            if (r->no_clone3)
                refuse(SYS_clone3, ENOSYS);
            if (r->no_close_range)
                refuse(SYS_close_range, ENOSYS);
            body(r);
            _exit(0);
        }
        int status;
        CHECK_EQ(waitpid(pid, &status, 0), pid);
        if (WIFEXITED(status) && WEXITSTATUS(status) == 77)
            _exit(77);
        if (status)
            check_failed(__FILE__, __LINE__, r->name);
    }
}

forkless_child *launched_so(const struct route *r, const forkless_command *c) {
    forkless_child *child = launched(r->launch, c);
    CHECK_EQ(forkless_mechanism(child), r->used);
    return child;
}
