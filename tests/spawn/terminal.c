/* Sessions, controlling terminals, foreground groups: on a pseudo-terminal. */
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/wait.h>
#include <termios.h>
#include <unistd.h>

#include "support.h"

static struct seen seen;

struct pty {
    int master, slave;
    char path[64];
};

static struct pty open_pty(void) {
    struct pty p = {.master = posix_openpt(O_RDWR | O_NOCTTY | O_CLOEXEC)};
    if (p.master < 0)
        skip_test("no pseudo-terminals");
    CHECK_EQ(grantpt(p.master), 0);
    CHECK_EQ(unlockpt(p.master), 0);
    CHECK_EQ(ptsname_r(p.master, p.path, sizeof p.path), 0);
    p.slave = open(p.path, O_RDWR | O_NOCTTY | O_CLOEXEC);
    CHECK(p.slave >= 0);
    return p;
}

/* One that is ours: we are the leader of its session and its foreground group. */
static struct pty open_own_pty(void) {
    CHECK(setsid() > 0);
    struct pty p = open_pty();
    CHECK_EQ(ioctl(p.slave, TIOCSCTTY, 0), 0);
    CHECK_EQ(tcgetpgrp(p.slave), getpgrp());
    return p;
}

static void show_on(const struct route *r, struct show *s) {
    static struct snapshot before;
    forkless_command *c = probe("exit", NULL);
    ends(launched_so(r, c), FORKLESS_EXITED, 0);
    forkless_command_free(c);
    snapshot_take(&before);
    ends(launched_so(r, s->command), FORKLESS_EXITED, 0);
    snapshot_check(&before);
    show_read(s, &seen);
}

/* ---- a session of its own ---- */

static void own_terminal(const struct route *r) {
    for (int by_path = 0; by_path < 2; by_path++)
        for (int foreground = 0; foreground < 2; foreground++) {
            struct pty p = open_pty();
            struct show s = show_new();
            if (foreground)
                CHECK_EQ(forkless_command_foreground(s.command, 2), 0);
            CHECK_EQ(forkless_command_terminal(s.command, 0), 0);
            if (by_path)
                CHECK_EQ(forkless_command_file(s.command, 0, p.path, O_RDWR | O_NOCTTY, 0), 0);
            else
                CHECK_EQ(forkless_command_fd(s.command, 0, p.slave), 0);
            CHECK_EQ(forkless_command_same(s.command, 2, 0), 0);
            show_on(r, &s);
            CHECK(seen_line(&seen, "session own"));
            CHECK(seen_line(&seen, "group own"));
            CHECK(seen_line(&seen, "foreground own"));
            CHECK_EQ(seen.blocked, 0);
            close(p.master);
            close(p.slave);
        }
    CHECK_EQ(open("/dev/tty", O_RDWR), -1); /* none has become ours */
}

TEST(own_session_and_terminal) {
    CHECK(setsid() < 0); /* a group's leader; a child of ours is none, and has no terminal then */
    on_each_route(own_terminal);
}

/* ---- B86: the foreground of our own session ---- */

/* As a shell does it. */
static void take_back(int terminal) {
    sigset_t ttou, before;
    sigemptyset(&ttou);
    sigaddset(&ttou, SIGTTOU);
    CHECK_EQ(sigprocmask(SIG_BLOCK, &ttou, &before), 0);
    CHECK_EQ(tcsetpgrp(terminal, getpgrp()), 0);
    CHECK_EQ(sigprocmask(SIG_SETMASK, &before, NULL), 0);
    CHECK_EQ(tcgetpgrp(terminal), getpgrp());
}

enum mask { NO_MASK, CALLERS, GIVEN };

