/* What a child has differently from its caller, on every route; the caller keeps what it has. */
#include <fcntl.h>
#include <sched.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <unistd.h>

#include "support.h"

#ifndef SCHED_RESET_ON_FORK
#define SCHED_RESET_ON_FORK 0x40000000
#endif

static struct seen seen;
static int folder = -1; /* "/usr" */

static void check_line(const char *name, const char *line) {
    if (!seen_line(&seen, line)) {
        fprintf(stderr, "%s: no line \"%s\" in\n%s\n", name, line, seen.text);
        check_failed(__FILE__, __LINE__, name);
    }
}

static void show_on(const struct route *r, struct show *s) {
    ends(launched_so(r, s->command), FORKLESS_EXITED, 0);
    show_read(s, &seen);
}

/* ---- each attribute ---- */

static int set_cwd(forkless_command *c) {
    return forkless_command_cwd(c, "/usr");
}

static int set_cwd_fd(forkless_command *c) {
    return forkless_command_cwd_fd(c, folder);
}

static int set_umask(forkless_command *c) {
    return forkless_command_umask(c, 0137);
}

static int set_group(forkless_command *c) {
    return forkless_command_group(c, 0);
}

static int set_session(forkless_command *c) {
    return forkless_command_session(c);
}

static int set_nice(forkless_command *c) {
    return forkless_command_nice(c, 7);
}

static int set_batch(forkless_command *c) {
    return forkless_command_scheduler(c, SCHED_BATCH, 0);
}

static int set_idle(forkless_command *c) {
    return forkless_command_scheduler(c, SCHED_IDLE, 0);
}

static int set_reset(forkless_command *c) {
    return forkless_command_scheduler(c, SCHED_OTHER | SCHED_RESET_ON_FORK, 0);
}

static int set_fifo(forkless_command *c) {
    return forkless_command_scheduler(c, SCHED_FIFO, 3);
}

static int set_round_robin(forkless_command *c) {
    return forkless_command_scheduler(c, SCHED_RR, 99);
}

static int set_best_effort(forkless_command *c) {
    return forkless_command_io_priority(c, 2, 6);
}

static int set_idle_io(forkless_command *c) {
    return forkless_command_io_priority(c, 3, 0);
}

static int set_real_time_io(forkless_command *c) {
    return forkless_command_io_priority(c, 1, 2);
}

static int set_no_new_privs(forkless_command *c) {
    return forkless_command_no_new_privs(c);
}

static int set_death_signal(forkless_command *c) {
    return forkless_command_death_signal(c, SIGUSR2);
}

static const struct attribute {
    const char *name;
    int (*set)(forkless_command *);
    const char *lines[2];
    bool for_root, alone; /* `alone`: another of the table is its opposite,
                                or it is not for every route */
} attributes[] = {
    {"cwd", set_cwd, {"cwd /usr"}, false, false},
    {"cwd_fd", set_cwd_fd, {"cwd /usr"}, false, true},
    {"umask", set_umask, {"umask 137"}, false, false},
    {"group", set_group, {"group own"}, false, true},
    {"session", set_session, {"group own", "session own"}, false, false},
    {"nice", set_nice, {"nice 7"}, false, false},
    {"batch", set_batch, {"scheduler 3 0"}, false, false},
    {"idle", set_idle, {"scheduler 5 0"}, false, true},
    {"reset on fork", set_reset, {"scheduler 1073741824 0"}, false, true},
    {"fifo", set_fifo, {"scheduler 1 3"}, true, true},
    {"round robin", set_round_robin, {"scheduler 2 99"}, true, true},
    {"best effort", set_best_effort, {"io_priority 16390"}, false, false},
    {"idle io", set_idle_io, {"io_priority 24576"}, false, true},
    {"real time io", set_real_time_io, {"io_priority 8194"}, true, true},
    {"no_new_privs", set_no_new_privs, {"no_new_privs 1"}, false, false},
    {"death signal", set_death_signal, {"death_signal 12"}, false, true},
};
enum { ATTRIBUTES = sizeof attributes / sizeof *attributes };

