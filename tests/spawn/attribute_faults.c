/* B15: each system call that an attribute or a descriptor takes is refused, on every route. */
#include <errno.h>
#include <fcntl.h>
#include <linux/seccomp.h>
#include <sched.h>
#include <signal.h>
#include <stdlib.h>
#include <sys/ioctl.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <termios.h>
#include <unistd.h>

#include "support.h"

enum { SENTINEL = 12345, KEPT = 5, MOVED, FILE_FD = 20, MEMORY_FD, PIPE_FD, SAME_FD };
enum { FILE_FLAGS = O_RDWR | O_NOCTTY };

#define FAIL(name, code)           SYS_##name, SECCOMP_RET_ERRNO | (code), 0, 0, 0
#define FAIL_OF(name, code, n, is) SYS_##name, SECCOMP_RET_ERRNO | (code), n, ~0u, (uint32_t)(is)

/* What the command has beside what all have. */
enum variant {
    SESSION,
    GROUP,
    CWD_FD,
    TERMINAL,
    FOREGROUND,
    DEATH_SIGNAL,
    PROGRAM_FD,
    STDIN_CLOSED
};

/* Routes that do not make the call are left out. */
enum on { ALL, BY_CLONE3, BY_CLONE, CLOSES };

static const struct fault {
    const char *name;
    struct rule rule;
    enum variant variant;
    enum on on;
    enum forkless_step step;
    int index;
} faults[] = {
    {"pipe2", {FAIL(pipe2, ENFILE)}, SESSION, ALL, FORKLESS_STEP_PIPE, PIPE_FD},
    {"pipe out of the way",
     {FAIL_OF(fcntl, EMFILE, 1, F_DUPFD_CLOEXEC)},
     STDIN_CLOSED,
     ALL,
     FORKLESS_STEP_PIPE,
     PIPE_FD},
    {"clone3", {FAIL(clone3, EAGAIN)}, SESSION, BY_CLONE3, FORKLESS_STEP_CLONE, -1},
    {"clone", {FAIL(clone, EAGAIN)}, SESSION, BY_CLONE, FORKLESS_STEP_CLONE, -1},
    {"parent's mask",
     {FAIL_OF(rt_sigprocmask, EIO, 0, SIG_SETMASK)},
     SESSION,
     BY_CLONE,
     FORKLESS_STEP_CLONE,
     -1},
    {"handlers",
     {FAIL_OF(rt_sigaction, EIO, 0, SIGTERM)},
     SESSION,
     BY_CLONE,
     FORKLESS_STEP_HANDLERS,
     SIGTERM},
    {"umask", {FAIL(umask, EPERM)}, SESSION, ALL, FORKLESS_STEP_UMASK, -1},
    {"chdir", {FAIL(chdir, EIO)}, SESSION, ALL, FORKLESS_STEP_CWD, -1},
    {"fchdir", {FAIL(fchdir, EIO)}, CWD_FD, ALL, FORKLESS_STEP_CWD, KEPT},
    {"setsid", {FAIL(setsid, EPERM)}, SESSION, ALL, FORKLESS_STEP_SESSION, -1},
    {"setpgid", {FAIL(setpgid, EPERM)}, GROUP, ALL, FORKLESS_STEP_GROUP, 0},
    {"getdents64", {FAIL(getdents64, EIO)}, SESSION, CLOSES, FORKLESS_STEP_CLOSE, -1},
    {"openat of /proc",
     {FAIL_OF(openat, EACCES, 2, O_RDONLY | O_DIRECTORY | O_CLOEXEC)},
     SESSION,
     CLOSES,
     FORKLESS_STEP_CLOSE,
     -1},
    {"saving",
     {FAIL_OF(fcntl, EMFILE, 1, F_DUPFD_CLOEXEC)},
     SESSION,
     ALL,
     FORKLESS_STEP_DESCRIPTOR,
     2},
    {"moving", {FAIL_OF(dup3, EBUSY, 1, MOVED)}, SESSION, ALL, FORKLESS_STEP_DESCRIPTOR, MOVED},
    {"the pipe",
     {FAIL_OF(dup3, EBUSY, 1, PIPE_FD)},
     SESSION,
     ALL,
     FORKLESS_STEP_DESCRIPTOR,
     PIPE_FD},
    {"opening",
     {FAIL_OF(openat, EACCES, 2, FILE_FLAGS | O_CLOEXEC)},
     SESSION,
     ALL,
     FORKLESS_STEP_FILE,
     FILE_FD},
    {"placing", {FAIL_OF(dup3, EIO, 1, FILE_FD)}, SESSION, ALL, FORKLESS_STEP_FILE, FILE_FD},
    {"memfd_create", {FAIL(memfd_create, ENFILE)}, SESSION, ALL, FORKLESS_STEP_MEMORY, MEMORY_FD},
    {"blocking SIGXFSZ",
     {FAIL_OF(rt_sigprocmask, EIO, 0, SIG_BLOCK)},
     SESSION,
     ALL,
     FORKLESS_STEP_MEMORY,
     MEMORY_FD},
    {"pwrite64", {FAIL(pwrite64, ENOSPC)}, SESSION, ALL, FORKLESS_STEP_MEMORY, MEMORY_FD},
    {"placing memory",
     {FAIL_OF(dup3, EIO, 1, MEMORY_FD)},
     SESSION,
     ALL,
     FORKLESS_STEP_MEMORY,
     MEMORY_FD},
    {"same", {FAIL_OF(dup3, EIO, 1, SAME_FD)}, SESSION, ALL, FORKLESS_STEP_DESCRIPTOR, SAME_FD},
    {"TIOCSCTTY",
     {FAIL_OF(ioctl, EPERM, 1, TIOCSCTTY)},
     TERMINAL,
     ALL,
     FORKLESS_STEP_TERMINAL,
     KEPT},
    {"TIOCSPGRP",
     {FAIL_OF(ioctl, EIO, 1, TIOCSPGRP)},
     FOREGROUND,
     ALL,
     FORKLESS_STEP_FOREGROUND,
     KEPT},
    {"getpgid", {FAIL(getpgid, ENOMEM)}, FOREGROUND, ALL, FORKLESS_STEP_FOREGROUND, KEPT},
    {"blocking SIGTTOU",
     {FAIL_OF(rt_sigprocmask, EIO, 0, SIG_BLOCK)},
     FOREGROUND,
     ALL,
     FORKLESS_STEP_FOREGROUND,
     KEPT},
    {"prlimit64", {FAIL(prlimit64, EIO)}, SESSION, ALL, FORKLESS_STEP_RLIMIT, RLIMIT_CORE},
    {"no_new_privs",
     {FAIL_OF(prctl, EIO, 0, PR_SET_NO_NEW_PRIVS)},
     SESSION,
     ALL,
     FORKLESS_STEP_NO_NEW_PRIVS,
     -1},
    {"death signal",
     {FAIL_OF(prctl, EIO, 0, PR_SET_PDEATHSIG)},
     DEATH_SIGNAL,
     ALL,
     FORKLESS_STEP_DEATH_SIGNAL,
     SIGUSR2},
    {"getppid", {FAIL(getppid, EIO)}, DEATH_SIGNAL, ALL, FORKLESS_STEP_DEATH_SIGNAL, SIGUSR2},
    {"ioprio_set", {FAIL(ioprio_set, EPERM)}, SESSION, ALL, FORKLESS_STEP_IO_PRIORITY, -1},
    {"sched_setaffinity", {FAIL(sched_setaffinity, EIO)}, SESSION, ALL, FORKLESS_STEP_AFFINITY, -1},
    {"setpriority", {FAIL(setpriority, EACCES)}, SESSION, ALL, FORKLESS_STEP_NICE, -1},
    {"sched_setscheduler",
     {FAIL(sched_setscheduler, EPERM)},
     SESSION,
     ALL,
     FORKLESS_STEP_SCHEDULER,
     SCHED_BATCH},
    {"rt_sigaction",
     {FAIL_OF(rt_sigaction, EIO, 0, SIGPIPE)},
     SESSION,
     BY_CLONE3,
     FORKLESS_STEP_SIGNAL,
     SIGPIPE},
    {"rt_sigprocmask",
     {FAIL_OF(rt_sigprocmask, EIO, 0, SIG_SETMASK)},
     SESSION,
     BY_CLONE3,
     FORKLESS_STEP_MASK,
     -1},
    {"execve", {FAIL(execve, EACCES)}, SESSION, ALL, FORKLESS_STEP_EXEC, -1},
    {"execveat", {FAIL(execveat, EACCES)}, PROGRAM_FD, ALL, FORKLESS_STEP_EXEC, -1},
    {"the program's descriptor",
     {FAIL_OF(fcntl, EMFILE, 2, SAME_FD + 1)},
     PROGRAM_FD,
     ALL,
     FORKLESS_STEP_EXEC,
     -1},
};

