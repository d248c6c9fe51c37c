#include "watch.h"

#include <bpf/bpf.h>
#include <bpf/libbpf.h>
#include <errno.h>
#include <forkless.h>
#include <inttypes.h>
#include <linux/perf_event.h>
#include <poll.h>
#include <signal.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/signalfd.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

#include "calibrate.h"
#include "cow.skel.h"
#include "kernel.h"
#include "memory.h"
#include "program.h"
#include "records.h"
#include "spaces.h"

/* A look takes the time of all page tables of the family, in which it cannot map or unmap memory:
 * at most a twentieth of all time goes into that. */
enum { SHARE_OF_LOOKS = 20 };

/* How long it sleeps at most, and how long it reads on without a look at all else. */
enum { SLEEP_MS = 20, SLICE_MS = 100 };

#define MS UINT64_C(1000000)

struct watch {
    const struct watching *asked;
    struct copies *found;
    struct stacks *stacks;
    struct cow_bpf *bpf;
    struct bpf_link **links;
    size_t links_used;
    struct ring_buffer *ring;
    struct records *records;
    struct spaces *spaces;
    forkless_child *child;
    int signals;
    uint64_t begun, next_look, slice_end;
};

static uint64_t now_ns(void) {
    struct timespec time;
    clock_gettime(CLOCK_MONOTONIC, &time);
    return (uint64_t)time.tv_sec * 1000 * MS + (uint64_t)time.tv_nsec;
}

/* ---- the kernel's side ---- */

static int attach_ends(struct watch *w, int cpu) {
    static const uint64_t events[] = {PERF_COUNT_SW_PAGE_FAULTS_MIN, PERF_COUNT_SW_PAGE_FAULTS_MAJ};
    for (size_t i = 0; i < sizeof events / sizeof *events; i++) {
        struct perf_event_attr attributes = {.type = PERF_TYPE_SOFTWARE,
                                             .size = sizeof attributes,
                                             .config = events[i],
                                             .sample_period = 1};
        int fd = (int)syscall(SYS_perf_event_open, &attributes, -1, cpu, -1, PERF_FLAG_FD_CLOEXEC);
        if (fd < 0 && errno == ENODEV)
            return 0; /* the CPU is off */
        if (fd < 0)
            return -errno;
        struct bpf_link *link = bpf_program__attach_perf_event(w->bpf->progs.end_fault, fd);
        if (!link) {
            int error = errno;
            close(fd);
            return -error;
        }
        w->links[w->links_used++] = link;
    }
    return 0;
}

static int attach(struct watch *w) {
    struct cow_bpf *bpf = w->bpf;
    const struct bpf_program *programs[] = {bpf->progs.forked, bpf->progs.executed,
                                            bpf->progs.ended, bpf->progs.begin_user,
                                            bpf->progs.begin_kernel};
    enum { PROGRAMS = sizeof programs / sizeof *programs };
    long cpus = sysconf(_SC_NPROCESSORS_CONF);
    int rc = 0;
    w->links = must(calloc(2 * (size_t)cpus + PROGRAMS, sizeof *w->links));
    for (int cpu = 0; rc == 0 && cpu < cpus; cpu++)
        rc = attach_ends(w, cpu);
    for (size_t i = 0; rc == 0 && i < PROGRAMS; i++) {
        struct bpf_link *link = bpf_program__attach(programs[i]);
        if (link)
            w->links[w->links_used++] = link;
        else
            rc = -errno;
    }
    return rc;
}

static void detach(struct watch *w) {
    while (w->links_used > 0)
        bpf_link__destroy(w->links[--w->links_used]);
}

static int prepare(struct watch *w) {
    int rc, code = kernel_check();
    if (code != OK)
        return code;
    w->bpf = cow_bpf__open();
    if (!w->bpf)
        return kernel_refused("open", errno);
    w->bpf->rodata->view = kernel_pid_namespace();
    w->bpf->rodata->tracer = (__u32)getpid();
    w->bpf->rodata->wanted = (__u32)w->asked->pid;
    if ((rc = cow_bpf__load(w->bpf)) < 0)
        return kernel_refused("load", -rc);
    if ((code = calibrate(w->bpf)) != OK)
        return code;
    w->spaces = spaces_new();
    w->records = records_open();
    if (!w->spaces || !w->records)
        return kernel_refused("perf_event_open(2)", errno);
    return (rc = attach(w)) < 0 ? kernel_refused("attach", -rc) : OK;
}