static int own_no_new_privs(void) {
    return prctl(PR_GET_NO_NEW_PRIVS, 0, 0, 0, 0);
}

static void each_attribute(const struct route *r) {
    static struct snapshot before;
    int no_new_privs = own_no_new_privs(); /* which every filter takes */
    folder = open("/usr", O_PATH | O_CLOEXEC);
    struct show plain = show_new();
    show_on(r, &plain);
    for (int i = 0; i < ATTRIBUTES; i++) {
        const struct attribute *a = &attributes[i];
        if (a->for_root && geteuid() != 0)
            continue;
        struct show s = show_new();
        CHECK_EQ(a->set(s.command), 0);
        snapshot_take(&before);
        forkless_child *child = launched(r->launch, s.command);
        bool held = a->set == set_death_signal && r->used == FORKLESS_CLONE3_VM;
        CHECK_EQ(forkless_mechanism(child), held ? FORKLESS_CLONE3_VFORK : r->used);
        ends(child, FORKLESS_EXITED, 0);
        snapshot_check(&before);
        CHECK_EQ(own_no_new_privs(), no_new_privs);
        show_read(&s, &seen);
        for (int k = 0; k < 2 && a->lines[k]; k++)
            check_line(a->name, a->lines[k]);
    }
}

TEST(each_attribute_on_each_route) {
    on_each_route(each_attribute);
}

/* ---- limits ---- */

/* Nobody needs as much, nor has less as its hard limit. */
static const struct rlimit limits[] = {
    [RLIMIT_CPU] = {1000, 2000},
    [RLIMIT_FSIZE] = {1 << 20, 1 << 21},
    [RLIMIT_DATA] = {1 << 29, 1 << 30},
    [RLIMIT_STACK] = {4 << 20, 8 << 20},
    [RLIMIT_CORE] = {0, 0},
    [RLIMIT_RSS] = {1 << 29, 1 << 30},
    [RLIMIT_NPROC] = {3000, 3001},
    [RLIMIT_NOFILE] = {64, 128},
    [RLIMIT_MEMLOCK] = {4096, 8192},
    [RLIMIT_AS] = {1 << 29, 1 << 30},
    [RLIMIT_LOCKS] = {10, 20},
    [RLIMIT_SIGPENDING] = {100, 101},
    [RLIMIT_MSGQUEUE] = {1000, 2000},
    [RLIMIT_NICE] = {0, 0},
    [RLIMIT_RTPRIO] = {0, 0},
    [RLIMIT_RTTIME] = {1000000, RLIM_INFINITY},
};
_Static_assert(sizeof limits / sizeof *limits == RLIM_NLIMITS, "each resource");

static void set_limit(forkless_command *c, int resource) {
    struct rlimit limit = limits[resource];
    CHECK_EQ(forkless_command_rlimit(c, resource, &limit), 0);
    memset(&limit, 0x55, sizeof limit); /* B12: it is a copy */
}

static void check_limit(int resource) {
    char line[96];
    snprintf(line, sizeof line, "limit %d %ld %ld", resource, (long)limits[resource].rlim_cur,
             (long)limits[resource].rlim_max);
    check_line("rlimit", line);
}

static void each_limit(const struct route *r) {
    static struct snapshot before;
    struct show plain = show_new();
    show_on(r, &plain);
    for (int resource = 0; resource < (int)RLIM_NLIMITS; resource++) {
        struct show s = show_new();
        set_limit(s.command, resource);
        snapshot_take(&before);
        ends(launched_so(r, s.command), FORKLESS_EXITED, 0);
        snapshot_check(&before);
        show_read(&s, &seen);
        check_limit(resource);
    }
}

TEST(each_limit_on_each_route) {
    on_each_route(each_limit);
}

