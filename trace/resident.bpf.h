/* How much memory a process has resident. */
#ifndef RESIDENT_BPF_H
#define RESIDENT_BPF_H

#include "types.bpf.h"

enum { MOST_CPUS = 64 };

const volatile __u32 page; /* bytes */
const volatile __u32 cpus; /* of which each keeps a part of the counters; at most MOST_CPUS */

/* Its one element is at a known place of each CPU's memory: that tells where the rest of it is. */
struct {
    __uint(type, BPF_MAP_TYPE_PERCPU_ARRAY);
    __uint(max_entries, 1);
    __type(key, __u32);
    __type(value, __u64);
} anchor SEC(".maps");

/* A pointer as a number: the verifier forgets what it was once it has been in a map. */
static __u64 number_of(volatile __u64 *slot, const volatile void *pointer) {
    *slot = (__u64)pointer;
    return *slot;
}

static __s64 sum_parts(__u64 parts) {
    __s64 sum = 0;
    __u64 base = 0, *slot, *element;
    __u32 zero = 0;
    if (!(slot = bpf_map_lookup_elem(&anchor, &zero)))
        return 0;
    struct bpf_array *array = (void *)number_of(slot, &anchor);
    bpf_probe_read_kernel(&base, sizeof base, __builtin_preserve_access_index(&array->pptrs[0]));
    for (__u32 i = 0; i < MOST_CPUS && i < cpus; i++) {
        __s32 part = 0;
        if ((element = bpf_map_lookup_percpu_elem(&anchor, &zero, i)))
            bpf_probe_read_kernel(&part, sizeof part,
                                  (void *)(parts + number_of(slot, element) - base));
        sum += part;
    }
    return sum;
}

/* Since 6.2 a counter is a sum and what each CPU has not added to it yet. */
static __s64 read_counter(struct mm_struct *mm, int which) {
    if (!bpf_core_field_exists(mm->rss_stat[0].count)) {
        struct mm_struct___atomic *old = (void *)mm;
        return which == 0   ? BPF_CORE_READ(old, rss_stat.count[0].counter)
               : which == 1 ? BPF_CORE_READ(old, rss_stat.count[1].counter)
                            : BPF_CORE_READ(old, rss_stat.count[3].counter);
    }
    return which == 0
               ? mm->rss_stat[0].count + sum_parts((__u64)BPF_CORE_READ(mm, rss_stat[0].counters))
           : which == 1
               ? mm->rss_stat[1].count + sum_parts((__u64)BPF_CORE_READ(mm, rss_stat[1].counters))
               : mm->rss_stat[3].count + sum_parts((__u64)BPF_CORE_READ(mm, rss_stat[3].counters));
}

/* Bytes: of files, anonymous, and of shared memory. */
static __u64 resident(struct mm_struct *mm) {
    __s64 pages = read_counter(mm, 0) + read_counter(mm, 1) + read_counter(mm, 3);
    return pages > 0 ? (__u64)pages * page : 0;
}

#endif