static void set_descriptors(forkless_command *c, enum variant v) {
    CHECK_EQ(forkless_command_fd(c, KEPT, KEPT), 0);
    CHECK_EQ(forkless_command_fd(c, MOVED, 2), 0);
    CHECK_EQ(forkless_command_fd(c, 1, 2), 0);
    CHECK_EQ(forkless_command_fd(c, 2, 1), 0);
    CHECK_EQ(forkless_command_file(c, FILE_FD, "/dev/null", FILE_FLAGS, 0), 0);
    if (v != FOREGROUND) /* both block a signal */
        CHECK_EQ(forkless_command_memory(c, MEMORY_FD, "data", 4), 0);
    CHECK_EQ(forkless_command_pipe(c, PIPE_FD, FORKLESS_READS), 0);
    CHECK_EQ(forkless_command_same(c, SAME_FD, FILE_FD), 0);
}

static void set_scheduling(forkless_command *c) {
    const struct rlimit none = {0, 0};
    cpu_set_t cpus;
    CHECK_EQ(sched_getaffinity(0, sizeof cpus, &cpus), 0);
    CHECK_EQ(forkless_command_rlimit(c, RLIMIT_CORE, &none), 0);
    CHECK_EQ(forkless_command_no_new_privs(c), 0);
    CHECK_EQ(forkless_command_io_priority(c, 2, 5), 0);
    CHECK_EQ(forkless_command_affinity(c, &cpus, sizeof cpus), 0);
    CHECK_EQ(forkless_command_nice(c, 5), 0);
    CHECK_EQ(forkless_command_scheduler(c, SCHED_BATCH, 0), 0);
}

