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

static __u64 anchor_base; /* where the anchor's place is counted from; 0: not looked up yet */

/* What the CPUs have not added to three counters yet. */
static __s64 sum_parts(__u64 first, __u64 second, __u64 third) {
    __s64 sum = 0;
    __u64 *slot, *element;
    __u32 zero = 0;
    if (!(slot = bpf_map_lookup_elem(&anchor, &zero)))
        return 0;
    if (!anchor_base) {
        struct bpf_array *array = (void *)number_of(slot, &anchor);
        bpf_probe_read_kernel(&anchor_base, sizeof anchor_base,
                              __builtin_preserve_access_index(&array->pptrs[0]));
    }
    for (__u32 i = 0; i < MOST_CPUS && i < cpus; i++) {
        __s32 part;
        if (!(element = bpf_map_lookup_percpu_elem(&anchor, &zero, i)))
            continue;
        __u64 there = number_of(slot, element) - anchor_base;
        sum += bpf_probe_read_kernel(&part, sizeof part, (void *)(first + there)) ? 0 : part;
        sum += bpf_probe_read_kernel(&part, sizeof part, (void *)(second + there)) ? 0 : part;
        sum += bpf_probe_read_kernel(&part, sizeof part, (void *)(third + there)) ? 0 : part;
    }
    return sum;
}

enum { OF_FILES, ANONYMOUS, SWAPPED, SHARED_MEMORY };

/* Bytes: of files, anonymous, and of shared memory. Since 6.2 a counter is a sum and what each CPU
 * has not added to it yet. */
static __u64 resident(struct mm_struct *mm) {
    __s64 pages;
    if (bpf_core_field_exists(mm->rss_stat[0].count)) {
        struct percpu_counter *all = mm->rss_stat;
        pages = all[OF_FILES].count + all[ANONYMOUS].count + all[SHARED_MEMORY].count +
                sum_parts((__u64)all[OF_FILES].counters, (__u64)all[ANONYMOUS].counters,
                          (__u64)all[SHARED_MEMORY].counters);
    } else {
        struct mm_struct___atomic *old = (void *)mm;
        pages = BPF_CORE_READ(old, rss_stat.count[OF_FILES].counter) +
                BPF_CORE_READ(old, rss_stat.count[ANONYMOUS].counter) +
                BPF_CORE_READ(old, rss_stat.count[SHARED_MEMORY].counter);
    }
    return pages > 0 ? (__u64)pages * page : 0;
}

#endif
