#include "probe.h"

#include <errno.h>
#include <stdlib.h>
#include <unistd.h>

#include "kernel.h"
#include "program.h"
#include "spawns.skel.h"

struct probe {
    struct spawns_bpf *bpf;
    struct ring_buffer *ring;
};

void probe_close(struct probe *p) {
    if (!p)
        return;
    ring_buffer__free(p->ring);
    spawns_bpf__destroy(p->bpf);
    free(p);
}

static int load(struct probe *p, bool whole_host, uint64_t longer_than) {
    p->bpf = spawns_bpf__open();
    if (!p->bpf)
        return kernel_refused("open", errno);
    p->bpf->rodata->view = kernel_pid_namespace();
    p->bpf->rodata->tracer = (__u32)getpid();
    p->bpf->rodata->page = (__u32)getpagesize();
    p->bpf->rodata->cpus = (__u32)libbpf_num_possible_cpus();
    p->bpf->rodata->whole_host = whole_host;
    p->bpf->rodata->least_call = longer_than;
    int rc = spawns_bpf__load(p->bpf);
    return rc < 0 ? kernel_refused("load", -rc) : OK;
}

int probe_open(struct probe **out, bool whole_host, uint64_t longer_than,
               int (*take)(void *, void *, size_t), void *argument) {
    struct probe *p = *out = calloc(1, sizeof *p);
    if (!p)
        return complain(INTERNAL, "no memory");
    int code = load(p, whole_host, longer_than);
    if (code != OK)
        return code;
    p->ring = ring_buffer__new(bpf_map__fd(p->bpf->maps.records), take, argument, NULL);
    if (!p->ring)
        return kernel_refused("map the ring buffer", errno);
    int rc = spawns_bpf__attach(p->bpf);
    return rc < 0 ? kernel_refused("attach", -rc) : OK;
}

bool probe_follow(void *probe, pid_t pid) {
    struct probe *p = probe;
    __u64 nothing = 0;
    return bpf_map__update_elem(p->bpf->maps.tree, &pid, sizeof pid, &nothing, sizeof nothing,
                                BPF_ANY) == 0;
}

void probe_launch(struct probe *p, bool begin) {
    p->bpf->bss->launching = begin;
}

void probe_know(struct probe *p, const struct known_key *key, const struct known_stack *stack) {
    bpf_map__update_elem(p->bpf->maps.known_stacks, key, sizeof *key, stack, sizeof *stack,
                         BPF_ANY);
}

void probe_forget(struct probe *p, const struct known_key *key) {
    bpf_map__delete_elem(p->bpf->maps.known_stacks, key, sizeof *key, 0);
}

int probe_descriptor(const struct probe *p) {
    return ring_buffer__epoll_fd(p->ring);
}

int probe_take(struct probe *p) {
    int rc = ring_buffer__consume(p->ring);
    return rc < 0 ? rc : 0;
}

bool probe_is_lossy(const struct probe *p) {
    return p->bpf->bss->lost.records + p->bpf->bss->lost.entries > 0;
}

struct spawn_lost probe_lost(const struct probe *p) {
    struct spawn_lost lost = p->bpf->bss->lost;
    lost.entries += kernel_misses(p->bpf->obj);
    return lost;
}