static forkless_command *full(enum variant v, int program) {
    forkless_command *c = probe("exit", "7", NULL);
    set_descriptors(c, v);
    set_scheduling(c);
    CHECK_EQ(forkless_command_umask(c, 077), 0);
    CHECK_EQ(v == CWD_FD ? forkless_command_cwd_fd(c, KEPT) : forkless_command_cwd(c, "/"), 0);
    if (v == GROUP || v == FOREGROUND)
        CHECK_EQ(forkless_command_group(c, 0), 0);
    else
        CHECK_EQ(forkless_command_session(c), 0);
    if (v == TERMINAL)
        CHECK_EQ(forkless_command_terminal(c, KEPT), 0);
    if (v == FOREGROUND)
        CHECK_EQ(forkless_command_foreground(c, KEPT), 0);
    if (v == DEATH_SIGNAL)
        CHECK_EQ(forkless_command_death_signal(c, SIGUSR2), 0);
    if (v == PROGRAM_FD)
        CHECK_EQ(forkless_command_program_fd(c, program), 0);
    return c;
}

/* What is at KEPT: a folder, or for some our own terminal. */
static void prepare(enum variant v) {
    int fd = open("/", O_RDONLY | O_DIRECTORY);
    if (v == TERMINAL || v == FOREGROUND) {
        int master = posix_openpt(O_RDWR | O_NOCTTY | O_CLOEXEC);
        CHECK(master >= 0 && grantpt(master) == 0 && unlockpt(master) == 0);
        fd = open(ptsname(master), O_RDWR | O_NOCTTY);
    }
    if (v == FOREGROUND)
        CHECK(setsid() > 0 && ioctl(fd, TIOCSCTTY, 0) == 0);
    CHECK_EQ(dup2(fd, KEPT), KEPT);
}

static bool is_on(enum on on, const struct route *r) {
    bool clone = r->used == FORKLESS_CLONE_VFORK;
    return on == ALL || (on == BY_CLONE3 && !clone) || (on == BY_CLONE && clone) ||
           (on == CLOSES && r->no_close_range);
}