static void map_above_the_limit(const struct route *r) {
    const struct rlimit limit = {64, 64};
    struct show s = show_new();
    CHECK_EQ(forkless_command_rlimit(s.command, RLIMIT_NOFILE, &limit), 0);
    CHECK_EQ(forkless_command_fd(s.command, 100, 1), 0);
    CHECK_EQ(forkless_command_file(s.command, 101, "/dev/null", O_RDONLY, 0), 0);
    CHECK_EQ(forkless_command_memory(s.command, 102, "x", 1), 0);
    CHECK_EQ(forkless_command_same(s.command, 103, 100), 0);
    show_on(r, &s);
    check_line("b16", "limit 7 64 64");
    for (int fd = 100; fd < 104; fd++)
        CHECK(seen_fd(&seen, fd));
    CHECK(seen_fd(&seen, 103)->inode == seen_fd(&seen, 100)->inode);
}

TEST(b16_limit_of_descriptors_after_the_maps) {
    on_each_route(map_above_the_limit);
}

/* ---- all at once ---- */

static unsigned last_cpu(void) {
    cpu_set_t cpus;
    unsigned last = 0;
    CHECK_EQ(sched_getaffinity(0, sizeof cpus, &cpus), 0);
    for (unsigned cpu = 0; cpu < CPU_SETSIZE; cpu++)
        if (CPU_ISSET(cpu, &cpus))
            last = cpu;
    return last;
}

static void set_affinity(forkless_command *c) {
    cpu_set_t cpus;
    CPU_ZERO(&cpus);
    CPU_SET(last_cpu(), &cpus);
    CHECK_EQ(forkless_command_affinity(c, &cpus, sizeof cpus), 0);
    CPU_ZERO(&cpus);
}

static void set_all(forkless_command *c, const struct route *r) {
    sigset_t mask;
    for (int i = 0; i < ATTRIBUTES; i++)
        if (!attributes[i].alone)
            CHECK_EQ(attributes[i].set(c), 0);
    for (int resource = 0; resource < (int)RLIM_NLIMITS; resource++)
        set_limit(c, resource);
    if (r->used != FORKLESS_CLONE3_VM)
        CHECK_EQ(set_death_signal(c), 0);
    set_affinity(c);
    sigfillset(&mask);
    sigdelset(&mask, SIGTERM);
    CHECK_EQ(forkless_command_mask(c, &mask), 0);
    CHECK_EQ(forkless_command_signal(c, FORKLESS_ALL_SIGNALS, FORKLESS_DEFAULT), 0);
    CHECK_EQ(forkless_command_signal(c, SIGHUP, FORKLESS_IGNORE), 0);
    CHECK_EQ(forkless_command_signal(c, SIGUSR1, FORKLESS_INHERIT), 0);
    CHECK_EQ(forkless_command_fd(c, 5, 0), 0);
    CHECK_EQ(forkless_command_file(c, 0, "/dev/null", O_RDONLY, 0), 0);
    CHECK_EQ(forkless_command_same(c, 6, 0), 0);
}

static void cut_line(const char *start) {
    char *line = strstr(seen.text, start);
    CHECK(line && line[-1] == '\n');
    char *next = strchr(line, '\n') + 1;
    memmove(line, next, strlen(next) + 1);
}

static char *reference;