static void show_in_foreground(const struct route *r, const struct pty *p, enum mask mask) {
    sigset_t usr1, usr2, old;
    sigemptyset(&usr1);
    sigaddset(&usr1, SIGUSR1);
    sigemptyset(&usr2);
    sigaddset(&usr2, SIGUSR2);
    struct show s = show_new();
    CHECK_EQ(forkless_command_group(s.command, 0), 0);
    CHECK_EQ(forkless_command_fd(s.command, 1, p->slave), 0);
    CHECK_EQ(forkless_command_foreground(s.command, 1), 0);
    if (mask != NO_MASK)
        CHECK_EQ(forkless_command_mask(s.command, mask == GIVEN ? &usr2 : NULL), 0);
    CHECK_EQ(sigprocmask(SIG_BLOCK, &usr1, &old), 0);
    show_on(r, &s);
    CHECK_EQ(sigprocmask(SIG_SETMASK, &old, NULL), 0);
    const unsigned long want[] = {0, 1ul << (SIGUSR1 - 1), 1ul << (SIGUSR2 - 1)};
    CHECK_EQ(seen.blocked, want[mask]);
    CHECK(seen_line(&seen, "foreground own"));
    CHECK(seen_line(&seen, "group own"));
    CHECK(!seen_line(&seen, "session own"));
    CHECK(tcgetpgrp(p->slave) != getpgrp());
}

static void foreground(const struct route *r) {
    struct pty p = open_own_pty();
    for (enum mask mask = NO_MASK; mask <= GIVEN; mask++) {
        take_back(p.slave);
        show_in_foreground(r, &p, mask);
        show_in_foreground(r, &p, mask); /* and we are in the background now */
    }
    take_back(p.slave);
}

TEST(b86_foreground_on_each_route) {
    on_each_route(foreground);
}

/* Start is back before that. */
static void await_foreground(const struct pty *p, forkless_child *child) {
    while (tcgetpgrp(p->slave) != forkless_pid(child))
        nap(1000);
}

/* While another group has the terminal, which then is in the background. */
static void from_behind(const struct route *r) {
    struct pty p = open_own_pty();
    forkless_command *c = probe("pause", NULL);
    CHECK_EQ(forkless_command_group(c, 0), 0);
    CHECK_EQ(forkless_command_fd(c, 0, p.slave), 0);
    CHECK_EQ(forkless_command_foreground(c, 0), 0);
    forkless_child *first = launched_so(r, c);
    await_foreground(&p, first);
    forkless_child *second = launched_so(r, c);
    await_foreground(&p, second);
    CHECK_EQ(forkless_wait(second, from_now(10), NULL, NULL), -ETIMEDOUT);
    siginfo_t info = {0};
    unsigned options = WSTOPPED | WNOHANG | WNOWAIT | __WALL;
    CHECK_EQ(waitid(P_ALL, 0, &info, (int)options), 0);
    CHECK_EQ(info.si_pid, 0); /* neither is stopped */
    take_back(p.slave);
    forkless_child *const both[] = {first, second};
    for (int i = 0; i < 2; i++) {
        CHECK_EQ(forkless_kill(both[i], SIGKILL, FORKLESS_CHILD), 0);
        ends(both[i], FORKLESS_KILLED, SIGKILL);
    }
    forkless_command_free(c);
    check_no_child();
}

TEST(b86_from_behind_another) {
    on_each_route(from_behind);
}

/* B62: job control reaches it, and its parent takes over. */
static void stopped_by_its_user(const struct route *r) {
    struct pty p = open_own_pty();
    siginfo_t info;
    forkless_command *c = probe("pause", NULL);
    CHECK_EQ(forkless_command_group(c, 0), 0);
    CHECK_EQ(forkless_command_fd(c, 0, p.slave), 0);
    CHECK_EQ(forkless_command_foreground(c, 0), 0);
    forkless_child *job = launched_so(r, c);
    pid_t pid = forkless_pid(job);
    await_foreground(&p, job);
    const char keys[] = {26, 3}; /* ^Z, ^C */
    CHECK_EQ(write(p.master, &keys[0], 1), 1);
    CHECK_EQ(waitid(P_PID, (id_t)pid, &info, WSTOPPED | WNOWAIT | __WALL), 0);
    CHECK_EQ(info.si_status, SIGTSTP);
    CHECK_EQ(forkless_wait(job, from_now(10), NULL, NULL), -ETIMEDOUT);
    take_back(p.slave);
    CHECK_EQ(tcsetpgrp(p.slave, pid), 0);
    CHECK_EQ(kill(-pid, SIGCONT), 0);
    CHECK_EQ(write(p.master, &keys[1], 1), 1);
    ends(job, FORKLESS_KILLED, SIGINT);
    take_back(p.slave);
    forkless_command_free(c);
}

