#include "phases_probe.h"

#include <bpf/bpf.h>
#include <errno.h>
#include <stdlib.h>
#include <unistd.h>

#include "kernel.h"
#include "phases.skel.h"
#include "program.h"

struct phases_probe {
    struct phases_bpf *bpf;
    struct ring_buffer *ring;
};

void phases_close(struct phases_probe *p) {
    if (!p)
        return;
    ring_buffer__free(p->ring);
    phases_bpf__destroy(p->bpf);
    free(p);
}

static int load(struct phases_probe *p, bool whole_host) {
    p->bpf = phases_bpf__open();
    if (!p->bpf)
        return kernel_refused("open", errno);
    p->bpf->rodata->view = kernel_pid_namespace();
    p->bpf->rodata->tracer = (__u32)getpid();
    p->bpf->rodata->whole_host = whole_host;
    int rc = phases_bpf__load(p->bpf);
    return rc < 0 ? kernel_refused("load", -rc) : OK;
}

int phases_open(struct phases_probe **out, bool whole_host, int (*take)(void *, void *, size_t),
                void *argument) {
    struct phases_probe *p = *out = calloc(1, sizeof *p);
    if (!p)
        return complain(INTERNAL, "no memory");
    int code = load(p, whole_host);
    if (code != OK)
        return code;
    p->ring = ring_buffer__new(bpf_map__fd(p->bpf->maps.records), take, argument, NULL);
    if (!p->ring)
        return kernel_refused("map the ring buffer", errno);
    int rc = phases_bpf__attach(p->bpf);
    return rc < 0 ? kernel_refused("attach", -rc) : OK;
}

bool phases_follow(void *probe, pid_t pid) {
    struct phases_probe *p = probe;
    __u64 nothing = 0;
    return bpf_map__update_elem(p->bpf->maps.tree, &pid, sizeof pid, &nothing, sizeof nothing,
                                BPF_ANY) == 0;
}

void phases_launch(struct phases_probe *p, bool begin) {
    p->bpf->bss->launching = begin;
}

int phases_take(struct phases_probe *p) {
    int rc = ring_buffer__consume(p->ring);
    return rc < 0 ? rc : 0;
}

bool phases_look_up(const struct phases_probe *p, pid_t child, struct phases_record *out) {
    return bpf_map__lookup_elem(p->bpf->maps.children, &child, sizeof child, out, sizeof *out, 0) ==
           0;
}

struct phases_lost phases_lost(const struct phases_probe *p) {
    struct phases_lost lost = p->bpf->bss->lost;
    lost.entries += kernel_misses(p->bpf->obj);
    return lost;
}