static void all_attributes(const struct route *r) {
    static struct snapshot before;
    CHECK(signal(SIGUSR1, SIG_IGN) != SIG_ERR && signal(SIGINT, SIG_IGN) != SIG_ERR);
    struct show plain = show_new();
    show_on(r, &plain);
    struct show s = show_new();
    set_all(s.command, r);
    snapshot_take(&before);
    for (int i = 0; i < 2; i++)
        ends(launched_so(r, s.command), FORKLESS_EXITED, 0);
    snapshot_check(&before);
    show_read(&s, &seen);
    for (int i = 0; i < ATTRIBUTES; i++)
        for (int k = 0; k < 2 && !attributes[i].alone && attributes[i].lines[k]; k++)
            check_line(attributes[i].name, attributes[i].lines[k]);
    for (int resource = 0; resource < (int)RLIM_NLIMITS; resource++)
        check_limit(resource);
    CHECK_EQ(seen.ignored, 1ul << (SIGHUP - 1) | 1ul << (SIGUSR1 - 1));
    cut_line("parent ");
    cut_line("arg /proc/"); /* where it writes */
    cut_line(r->used == FORKLESS_CLONE3_VM ? "death_signal 0\n" : "death_signal 12\n");
    if (!*reference)
        strcpy(reference, seen.text);
    if (strcmp(seen.text, reference) != 0) {
        fprintf(stderr, "%s:\n%s\nbut:\n%s\n", r->name, seen.text, reference);
        check_failed(__FILE__, __LINE__, r->name);
    }
}

TEST(all_attributes_make_the_same_child_on_each_route) {
    reference =
        mmap(NULL, sizeof seen.text, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    CHECK(reference != MAP_FAILED);
    CHECK_EQ(prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0), 0); /* as filters do */
    on_each_route(all_attributes);
    CHECK(*reference);
}

/* ---- affinity ---- */

static void affinity(const struct route *r) {
    char line[32];
    unsigned char bytes[128] = {0}; /* as much of a set as there are CPUs, and more than that */
    unsigned cpu = last_cpu();
    bytes[cpu / 8] = (unsigned char)(1u << cpu % 8);
    snprintf(line, sizeof line, "cpus %u", cpu);
    const size_t sizes[] = {cpu / 64 * 8 + 8, sizeof bytes};
    for (int i = 0; i < 2; i++) {
        struct show s = show_new();
        CHECK_EQ(forkless_command_affinity(s.command, bytes, sizes[i]), 0);
        show_on(r, &s);
        check_line("affinity", line);
    }
}

TEST(affinity_on_each_route) {
    on_each_route(affinity);
}

/* ---- what is set twice, and what is relative ---- */

TEST(the_last_one_counts) {
    const struct rlimit first = {10, 20};
    struct show s = show_new();
    set_group(s.command);
    CHECK_EQ(forkless_command_cwd(s.command, "/nonexistent"), 0);
    CHECK_EQ(forkless_command_cwd_fd(s.command, 999), 0);
    set_cwd(s.command);
    CHECK_EQ(forkless_command_umask(s.command, 0), 0);
    set_umask(s.command);
    CHECK_EQ(forkless_command_rlimit(s.command, RLIMIT_NOFILE, &first), 0);
    set_limit(s.command, RLIMIT_NOFILE);
    CHECK_EQ(forkless_command_nice(s.command, 19), 0);
    set_nice(s.command);
    set_idle(s.command);
    set_batch(s.command);
    set_idle_io(s.command);
    set_best_effort(s.command);
    CHECK_EQ(forkless_command_death_signal(s.command, SIGKILL), 0);
    set_death_signal(s.command);
    set_no_new_privs(s.command);
    set_session(s.command); /* with its group */
    CHECK_EQ(forkless_command_group(s.command, 0), 0);
    show_run(&s, forkless_spawn, &seen);
    for (int i = 0; i < ATTRIBUTES; i++)
        for (int k = 0; k < 2 && !attributes[i].alone && attributes[i].lines[k]; k++)
            check_line(attributes[i].name, attributes[i].lines[k]);
    check_limit(RLIMIT_NOFILE);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(each_attribute_on_each_route),
        cmocka_unit_test(each_limit_on_each_route),
        cmocka_unit_test(b16_limit_of_descriptors_after_the_maps),
        cmocka_unit_test(all_attributes_make_the_same_child_on_each_route),
        cmocka_unit_test(affinity_on_each_route),
        cmocka_unit_test(the_last_one_counts),
    };
    return RUN(tests);
}