static const struct route *route;
static int half; /* of the faults: in two tests, for their time */

static void one_fault(int n) {
    static struct snapshot before;
    const struct fault *f = &faults[n];
    CHECK_EQ(prctl(PR_SET_PDEATHSIG, SIGKILL), 0);
    prepare(f->variant);
    int program = open(PROBE, O_RDONLY | O_CLOEXEC);
    CHECK_EQ(dup2(program, FILE_FD), FILE_FD); /* in the way of the file */
    CHECK_EQ(fcntl(FILE_FD, F_SETFD, FD_CLOEXEC), 0);
    if (f->variant == STDIN_CLOSED)
        close(0);
    forkless_command *c = full(f->variant, FILE_FD);
    ends(launched(route->launch, c), FORKLESS_EXITED, 7);
    if (f->variant == FOREGROUND)
        signal(SIGTTOU, SIG_IGN), tcsetpgrp(KEPT, getpgrp());
    snapshot_take(&before);
    filter(&f->rule, 1);
    errno = SENTINEL;
    for (int i = 0; i < 2; i++)
        fails(route->launch, c, -(int)(f->rule.action & SECCOMP_RET_DATA), f->step, f->index);
    CHECK_EQ(errno, SENTINEL);
    snapshot_check(&before);
    forkless_command_free(c);
}

static void each_fault(const struct route *r) {
    if (r->limit == FORKLESS_CLONE_VFORK) /* the calls are those without clone3 */
        return;
    route = r;
    for (int n = half; n < (int)(sizeof faults / sizeof *faults); n += 2) {
        if (!is_on(faults[n].on, r))
            continue;
        pid_t pid = forked();
        if (pid == 0) {
            one_fault(n);
            _exit(0);
        }
        int status;
        CHECK_EQ(waitpid(pid, &status, 0), pid);
        if (status)
            check_failed(__FILE__, __LINE__, faults[n].name);
    }
}

TEST(b15_each_call_refused_even) {
    on_each_route(each_fault);
}

TEST(b15_each_call_refused_odd) {
    half = 1;
    on_each_route(each_fault);
}

/* ---- setns takes root ---- */

static void namespace_refused(const struct route *r) {
    static struct snapshot before;
    int own = open("/proc/self/ns/uts", O_RDONLY | O_CLOEXEC);
    forkless_command *c = probe("exit", "7", NULL);
    CHECK_EQ(forkless_command_namespace(c, own, CLONE_NEWUTS), 0);
    ends(launched_so(r, c), FORKLESS_EXITED, 7);
    refuse(SYS_setns, EIO);
    snapshot_take(&before);
    for (int i = 0; i < 3; i++)
        fails(r->launch, c, -EIO, FORKLESS_STEP_NAMESPACE, own);
    snapshot_check(&before);
    forkless_command_free(c);
}

TEST(b15_namespaces_refused) {
    if (geteuid() != 0)
        skip_test("not root");
    on_each_route(namespace_refused);
}

/* ---- B21: a table that cannot be left is not shared ---- */

static void closing_refused(int code) {
    static struct snapshot before;
    static struct seen seen;
    forkless_command *c = probe("exit", "7", NULL);
    CHECK_EQ(dup2(0, 77), 77);
    ends(launched(forkless_start, c), FORKLESS_EXITED, 7);
    snapshot_take(&before);
    refuse(SYS_close_range, code);
    for (int i = 0; i < 6; i++) {
        ends(launched(launchers[i % 2], c), FORKLESS_EXITED, 7);
        snapshot_check(&before);
        struct show s = show_new();
        show_run(&s, launchers[i % 2], &seen);
        CHECK_EQ(seen.count, 3);
    }
    forkless_command_free(c);
}

TEST(b21_closing_refused) {
    const int codes[] = {ENOSYS, EPERM, EINVAL, ENOMEM, EMFILE};
    for (size_t i = 0; i < sizeof codes / sizeof *codes; i++)
        in_process(closing_refused, codes[i]);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(b15_each_call_refused_even),
        cmocka_unit_test(b15_each_call_refused_odd),
        cmocka_unit_test(b15_namespaces_refused),
        cmocka_unit_test(b21_closing_refused),
    };
    return RUN(tests);
}
