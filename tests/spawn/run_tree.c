/* Runs: trees that are ended at their deadline, and those who stay behind. */
#include <errno.h>
#include <fcntl.h>
#include <linux/seccomp.h>
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "cgroups.h"
#include "run_support.h"
#include "support.h"

/* Orphans of a test are its own, so that they can be seen and gone. */
static void adopt_orphans(void) {
    CHECK_EQ(prctl(PR_SET_CHILD_SUBREAPER, 1), 0);
}

/* Reaps the dead; nobody lives. */
static void check_no_orphan_lives(void) {
    siginfo_t info;
    int rc;
    do {
        info.si_pid = 0;
        rc = waitid(P_ALL, 0, &info, WEXITED | WNOHANG | __WALL);
    } while (rc == 0 && info.si_pid != 0);
    CHECK_EQ(rc, -1);
    CHECK_EQ(errno, ECHILD);
}

static int kill_orphans(void) {
    siginfo_t info;
    int killed = 0;
    char path[64];
    snprintf(path, sizeof path, "/proc/self/task/%d/children", getpid());
    for (;;) {
        int pid = 0;
        FILE *children = fopen(path, "re");
        CHECK(children != NULL);
        bool any = fscanf(children, "%d", &pid) == 1;
        fclose(children);
        if (!any)
            return killed;
        kill(pid, SIGKILL);
        CHECK_EQ(waitid(P_PID, (id_t)pid, &info, WEXITED | __WALL), 0);
        killed += info.si_code == CLD_KILLED;
    }
}

static forkless_run_options within(int milliseconds) {
    return (forkless_run_options){.deadline_ns = from_now(milliseconds)};
}

/* A shell at its deadline, before which it has come to write: in a cgroup, or with -1 in none. */
static forkless_result cut_off(const char *script, forkless_run_options options, int cgroup) {
    for (int ms = 100;; ms *= 2) {
        forkless_command *c = shell(script);
        CHECK_EQ(cgroup < 0 ? 0 : forkless_command_cgroup(c, cgroup), 0);
        options.deadline_ns = from_now(ms);
        forkless_result r = ran(c, &options);
        if (r.output_size > 0 || ms > 5000)
            return r;
        forkless_result_free(&r);
    }
}

/* ---- B77: awkward trees ---- */

static const struct {
    const char *script;
    int signal; /* that ended the child itself */
    bool survives_term;
} trees[] = {
    {"echo x; sleep 60; true", SIGTERM, false},
    {"echo x; sleep 60 | cat", SIGTERM, false},
    {"echo x; (sleep 60)", SIGTERM, false},
    {"echo x; exec sleep 60", SIGTERM, false},
    {"echo x; exec >&- 2>&-; sleep 60", SIGTERM, false},
    {"echo x; kill -STOP $$; sleep 60", SIGTERM, false},
    {"echo x; sleep 60 & sleep 60 & wait", SIGTERM, false},
    {"trap '' TERM; echo x; sleep 60; sleep 60", SIGKILL, true},
    {"trap '' TERM; echo x; sleep 60 & exec sleep 60", SIGKILL, true},
    {"(trap '' TERM; echo x; exec >&- 2>&-; sleep 60) & sleep 60", SIGTERM, true},
    {"trap '' TERM; echo x; kill -STOP $$; sleep 60", SIGKILL, true},
    {"trap '' TERM HUP INT; echo x; while :; do sleep 60 & wait; done", SIGKILL, true},
};

static void fell(bool by_pidfd) {
    adopt_orphans();
    for (size_t i = 0; i < sizeof trees / sizeof *trees; i++) {
        forkless_run_options options = {
            .grace_ns = trees[i].survives_term ? 100000000 : 20000000000,
            .capture = i % 2 ? FORKLESS_CAPTURE_MERGED : FORKLESS_CAPTURE_BOTH};
        forkless_result r = cut_off(trees[i].script, options, -1);
        CHECK_EQ(r.status.how, FORKLESS_KILLED);
        CHECK_EQ(r.status.code, trees[i].signal);
        has_text(r.output, r.output_size, "x\n");
        CHECK(r.timed_out && !r.limited && !r.writers_remained);
        if (by_pidfd)
            CHECK(!r.survivors);
        forkless_result_free(&r);
        check_no_orphan_lives();
    }
}

TEST(b77_trees) {
    fell(true);
}

/* Before Linux 6.9: what is left of the group cannot be signalled when the child is reaped. */
TEST(b77_trees_without_group_flag) {
    filter(&(struct rule){SYS_pidfd_send_signal, SECCOMP_RET_ERRNO | EINVAL, 3, ~0u, 4}, 1);
    fell(false);
}

TEST(b75_trees_without_pidfds) {
    refuse(SYS_pidfd_open, ENOSYS);
    fell(false);
}

