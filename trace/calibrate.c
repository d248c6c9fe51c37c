#include "calibrate.h"

#include <bpf/bpf.h>
#include <errno.h>
#include <fcntl.h>
#include <stdbool.h>
#include <stdint.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/sysinfo.h>
#include <unistd.h>

#include "kernel.h"
#include "program.h"

enum { PAGE = 4096, PAGES = 4, HUGE_PAGE = 2 << 20 };

#define GIB (UINT64_C(1) << 30)

struct search {
    struct cow_bpf *bpf;
    char *pages;            /* of ours, */
    uint64_t frames[PAGES]; /* and where in memory they are */
};

static bool look(struct search *s, const void *address) {
    uint64_t arguments[] = {(uintptr_t)address};
    LIBBPF_OPTS(bpf_test_run_opts, run, .ctx_in = arguments, .ctx_size_in = sizeof arguments);
    return bpf_prog_test_run_opts(bpf_program__fd(s->bpf->progs.look), &run) == 0;
}

static uint64_t frame_seen(const struct search *s) {
    const struct cow_leaf *leaf = &s->bpf->bss->looked_at;
    return leaf->error || !(leaf->entry & 1) ? 0 : leaf->entry & s->bpf->bss->memory.mask;
}

/* 0: the kernel does not tell. */
static uint64_t frame_told(int pagemap, const void *address) {
    uint64_t entry = 0;
    if (pread(pagemap, &entry, sizeof entry, (off_t)((uintptr_t)address / PAGE * sizeof entry)) < 0)
        return 0;
    return (entry & ((UINT64_C(1) << 55) - 1)) * PAGE;
}

static bool find_pages(struct search *s) {
    int pagemap = open("/proc/self/pagemap", O_RDONLY | O_CLOEXEC);
    bool told = pagemap >= 0;
    s->pages = mmap(NULL, PAGES * PAGE, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    if (s->pages == MAP_FAILED)
        told = false;
    else /* a huge page would have its end higher up in the tables */
        madvise(s->pages, PAGES * PAGE, MADV_NOHUGEPAGE);
    for (int i = 0; told && i < PAGES; i++) {
        memset(s->pages + i * PAGE, i + 1, PAGE);
        s->frames[i] = frame_told(pagemap, s->pages + i * PAGE);
        told = s->frames[i] != 0;
    }
    if (pagemap >= 0)
        close(pagemap);
    return told;
}

/* Whether what is in `memory` leads to all the pages. */
static bool fits(struct search *s) {
    for (int i = 0; i < PAGES; i++)
        if (!look(s, s->pages + i * PAGE) || s->bpf->bss->looked_at.shift != 12 ||
            frame_seen(s) != s->frames[i])
            return false;
    return true;
}

/* The table of this process lies in what the kernel has mapped one to one, which begins at a whole
 * GiB: below it by at most the size of the memory, and the holes in it. */
static bool find_direct(struct search *s) {
    struct sysinfo info;
    if (sysinfo(&info) < 0 || !look(s, s->pages))
        return false;
    uint64_t table = s->bpf->bss->table / GIB * GIB;
    uint64_t most = 2 * ((uint64_t)info.totalram * info.mem_unit / GIB) + 64;
    for (uint64_t below = 0; below < most; below++) {
        s->bpf->bss->memory.direct = table - below * GIB;
        if (fits(s))
            return true;
    }
    return false;
}

/* An encrypted guest marks its memory with one of the two. */
static const uint64_t masks[] = {
    UINT64_C(0x000ffffffffff000),
    UINT64_C(0x000f7ffffffff000),
    UINT64_C(0x0007fffffffff000),
};

static bool find_tables(struct search *s) {
    struct cow_memory *memory = &s->bpf->bss->memory;
    for (memory->levels = 4; memory->levels <= 5; memory->levels++)
        for (size_t i = 0; i < sizeof masks / sizeof *masks; i++) {
            memory->mask = masks[i];
            if (find_direct(s))
                return true;
        }
    return false;
}

/* What is read before it was ever written is one page of zeros, wherever it is. The mapping stays:
 * it keeps the huge one where it is. 0: there is none. */
static uint64_t find_zero(struct search *s, size_t size) {
    char *area = mmap(NULL, 3 * size, PROT_READ, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    if (area == MAP_FAILED)
        return 0;
    char *first = (char *)(((uintptr_t)area + size - 1) / size * size);
    uint64_t frames[2] = {0};
    madvise(area, 3 * size, size > PAGE ? MADV_HUGEPAGE : MADV_NOHUGEPAGE);
    for (size_t i = 0; i < 2; i++) {
        volatile char *page = first + i * size;
        (void)*page;
        if (look(s, first + i * size) && size == UINT64_C(1) << s->bpf->bss->looked_at.shift)
            frames[i] = frame_seen(s) & ~(uint64_t)(size - 1);
    }
    return frames[0] == frames[1] ? frames[0] : 0;
}

int calibrate(struct cow_bpf *bpf) {
    struct search s = {.bpf = bpf};
    if (!find_pages(&s))
        return complain(UNSUPPORTED, "/proc/self/pagemap does not tell where pages are: copies are "
                                     "told from other faults by that; it takes CAP_SYS_ADMIN");
    bool found = find_tables(&s);
    if (found) {
        bpf->bss->memory.zero = find_zero(&s, PAGE);
        bpf->bss->memory.huge_zero = find_zero(&s, HUGE_PAGE);
    }
    munmap(s.pages, PAGES * PAGE);
    if (!found || !bpf->bss->memory.zero)
        return complain(UNSUPPORTED, "the page tables of this kernel cannot be read: copies cannot "
                                     "be told from other faults");
    return OK;
}
