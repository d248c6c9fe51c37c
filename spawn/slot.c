/*
 * The pool of slots. It grows in chunks that double and are never unmapped. Two lists hold the
 * slots that nobody has: free ones, and retired ones, given back while their child might still need
 * them. The lists are lock-free, by number, with a tag against ABA.
 *
 * A host's fork() copies slots whose words no kernel will ever clear. Chunks and the pool itself
 * are therefore wiped in its child (MADV_WIPEONFORK, Linux 4.14), which begins with an empty pool.
 * It does not use the old chunks again: a handle from before the fork stays all zero.
 */
#include "slot.h"

#include <errno.h>
#include <limits.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <unistd.h>

#include "arch/syscall.h"
#include "clock.h"
#include "reap.h"

enum { FIRST_CHUNK = 16, CHUNKS = 16, RECORD = 1024, ROOM = 16 * 1024 };
_Static_assert(sizeof(forkless_child) <= RECORD,
               "the handle has the last KiB of the stack's pages");

struct pool {
    _Atomic uint64_t free, retired; /* tag << 32 | number of the first slot */
    _Atomic uint64_t births;        /* children that were ever to be */
    _Atomic uint32_t fresh;         /* slots that were ever taken */
    _Atomic(char *) chunks[CHUNKS];
};

static _Atomic(struct pool *) pool;

static const struct fl_helped not_helped = {
    .program = -1, .job = -1, .cgroup = -1, .theirs = -1, .ours = -1};

static size_t page(void) {
    return (size_t)sysconf(_SC_PAGESIZE);
}

static size_t whole_pages(size_t size) {
    return (size + page() - 1) / page() * page();
}

/* Room, a guard page, then the stack with the handle behind it. */
static size_t body(void) {
    return whole_pages(FL_STACK_SIZE + RECORD);
}

static size_t stride(void) {
    return whole_pages(ROOM) + page() + body();
}

static forkless_child *at(char *chunk, uint32_t i) {
    return (forkless_child *)(void *)(chunk + (i + 1) * stride() - RECORD);
}

void *fl_slot_stack(forkless_child *slot) {
    return (char *)slot - FL_STACK_SIZE;
}

/* Which chunk a number is in, and where there. */
static unsigned chunk_of(uint32_t number, uint32_t *index) {
    unsigned k = 31 - (unsigned)__builtin_clz((number - 1) / FIRST_CHUNK + 1);
    *index = number - 1 - FIRST_CHUNK * ((1u << k) - 1);
    return k;
}

static forkless_child *by_number(struct pool *p, uint32_t number) {
    uint32_t index;
    unsigned k = chunk_of(number, &index);
    return at(atomic_load_explicit(&p->chunks[k], memory_order_acquire), index);
}

static void push(_Atomic uint64_t *list, forkless_child *slot) {
    uint64_t old = atomic_load_explicit(list, memory_order_relaxed), new;
    do {
        atomic_store_explicit(&slot->next, (uint32_t)old, memory_order_relaxed);
        new = ((old >> 32) + 1) << 32 | slot->number;
    } while (!atomic_compare_exchange_weak_explicit(list, &old, new, memory_order_release,
                                                    memory_order_relaxed));
}

static forkless_child *pop(struct pool *p) {
    uint64_t old = atomic_load_explicit(&p->free, memory_order_acquire), new;
    forkless_child *slot;
    do {
        if ((uint32_t)old == 0)
            return NULL;
        slot = by_number(p, (uint32_t)old);
        new = ((old >> 32) + 1) << 32 | atomic_load_explicit(&slot->next, memory_order_relaxed);
    } while (!atomic_compare_exchange_weak_explicit(&p->free, &old, new, memory_order_acquire,
                                                    memory_order_acquire));
    return slot;
}

