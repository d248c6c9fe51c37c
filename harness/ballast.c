#include "ballast.h"

#include <errno.h>
#include <malloc.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <unistd.h>

#include "memory.h"

#ifndef MADV_POPULATE_READ
#define MADV_POPULATE_READ  22
#define MADV_POPULATE_WRITE 23
#endif

enum { PAGE = 4096, PRIVATE = MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE };
static const uint64_t HUGE_PAGE = UINT64_C(2) << 20, GIB = UINT64_C(1) << 30;

/* A block of the heap; the rest of it is not looked at. */
struct piece {
    struct piece *next;
    uint64_t written;
};

static struct {
    char *start; /* of all of it but a heap */
    uint64_t bytes;
    struct piece *heap;
} made;

static int map(uint64_t bytes, int flags, int fd) {
    made.start = mmap(NULL, bytes, PROT_READ | PROT_WRITE, flags, fd, 0);
    if (made.start == MAP_FAILED)
        return -errno;
    made.bytes = bytes;
    return 0;
}

static int populate(void) {
    if (madvise(made.start, made.bytes, MADV_POPULATE_WRITE) == 0)
        return 0;
    if (errno != EINVAL)
        return -errno;
    ballast_rewrite(); /* before Linux 5.14 */
    return 0;
}

static int make_private(uint64_t bytes) {
    int rc = map(bytes, PRIVATE, -1);
    /* ENOSYS and EINVAL: no such kernel option, so no huge pages to avoid. */
    if (rc == 0)
        madvise(made.start, bytes, MADV_NOHUGEPAGE);
    return rc < 0 ? rc : populate();
}

/* Its start is moved to where a huge page can begin. */
static int make_thp(uint64_t bytes) {
    int rc = map(bytes + HUGE_PAGE, PRIVATE, -1);
    if (rc < 0)
        return rc;
    uint64_t before = -(uintptr_t)made.start % HUGE_PAGE;
    munmap(made.start, before);
    munmap(made.start + before + bytes, HUGE_PAGE - before);
    made.start += before;
    made.bytes = bytes;
    if (madvise(made.start, bytes, MADV_HUGEPAGE) < 0)
        return errno == EINVAL ? -ENOTSUP : -errno;
    return populate();
}

static int make_hugetlb(uint64_t bytes) {
    int rc =
        map(bytes, MAP_PRIVATE | MAP_ANONYMOUS | MAP_HUGETLB, -1); /* reserved now, or ENOMEM */
    return rc < 0 ? rc : populate();
}

static int make_shared(uint64_t bytes) {
    int rc = map(bytes, MAP_SHARED | MAP_ANONYMOUS | MAP_NORESERVE, -1);
    if (rc == 0)
        madvise(made.start, bytes, MADV_NOHUGEPAGE);
    return rc < 0 ? rc : populate();
}

/* Sizes of 24 to 2,071 bytes, odd ones among them; every third block is freed again. */
static int make_heap(uint64_t bytes) {
    uint64_t random = 1, taken = 0;
    struct piece *freed = NULL;
    prctl(PR_SET_THP_DISABLE, 1, 0, 0, 0); /* until it is made: children would inherit it */
    mallopt(M_MMAP_THRESHOLD, 1 << 30);    /* what else this process asks for is in it as well */
    for (unsigned n = 0; taken < bytes; n++) {
        random = random * UINT64_C(6364136223846793005) + 1442695040888963407;
        struct piece *piece = malloc(24 + (random >> 33) % 2048);
        if (!piece)
            return -ENOMEM;
        struct piece **list = n % 3 == 2 ? &freed : &made.heap;
        /* Every page of a block is written: none is as long as one. */
        taken += malloc_usable_size(piece) + sizeof(size_t);
        ((char *)piece)[malloc_usable_size(piece) - 1] = 1;
        *piece = (struct piece){.next = *list};
        *list = piece;
    }
    for (struct piece *next; freed; freed = next) {
        next = freed->next;
        free(freed);
    }
    prctl(PR_SET_THP_DISABLE, 0, 0, 0, 0);
    return 0;
}

/* One file of memory, mapped part by part as often as it takes: from its end on, so that neighbours
 * do not merge. A page that was written gives each mapping what makes fork copy its page tables: an
 * anon_vma. */
static int make_simulated(uint64_t bytes) {
    int fd = memfd_create("ballast", MFD_CLOEXEC), rc = 0;
    if (fd < 0 || ftruncate(fd, (off_t)(SIMULATED_PARTS * GIB)) < 0)
        rc = -errno;
    if (rc == 0)
        rc = map(bytes, PRIVATE, -1); /* the place for all of them */
    for (uint64_t at = 0; at < bytes && rc == 0; at += GIB) {
        uint64_t from = SIMULATED_PARTS - 1 - at / GIB % SIMULATED_PARTS;
        char *part = mmap(made.start + at, GIB, PROT_READ | PROT_WRITE,
                          MAP_PRIVATE | MAP_FIXED | MAP_NORESERVE, fd, (off_t)(from * GIB));
        if (part == MAP_FAILED)
            return -errno;
        madvise(part, GIB, MADV_NOHUGEPAGE);
        *(volatile char *)part = 1;
        if (madvise(part, GIB, MADV_POPULATE_READ) < 0)
            rc = -errno;
        for (uint64_t page = 0; page < GIB && rc == -EINVAL; page += PAGE) /* before Linux 5.14 */
            (void)*(volatile char *)(part + page);
        rc = rc == -EINVAL ? 0 : rc;
    }
    if (fd >= 0)
        close(fd);
    return rc;
}

/* Of one page each, which is never touched. Neighbours do not merge where they may not be written
 * alike. */
static int make_mappings(uint64_t count) {
    if (count == 0)
        return 0;
    char *start = mmap(NULL, count * PAGE, PROT_READ | PROT_WRITE,
                       MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
    if (start == MAP_FAILED)
        return -errno;
    for (uint64_t i = 1; i < count; i += 2)
        if (mprotect(start + i * PAGE, PAGE, PROT_READ) < 0)
            return -errno;
    return 0;
}

int ballast_make(const struct ballast *ballast) {
    static int (*const make[])(uint64_t) = {
        [PAGES_4K] = make_private,    [PAGES_THP] = make_thp,   [PAGES_HUGETLB] = make_hugetlb,
        [PAGES_SHARED] = make_shared, [PAGES_HEAP] = make_heap, [PAGES_SIMULATED] = make_simulated,
    };
    int rc = ballast->rss ? make[ballast->pages](ballast->rss) : 0;
    return rc < 0 ? rc : make_mappings(ballast->mappings);
}

void ballast_rewrite(void) {
    for (uint64_t at = 0; at < made.bytes; at += PAGE)
        ++*(volatile char *)(made.start + at);
    for (volatile struct piece *piece = made.heap; piece; piece = piece->next)
        ++piece->written;
}

int ballast_leave_out(bool out) {
    if (!made.start)
        return 0;
    if (madvise(made.start, made.bytes, out ? MADV_DONTFORK : MADV_DOFORK) < 0)
        return -errno;
    return has_flag(made.start, " dc ") == out ? 0 : -EIO;
}