/* ---- the family ---- */

static void each_member(struct watch *w, void (*each)(void *, pid_t), void *argument) {
    __s32 key, *last = NULL;
    struct cow_member member;
    int map = bpf_map__fd(w->bpf->maps.family);
    for (; bpf_map_get_next_key(map, last, &key) == 0; last = &key)
        if (bpf_map_lookup_elem(map, &key, &member) == 0 && member.pid > 0)
            each(argument, member.pid);
}

static void add_space(void *spaces, pid_t pid) {
    spaces_add(spaces, pid);
}

/* Children that are born meanwhile follow by themselves. */
static int adopt(struct watch *w) {
    struct bpf_link *link = bpf_program__attach_iter(w->bpf->progs.adopt, NULL);
    __u64 before;
    char nothing[64];
    if (!link)
        return kernel_refused("attach", errno);
    do {
        before = w->bpf->bss->members;
        int fd = bpf_iter_create(bpf_link__fd(link));
        if (fd < 0)
            return kernel_refused("iterate", errno);
        while (read(fd, nothing, sizeof nothing) > 0)
            ;
        close(fd);
    } while (w->bpf->bss->members > before);
    bpf_link__destroy(link);
    if (w->bpf->bss->members == 0)
        return complain(USAGE, "there is no process %d that runs a program", (int)w->asked->pid);
    each_member(w, add_space, w->spaces);
    fprintf(stderr, "%s: following %" PRId64 " process%s\n", program_invocation_short_name,
            (int64_t)w->bpf->bss->alive, w->bpf->bss->alive == 1 ? "" : "es");
    return OK;
}

static int launch(struct watch *w) {
    forkless_command *command;
    forkless_error error = {0};
    char sentence[512] = "no memory";
    int rc = forkless_command_new(&command, w->asked->command[0]);
    if (rc < 0)
        return complain(INTERNAL, "%s cannot be started: %s", w->asked->command[0], strerror(-rc));
    forkless_command_search(command);
    for (char **argument = w->asked->command + 1; *argument; argument++)
        forkless_command_arg(command, *argument);
    w->bpf->bss->launching = true;
    rc = forkless_spawn(command, &w->child, &error);
    w->bpf->bss->launching = false;
    forkless_command_free(command);
    if (rc == 0) {
        spaces_add(w->spaces, forkless_pid(w->child));
        return OK;
    }
    forkless_error_print(&error, sentence, sizeof sentence);
    return complain(USAGE, "%s cannot be started: %s", w->asked->command[0], sentence);
}

/* ---- while it runs ---- */

static void add_sharing(void *sharing, pid_t pid) {
    sharing_read(sharing, pid);
}

static void look_at_sharing(struct watch *w) {
    uint64_t start = now_ns();
    struct sharing s = {.at = (double)(start - w->begun) / 1e9, .copies = w->bpf->bss->copies_made};
    each_member(w, add_sharing, &s);
    if (s.processes > 0)
        sharings_add(&w->found->sharings, &s);
    uint64_t now = now_ns(), rest = SHARE_OF_LOOKS * (now - start);
    w->next_look = now + (rest > w->asked->interval_ns ? rest : w->asked->interval_ns);
}

static void take_records(struct watch *w, uint64_t youngest) {
    struct record record;
    while (records_next(w->records, youngest, &record))
        spaces_take(w->spaces, &record);
}

/* What the process had mapped then: the records after that wait. */
static int take_copy(void *watch, void *data, size_t size) {
    struct watch *w = watch;
    const struct cow_copy *copy = data;
    if (size < sizeof *copy || copy->time == 0)
        return 0; /* it only wakes */
    struct stack stack = {.bytes = copy->stack, .size = copy->stack_length};
    memcpy(stack.registers, copy->registers, sizeof stack.registers);
    take_records(w, copy->time);
    struct symbols *symbols = spaces_find(w->spaces, copy->pid);
    /* A record was lost: it may still be there to be asked. */
    if (symbols && !symbols_know(symbols, stack.registers[REGISTER_IP]))
        symbols_read(symbols);
    if (!stacks_add(w->stacks, copy->program, symbols, &stack, copy->kernel))
        w->found->lost.stacks++;
    return now_ns() < w->slice_end ? 0 : -EAGAIN;
}

/* Whether there is more. */
static bool take_some(struct watch *w, uint64_t slice_end) {
    uint64_t now = now_ns();
    w->slice_end = slice_end;
    if (ring_buffer__consume(w->ring) < 0)
        return true;
    take_records(w, now);
    return false;
}