TEST(b62_job_control) {
    on_each_route(stopped_by_its_user);
}

/* ---- errors ---- */

/* The last of them is open in the caller, but no descriptor of the child's. */
static void errors(const struct route *r) {
    struct pty p = open_pty();
    int file = fcntl(p.slave, F_DUPFD_CLOEXEC, 20);
    CHECK_EQ(dup3(open("/dev/null", O_RDWR | O_CLOEXEC), file, O_CLOEXEC), file);
    int slave = fcntl(p.slave, F_DUPFD_CLOEXEC, 20);
    CHECK_EQ(dup3(slave, 5, O_CLOEXEC), 5);
    const struct { int source, code; } cases[] = {{file, -ENOTTY}, {slave, -ENOTTY}, {-1, -EBADF}};
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        forkless_command *c = probe("exit", NULL), *other = probe("exit", NULL);
        if (cases[i].source >= 0) {
            CHECK_EQ(forkless_command_fd(c, 5, cases[i].source), 0);
            CHECK_EQ(forkless_command_fd(other, 5, cases[i].source), 0);
        }
        CHECK_EQ(forkless_command_terminal(c, 5), 0);
        CHECK_EQ(forkless_command_foreground(other, 5), 0);
        if (cases[i].source == slave)
            ends(launched_so(r, c), FORKLESS_EXITED, 0);
        else
            fails(r->launch, c, cases[i].code, FORKLESS_STEP_TERMINAL, 5);
        fails(r->launch, other, cases[i].code, FORKLESS_STEP_FOREGROUND, 5);
        forkless_command_free(c);
        forkless_command_free(other);
    }
    check_no_child();
}

TEST(b28_no_terminal) {
    CHECK_EQ(open("/dev/tty", O_RDWR) >= 0 ? 0 : errno, ENXIO);
    on_each_route(errors);
}

/* One child's map may be what makes it the child's. */
TEST(b28_terminal_by_an_override) {
    const struct forkless_map map = {5, open_pty().slave};
    const forkless_override o = {.maps = &map, .map_count = 1};
    forkless_command *c = probe("exit", "7", NULL);
    forkless_child *child;
    CHECK_EQ(forkless_command_terminal(c, 5), 0);
    CHECK_EQ(forkless_start_with(c, &o, &child, NULL), 0);
    ends(child, FORKLESS_EXITED, 7);
    fails(forkless_start, c, -EBADF, FORKLESS_STEP_TERMINAL, 5);
    forkless_command_free(c);
}

/* Of another session: it is not taken away from it. */
static void taken(const struct route *r) {
    struct pty p = open_own_pty();
    forkless_command *c = probe("exit", NULL);
    CHECK_EQ(forkless_command_fd(c, 5, p.slave), 0);
    CHECK_EQ(forkless_command_terminal(c, 5), 0);
    fails(r->launch, c, -EPERM, FORKLESS_STEP_TERMINAL, 5);
    forkless_command_free(c);
    CHECK_EQ(tcgetpgrp(p.slave), getpgrp());
    check_no_child();
}

TEST(b28_terminal_of_another_session) {
    on_each_route(taken);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(own_session_and_terminal),
        cmocka_unit_test(b86_foreground_on_each_route),
        cmocka_unit_test(b86_from_behind_another),
        cmocka_unit_test(b62_job_control),
        cmocka_unit_test(b28_no_terminal),
        cmocka_unit_test(b28_terminal_by_an_override),
        cmocka_unit_test(b28_terminal_of_another_session),
    };
    return RUN(tests);
}