char *fl_map_wiped(size_t size, int protection) {
    char *start = mmap(NULL, size, protection, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
    if (start == MAP_FAILED)
        return NULL;
    if (madvise(start, size, MADV_WIPEONFORK) == 0)
        return start;
    int code = errno;
    munmap(start, size);
    errno = code;
    return NULL;
}

/* Several threads may find something missing at once: the first one's stays. */
static int find_pool(struct pool **out) {
    *out = atomic_load_explicit(&pool, memory_order_acquire);
    if (*out)
        return 0;
    struct pool *mine = (struct pool *)(void *)fl_map_wiped(page(), PROT_READ | PROT_WRITE);
    if (!mine)
        return -errno;
    if (atomic_compare_exchange_strong(&pool, out, mine))
        *out = mine;
    else
        munmap(mine, page());
    return 0;
}

/* A chunk is one mapping without access: slots that were never taken cost nothing, and all have
 * their guard page. */
static int find_chunk(struct pool *p, unsigned k) {
    char *there = atomic_load_explicit(&p->chunks[k], memory_order_acquire);
    if (there)
        return 0;
    size_t size = ((size_t)FIRST_CHUNK << k) * stride();
    char *mine = fl_map_wiped(size, PROT_NONE);
    if (!mine)
        return -errno;
    if (!atomic_compare_exchange_strong(&p->chunks[k], &there, mine))
        munmap(mine, size);
    return 0;
}

/* Two threads may open the same slot; one of them gets it. */
static int open_slot(struct pool *p, uint32_t number) {
    uint32_t index;
    unsigned k = chunk_of(number, &index);
    int rc = k < CHUNKS ? find_chunk(p, k) : -EAGAIN;
    if (rc < 0)
        return rc;
    char *top = (char *)by_number(p, number) + RECORD;
    return mprotect(top - body(), body(), PROT_READ | PROT_WRITE) < 0 ? -errno : 0;
}

static int take_fresh(struct pool *p, forkless_child **out) {
    uint32_t taken = atomic_load(&p->fresh);
    do {
        int rc = open_slot(p, taken + 1);
        if (rc < 0)
            return rc;
    } while (!atomic_compare_exchange_weak(&p->fresh, &taken, taken + 1));
    forkless_child *slot = by_number(p, taken + 1);
    slot->number = taken + 1;
    slot->pidfd = -1;
    slot->cgroup_kept = -1;
    slot->helped = not_helped;
    pthread_mutex_init(&slot->lock, NULL);
    *out = slot;
    return 0;
}

void fl_slot_give(forkless_child *slot) {
    if (slot->command)
        fl_command_drop(slot->command);
    slot->command = NULL;
    slot->prepared = NULL;
    slot->record = (struct fl_record){0};
    slot->pipe_count = 0;
    slot->helped = not_helped;
    slot->room_used = 0;
    fl_arguments_drop(slot->arguments);
    slot->arguments = NULL;
    free(slot->argv_of_pack);
    slot->argv_of_pack = NULL;
    slot->stamps = (struct fl_stamps){0};
    slot->host = NULL;
    atomic_store_explicit(&slot->held, false, memory_order_relaxed);
    slot->status = (forkless_status){0};
    slot->reaped = false;
    slot->has_no_pidfd = false;
    slot->unknown = false;
    slot->pidfd = -1;
    slot->pid = 0;
    push(&pool->free, slot);
}

static void collect(struct pool *p) {
    if ((uint32_t)atomic_load_explicit(&p->retired, memory_order_relaxed) == 0)
        return;
    uint32_t number = (uint32_t)atomic_exchange_explicit(&p->retired, 0, memory_order_acquire);
    while (number) {
        forkless_child *slot = by_number(p, number);
        number = atomic_load_explicit(&slot->next, memory_order_relaxed);
        if (fl_reap_abandoned(slot))
            fl_slot_give(slot);
        else
            push(&p->retired, slot);
    }
}

void fl_slot_collect(void) {
    struct pool *p = atomic_load_explicit(&pool, memory_order_acquire);
    if (p)
        collect(p);
}

void fl_slot_end(forkless_child *slot) {
    collect(pool);
    if (fl_reap_abandoned(slot))
        fl_slot_give(slot);
    else
        push(&pool->retired, slot);
}

int fl_slot_take(forkless_child **out) {
    struct pool *p;
    int rc = find_pool(&p);
    if (rc < 0)
        return rc;
    *out = pop(p);
    if (!*out) {
        collect(p);
        *out = pop(p);
    }
    return *out ? 0 : take_fresh(p, out);
}

bool fl_slot_is_ours(const forkless_child *slot) {
    return slot->number != 0;
}

bool fl_slot_is_held(const forkless_child *slot) {
    return slot && atomic_load_explicit(&slot->held, memory_order_relaxed);
}

void fl_slot_number_birth(forkless_child *slot) {
    uint64_t birth = atomic_fetch_add_explicit(&pool->births, 1, memory_order_relaxed) + 1;
    atomic_store_explicit(&slot->birth, birth, memory_order_relaxed);
}

uint64_t fl_slot_last_birth(void) {
    struct pool *p = atomic_load_explicit(&pool, memory_order_acquire);
    return p ? atomic_load_explicit(&p->births, memory_order_relaxed) : 0;
}

uint32_t fl_slot_busy_word(const forkless_child *slot) {
    return (uint32_t)atomic_load_explicit(&slot->birth, memory_order_relaxed) << 1 | 1;
}

/* The kernel wakes one waiter when it clears a word, by a futex that is shared: whoever is woken
 * wakes the others. */
int fl_slot_await(forkless_child *slot, uint64_t last_birth, int64_t deadline_ns) {
    uint32_t word;
    while ((word = atomic_load(&slot->word)) != 0 && atomic_load(&slot->birth) <= last_birth) {
        int64_t ns = fl_left(deadline_ns);
        if (ns == 0)
            return -ETIMEDOUT;
        struct timespec timeout = fl_timespec(ns);
        fl_syscall(SYS_futex, (long)&slot->word, FL_FUTEX_WAIT, word, (long)&timeout, 0);
        fl_syscall(SYS_futex, (long)&slot->word, FL_FUTEX_WAKE, INT_MAX, 0, 0);
    }
    return 0;
}

static char *room_of(forkless_child *slot) {
    return (char *)slot + RECORD - stride();
}

int fl_slot_open_room(forkless_child *slot) {
    if (!slot->room_open && mprotect(room_of(slot), whole_pages(ROOM), PROT_READ | PROT_WRITE) < 0)
        return -errno;
    slot->room_open = true;
    return 0;
}

void *fl_slot_room(forkless_child *slot, size_t size) {
    size_t from = slot->room_used;
    if (size > ROOM - from)
        return NULL;
    slot->room_used = (from + size + 15) / 16 * 16;
    return room_of(slot) + from;
}

forkless_child *fl_slot_by_number(uint32_t number) {
    struct pool *p = atomic_load_explicit(&pool, memory_order_acquire);
    if (!p || number > atomic_load_explicit(&p->fresh, memory_order_acquire))
        return NULL;
    return by_number(p, number);
}