/* From a terminal, the command has had it too. */
static void pass_on(struct watch *w) {
    struct signalfd_siginfo signal;
    if (read(w->signals, &signal, sizeof signal) == sizeof signal && w->child &&
        signal.ssi_code == SI_USER)
        forkless_kill(w->child, (int)signal.ssi_signo, FORKLESS_CHILD);
}

/* Its own affair, but good to know. */
static void tell_end(struct watch *w) {
    forkless_status status;
    const char *name = w->asked->command[0];
    if (forkless_wait(w->child, (int64_t)(now_ns() + 1000 * MS), &status, NULL) < 0)
        return;
    if (status.how == FORKLESS_KILLED)
        complain(OK, "%s was killed by signal %d (%s)", name, status.code, strsignal(status.code));
    else if (status.code != 0)
        complain(OK, "%s ended with status %d", name, status.code);
}

static int follow(struct watch *w) {
    struct pollfd polled[] = {{.fd = w->signals, .events = POLLIN},
                              {.fd = ring_buffer__epoll_fd(w->ring), .events = POLLIN}};
    uint64_t end = w->asked->duration_ns ? w->begun + w->asked->duration_ns : UINT64_MAX;
    bool more = false;
    while (w->bpf->bss->alive > 0) {
        uint64_t now = now_ns();
        if (now >= end) {
            if (w->child)
                forkless_kill(w->child, SIGTERM, FORKLESS_CHILD);
            return OK;
        }
        if (now >= w->next_look)
            look_at_sharing(w);
        poll(polled, 2, more ? 0 : SLEEP_MS);
        if (polled[0].revents) {
            pass_on(w);
            return INTERRUPTED;
        }
        more = take_some(w, now + SLICE_MS * MS);
    }
    if (w->child)
        tell_end(w);
    return OK;
}

/* ---- what came of it ---- */

static void gather(struct watch *w) {
    struct cow_key key, *last = NULL;
    struct cow_mapping mapping;
    struct copies *found = w->found;
    int map = bpf_map__fd(w->bpf->maps.mappings);
    take_some(w, UINT64_MAX);
    for (; bpf_map_get_next_key(map, last, &key) == 0; last = &key)
        if (bpf_map_lookup_elem(map, &key, &mapping) == 0)
            copies_add(found, &key, &mapping);
    copies_sort(found);
    found->stacks_used = stacks_list(w->stacks, &found->stacks);
    found->processes = w->bpf->bss->members;
    found->lost.stacks += w->bpf->bss->lost.stacks;
    found->lost.mappings = w->bpf->bss->lost.mappings;
    found->lost.faults = w->bpf->bss->lost.faults;
    found->lost.processes = w->bpf->bss->lost.processes;
    found->lost_records = records_lost(w->records);
}

static int run(struct watch *w) {
    sigset_t set;
    sigemptyset(&set);
    sigaddset(&set, SIGINT);
    sigaddset(&set, SIGTERM);
    sigprocmask(SIG_BLOCK, &set, NULL);
    w->signals = signalfd(-1, &set, SFD_CLOEXEC);
    w->ring = ring_buffer__new(bpf_map__fd(w->bpf->maps.copies), take_copy, w, NULL);
    if (!w->ring || w->signals < 0)
        return kernel_refused("ring buffer", errno);
    int code = w->asked->pid ? adopt(w) : launch(w);
    /* A command has little to share when it begins. */
    w->begun = now_ns();
    w->next_look = w->begun + (w->child ? w->asked->interval_ns / 10 : 0);
    if (code != OK)
        return code;
    code = follow(w);
    w->found->seconds = (double)(now_ns() - w->begun) / 1e9;
    if (w->bpf->bss->alive > 0)
        look_at_sharing(w);
    detach(w); /* else there may be no end of them */
    gather(w);
    return code;
}

int watch(const struct watching *asked, struct stacks *stacks, struct copies *found) {
    struct watch w = {.asked = asked, .found = found, .stacks = stacks, .signals = -1};
    int code = prepare(&w);
    if (code == OK)
        code = run(&w);
    detach(&w);
    free(w.links);
    ring_buffer__free(w.ring);
    cow_bpf__destroy(w.bpf);
    records_close(w.records);
    spaces_free(w.spaces);
    if (w.signals >= 0)
        close(w.signals);
    forkless_child_free(w.child);
    return code;
}
