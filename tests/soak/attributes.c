/* What a command can ask for, in any mix, and what its child then finds. */
#include <fcntl.h>
#include <sched.h>
#include <stdio.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <unistd.h>

#include "plan.h"

typedef void attribute(struct worker *, struct plan *);

static void variables(struct worker *w, struct plan *p) {
    char value[32];
    snprintf(value, sizeof value, "value-%u", below(&w->random, 1000));
    SET(w, forkless_command_setenv(p->command, "SOAK", value));
    plan_expect(p, "variable=SOAK=%s", value);
}

static void environment(struct worker *w, struct plan *p) {
    static char *const few[] = {"A=1", "B=2", "C=3", NULL};
    SET(w, forkless_command_env(p->command, few));
    plan_expect(p, "variable=B=2");
    plan_expect(p, "variables=3");
}

static void cwd(struct worker *w, struct plan *p) {
    static const char *const paths[] = {"/", "/proc", "/dev"};
    const char *path = paths[below(&w->random, 3)];
    if (chance(&w->random, 30)) {
        SET(w, forkless_command_cwd_fd(p->command, shared.root));
        path = "/";
    } else {
        SET(w, forkless_command_cwd(p->command, path));
    }
    plan_expect(p, "cwd=%s", path);
}

static void umask_(struct worker *w, struct plan *p) {
    mode_t mask = below(&w->random, 0777);
    SET(w, forkless_command_umask(p->command, mask));
    plan_expect(p, "umask=%#o", mask);
}

static void group_or_session(struct worker *w, struct plan *p) {
    if (p->reason.step == FORKLESS_STEP_GROUP || p->reason.step == FORKLESS_STEP_TERMINAL)
        return;
    bool session = chance(&w->random, 50);
    if (session)
        SET(w, forkless_command_session(p->command));
    else
        SET(w, forkless_command_group(p->command, 0));
    plan_expect(p, "group=1");
    plan_expect(p, "session=%d", session);
    p->own_group = true;
}

static void mask(struct worker *w, struct plan *p) {
    static const int some[] = {SIGHUP, SIGUSR1, SIGUSR2, SIGTERM, SIGWINCH};
    sigset_t set = w->mask;
    bool own = chance(&w->random, 60);
    if (own) {
        sigemptyset(&set);
        for (int i = 0; i < 5; i++)
            if (chance(&w->random, 40))
                sigaddset(&set, some[i]);
    }
    SET(w, forkless_command_mask(p->command, own ? &set : NULL));
    unsigned long bits = 0;
    for (int s = 1; s <= 64; s++)
        bits |= (unsigned long)(sigismember(&set, s) == 1) << (s - 1);
    plan_expect(p, "blocked=%#lx", bits);
}

static void signals(struct worker *w, struct plan *p) {
    unsigned long ignored = shared.ignored;
    if (chance(&w->random, 30)) {
        SET(w, forkless_command_signal(p->command, FORKLESS_ALL_SIGNALS, FORKLESS_DEFAULT));
        ignored = 0;
    }
    if (chance(&w->random, 50)) {
        SET(w, forkless_command_signal(p->command, SIGUSR2, FORKLESS_IGNORE));
        ignored |= 1ul << (SIGUSR2 - 1);
    }
    if (chance(&w->random, 30)) {
        SET(w, forkless_command_signal(p->command, SIGPIPE, FORKLESS_IGNORE));
        ignored |= 1ul << (SIGPIPE - 1);
        p->sigpipe_ignored = true;
    }
    plan_expect(p, "ignored=%#lx", ignored);
}

static void limits(struct worker *w, struct plan *p) {
    struct rlimit limit = {200 + below(&w->random, 300), 1000};
    SET(w, forkless_command_rlimit(p->command, RLIMIT_NOFILE, &limit));
    plan_expect(p, "limit=%d:%lu", RLIMIT_NOFILE, limit.rlim_cur);
    limit = (struct rlimit){0, 0};
    SET(w, forkless_command_rlimit(p->command, RLIMIT_CORE, &limit));
    plan_expect(p, "limit=%d:0", RLIMIT_CORE);
}

