/* The page tables of the process that runs, as the CPU reads them. x86_64. */
#ifndef PAGES_BPF_H
#define PAGES_BPF_H

#include "types.bpf.h"
#include "cow.h"

enum {
    PAGE_PRESENT = 1 << 0,
    PAGE_WRITE = 1 << 1,
    PAGE_LEAF = 1 << 7,
    PAGE_NONE = 1 << 8, /* without PRESENT: mapped, but to be faulted on (NUMA balancing) */
    PAGE_SHIFT = 12,
    TABLE_SHIFT = 9,
    MOST_LEVELS = 5,
};

struct cow_memory memory;

static struct cow_leaf find_leaf(struct mm_struct *mm, __u64 address) {
    __u64 table = (__u64)BPF_CORE_READ(mm, pgd);
    struct cow_leaf leaf = {.shift = PAGE_SHIFT + TABLE_SHIFT * memory.levels};
    for (int i = 0; i < MOST_LEVELS; i++) {
        leaf.shift -= TABLE_SHIFT;
        __u64 index = address >> (leaf.shift & 63) & ((1 << TABLE_SHIFT) - 1);
        leaf.error = (__s32)bpf_probe_read_kernel(&leaf.entry, sizeof leaf.entry,
                                                  (void *)(table + index * sizeof leaf.entry));
        if (leaf.error || !(leaf.entry & PAGE_PRESENT) || leaf.shift <= PAGE_SHIFT ||
            leaf.entry & PAGE_LEAF)
            break;
        table = memory.direct + (leaf.entry & memory.mask);
    }
    return leaf;
}

/* The 4 KiB of memory behind an address, whatever the size of the page. */
static __u64 frame_of(const struct cow_leaf *leaf, __u64 address) {
    __u64 within = (1UL << (leaf->shift & 63)) - 1;
    return (leaf->entry & memory.mask & ~within) | (address & within & ~0xfffUL);
}

#endif