/* Half a second of grace, if nothing else is asked for. */
TEST(b77_deadline_of_a_fifth_of_a_second) {
    adopt_orphans();
    forkless_run_options options = within(200);
    forkless_result r = ran(shell("trap '' TERM; sleep 60; sleep 60"), &options);
    int64_t over = forkless_deadline_in(1);
    CHECK(r.timed_out);
    CHECK_EQ(r.status.code, SIGKILL);
    CHECK(over >= options.deadline_ns + 500000000);
    forkless_result_free(&r);
    check_no_orphan_lives();
}

/* ---- B76: others hold the outputs when the child has ended ---- */

TEST(b76_writers_remain) {
    static const char *const scripts[] = {
        "echo hi; sleep 60 &",
        "echo hi; setsid sleep 60 & exit 3",
        "echo hi; (while :; do printf .; sleep 0.01; done) & exit 3",
    };
    adopt_orphans();
    for (int i = 0; i < 3; i++) {
        forkless_result r = ran(shell(scripts[i]), &(forkless_run_options){.linger_ns = 50000000});
        has_exited(&r, i ? 3 : 0);
        CHECK(strncmp(r.output, "hi\n", 3) == 0);
        CHECK(r.writers_remained && !r.timed_out && !r.survivors);
        forkless_result_free(&r);
        CHECK(kill_orphans() > 0);
    }
}

/* They come to their end within it. */
TEST(b76_writers_finish_within_grace) {
    adopt_orphans();
    forkless_result r = ran(shell("echo a; (sleep 0.1; echo b) &"),
                            &(forkless_run_options){.linger_ns = FORKLESS_NEVER});
    has_text(r.output, r.output_size, "a\nb\n");
    CHECK(!r.writers_remained);
    forkless_result_free(&r);
}

/* At the deadline they are ended like the rest of the tree; the child's own end stays what it was.
 */
TEST(b76_writers_until_the_deadline) {
    static const char *const scripts[] = {
        "echo a; sleep 60 & exit 3",
        "echo a; (trap '' TERM; sleep 60; sleep 60) & exit 3",
    };
    adopt_orphans();
    for (int i = 0; i < 4; i++) {
        const forkless_run_options options = {.linger_ns = i / 2 ? FORKLESS_NEVER : 20000000000,
                                              .grace_ns = i % 2 ? 400000000 : 20000000000};
        forkless_result r = cut_off(scripts[i % 2], options, -1);
        has_exited(&r, 3);
        has_text(r.output, r.output_size, "a\n");
        CHECK(r.timed_out && !r.writers_remained && !r.survivors);
        forkless_result_free(&r);
        check_no_orphan_lives();
    }
}

/* ---- B82: those who have left the group ---- */

TEST(b82_daemons_leave_the_group) {
    adopt_orphans();
    forkless_result r =
        cut_off("setsid sh -c 'echo y; sleep 60 & wait' & sleep 60", (forkless_run_options){0}, -1);
    CHECK(r.timed_out && r.writers_remained && !r.survivors);
    has_text(r.output, r.output_size, "y\n");
    forkless_result_free(&r);
    CHECK(kill_orphans() > 0);
}

/* ---- B70: nobody of it is there at the return ---- */

TEST(b70_b82_cgroup) {
    adopt_orphans();
    char path[CGROUP_PATH];
    int folder = cgroup_made(path);
    for (int i = 0; i < 6; i++) {
        forkless_run_options options = {.whom = FORKLESS_CGROUP,
                                        .grace_ns = i % 2 ? 400000000 : 20000000000};
        forkless_result r =
            cut_off(i % 2 ? "trap '' TERM; echo x; setsid sh -c 'sleep 60 & sleep 60' & sleep 60"
                          : "echo x; setsid sh -c 'sleep 60 & sleep 60' & sleep 60",
                    options, folder);
        CHECK_EQ(r.status.how, FORKLESS_KILLED);
        CHECK_EQ(r.status.code, i % 2 ? SIGKILL : SIGTERM);
        has_text(r.output, r.output_size, "x\n");
        CHECK(r.timed_out && !r.writers_remained && !r.survivors);
        forkless_result_free(&r);
        char text[256] = "";
        int events = openat(folder, "cgroup.events", O_RDONLY | O_CLOEXEC);
        CHECK(read(events, text, sizeof text - 1) > 0);
        close(events);
        CHECK(strstr(text, "populated 0"));
        check_no_orphan_lives();
    }
    close(folder);
    cgroup_removed(path);
}

/* A child that has ended well leaves those of its cgroup alone, as those of its group. */
TEST(nobody_is_ended_before_the_deadline) {
    adopt_orphans();
    forkless_result r = ran(shell("sleep 60 >&- 2>&- & exit 3"), NULL);
    has_exited(&r, 3);
    CHECK(!r.writers_remained);
    forkless_result_free(&r);
    CHECK_EQ(kill_orphans(), 1);
}

/* ---- whom ---- */