static void scheduling(struct worker *w, struct plan *p) {
    cpu_set_t cpus, one;
    SET(w, forkless_command_nice(p->command, 7));
    plan_expect(p, "nice=7");
    if (chance(&w->random, 50)) {
        SET(w, forkless_command_scheduler(p->command, SCHED_BATCH, 0));
        plan_expect(p, "scheduler=%d", SCHED_BATCH);
    }
    if (chance(&w->random, 50)) {
        SET(w, forkless_command_io_priority(p->command, 2, 6));
        plan_expect(p, "io_priority=%d", 2 << 13 | 6);
    }
    MUST(sched_getaffinity(0, sizeof cpus, &cpus) == 0);
    for (unsigned cpu = 0; cpu < 64; cpu++)
        if (CPU_ISSET(cpu, &cpus)) {
            CPU_ZERO(&one);
            CPU_SET(cpu, &one);
            SET(w, forkless_command_affinity(p->command, &one, sizeof one));
            plan_expect(p, "affinity=%#lx", 1ul << cpu);
            return;
        }
}

static void no_new_privs(struct worker *w, struct plan *p) {
    SET(w, forkless_command_no_new_privs(p->command));
    plan_expect(p, "no_new_privs=1");
}

/* A thread that ends is none of ours. */
static void death_signal(struct worker *w, struct plan *p) {
    SET(w, forkless_command_death_signal(p->command, SIGKILL));
}

static void search(struct worker *w, struct plan *p) {
    if (p->reason.step == FORKLESS_STEP_EXEC)
        return;
    SET(w, forkless_command_program_fd(p->command, shared.actor_fd));
}

static void name(struct worker *w, struct plan *p) {
    SET(w, forkless_command_arg0(p->command, chance(&w->random, 50) ? "" : "another name"));
}

static void user(struct worker *w, struct plan *p) {
    if (!shared.users)
        return;
    if (chance(&w->random, 60)) {
        SET(w, forkless_command_gid(p->command, 12345));
        plan_expect(p, "gid=12345");
        SET(w, forkless_command_groups(p->command, 0, NULL));
        plan_expect(p, "groups=0");
    }
    SET(w, forkless_command_uid(p->command, 65534));
    plan_expect(p, "uid=65534");
    p->helped = true;
}

static void oom_score(struct worker *w, struct plan *p) {
    int score = 300 + (int)below(&w->random, 600);
    SET(w, forkless_command_oom_score(p->command, score));
    plan_expect(p, "score=%d", score);
    p->helped = true;
}

static void cgroup(struct worker *w, struct plan *p) {
    if (w->cgroup < 0)
        return;
    if (chance(&w->random, 20)) {
        SET(w, forkless_command_cgroup_path(p->command, w->cgroup_path));
        p->helped = true;
    } else {
        SET(w, forkless_command_cgroup(p->command, w->cgroup));
    }
    plan_expect(p, "cgroup=%s", w->cgroup_name);
    p->in_cgroup = true;
}

static void expect_descriptor(struct plan *p, int child_fd, int like) {
    struct stat s;
    MUST(fstat(like, &s) == 0);
    plan_expect(p, "descriptor=%d:%lu:%lu", child_fd, s.st_dev, s.st_ino);
}

/* From 10 on; 20 is what same() goes by. */
static void descriptors(struct worker *w, struct plan *p) {
    int n = 1 + (int)below(&w->random, FORKLESS_PIPES - 3);
    for (int fd = 10; fd < 10 + n; fd++)
        switch (below(&w->random, 4)) {
        case 0:
            SET(w, forkless_command_fd(p->command, fd, shared.zero));
            expect_descriptor(p, fd, shared.zero);
            break;
        case 1:
            SET(w, forkless_command_file(p->command, fd, "/dev/zero", O_RDONLY, 0));
            expect_descriptor(p, fd, shared.zero);
            break;
        case 2:
            SET(w, forkless_command_memory(p->command, fd, "remember", 8));
            plan_expect(p, "memory=%d:remember", fd);
            break;
        case 3:
            SET(w,
                forkless_command_pipe(p->command, fd, fd % 2 ? FORKLESS_READS : FORKLESS_WRITES));
            break;
        }
    SET(w, forkless_command_fd(p->command, 20, shared.root));
    SET(w, forkless_command_same(p->command, 21, 20));
    expect_descriptor(p, 21, shared.root);
    p->descriptors += n + 2;
}

void plan_attributes(struct worker *w, struct plan *p, unsigned most) {
    static attribute *const all[] = {
        variables, environment, cwd,        umask_,       group_or_session, mask,
        signals,   limits,      scheduling, no_new_privs, death_signal,     search,
        name,      user,        oom_score,  cgroup,       descriptors};
    enum { ALL = sizeof all / sizeof *all };
    bool chosen[ALL] = {false};
    for (unsigned n = below(&w->random, most + 1); n > 0; n--)
        chosen[below(&w->random, ALL)] = true;
    chosen[1] &= !chosen[0];
    for (int i = 0; i < ALL; i++)
        if (chosen[i])
            all[i](w, p);
}