TEST(only_the_child) {
    adopt_orphans();
    forkless_run_options options = {.whom = FORKLESS_CHILD, .grace_ns = 50000000};
    forkless_result r = cut_off("sleep 60 & ps -o pgid= -p $$ >&2; echo x; sleep 60", options, -1);
    CHECK_EQ(r.status.code, SIGTERM);
    CHECK(r.timed_out && r.writers_remained);
    int group = 0;
    CHECK(r.errors && sscanf(r.errors, "%d", &group) == 1);
    CHECK_EQ(group, getpgrp());
    forkless_result_free(&r);
    CHECK(kill_orphans() > 0);
}

TEST(a_session_leads_its_group) {
    adopt_orphans();
    forkless_command *c = shell("sleep 60 & sleep 60");
    CHECK_EQ(forkless_command_session(c), 0);
    forkless_run_options options = within(50);
    forkless_result r = ran(c, &options);
    CHECK(r.timed_out && !r.survivors);
    forkless_result_free(&r);
    check_no_orphan_lives();
}

/* ---- in other hands ---- */

/* Others may end it, also in the middle. */
static void *kill_it(void *child) {
    nap(20000);
    CHECK_EQ(forkless_kill(child, SIGKILL, FORKLESS_GROUP), 0);
    return NULL;
}

TEST(killed_meanwhile) {
    adopt_orphans();
    forkless_command *c = shell("echo x; sleep 60 & exec sleep 60");
    for (int i = 0; i < 3; i++) {
        forkless_child *child;
        forkless_result r;
        CHECK_EQ(forkless_run_start(c, NULL, &child, NULL), 0);
        pthread_t killer = thread(kill_it, child);
        CHECK_EQ(forkless_wait(child, FORKLESS_NEVER, NULL, NULL), 0);
        CHECK_EQ(pthread_join(killer, NULL), 0);
        CHECK_EQ(forkless_run_result(child, &r, NULL), 0);
        CHECK_EQ(r.status.code, SIGKILL);
        CHECK(!r.timed_out && !r.writers_remained);
        has_text(r.output, r.output_size, "x\n");
        forkless_result_free(&r);
        forkless_child_free(child);
        while (wait(NULL) > 0) /* the other sleeper, if there was one by then */
            continue;
        check_no_orphan_lives();
    }
    forkless_command_free(c);
}

/* In a loop of the host's the deadlines come by forkless_next_deadline() alone. */
TEST(deadlines_in_a_loop) {
    adopt_orphans();
    forkless_command *c = shell("trap '' TERM; sleep 60; sleep 60");
    forkless_run_options options = within(50);
    options.grace_ns = 50000000;
    forkless_child *child;
    forkless_result r;
    CHECK_EQ(forkless_run_start(c, &options, &child, NULL), 0);
    CHECK_EQ(forkless_next_deadline(child), options.deadline_ns);
    int turns = 0;
    while (forkless_poll(child) != FORKLESS_ENDED) {
        int64_t next = forkless_next_deadline(child), now = forkless_deadline_in(1);
        CHECK(next != FORKLESS_NEVER);
        if (next > now)
            nap((int)((next - now) / 1000) + 1);
        turns++;
    }
    CHECK(turns < 50);
    CHECK_EQ(forkless_run_result(child, &r, NULL), 0);
    CHECK(r.timed_out && !r.survivors);
    CHECK_EQ(r.status.code, SIGKILL);
    forkless_result_free(&r);
    forkless_child_free(child);
    forkless_command_free(c);
    check_no_orphan_lives();
}

/* SIGCHLD is ignored: nobody knows the status but, maybe, the kernel. */
TEST(b64_runs_with_sigchld_ignored) {
    signal(SIGCHLD, SIG_IGN);
    for (int i = 0; i < 10; i++) {
        forkless_run_options options = within(20000);
        forkless_result r = i % 2 ? cut_off("echo x; sleep 60 & sleep 60", options, -1)
                                  : ran(shell("echo x; exit 3"), &options);
        has_text(r.output, r.output_size, "x\n");
        CHECK_EQ(r.timed_out, i % 2);
        CHECK(r.status.how == FORKLESS_UNKNOWN || r.status.code == (i % 2 ? SIGTERM : 3));
        CHECK(!r.writers_remained);
        forkless_result_free(&r);
    }
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(b77_trees),
        cmocka_unit_test(b77_trees_without_group_flag),
        cmocka_unit_test(b75_trees_without_pidfds),
        cmocka_unit_test(b77_deadline_of_a_fifth_of_a_second),
        cmocka_unit_test(b76_writers_remain),
        cmocka_unit_test(b76_writers_finish_within_grace),
        cmocka_unit_test(b76_writers_until_the_deadline),
        cmocka_unit_test(b82_daemons_leave_the_group),
        cmocka_unit_test(b70_b82_cgroup),
        cmocka_unit_test(nobody_is_ended_before_the_deadline),
        cmocka_unit_test(only_the_child),
        cmocka_unit_test(a_session_leads_its_group),
        cmocka_unit_test(killed_meanwhile),
        cmocka_unit_test(deadlines_in_a_loop),
        cmocka_unit_test(b64_runs_with_sigchld_ignored),
    };
    return RUN(tests);
}
