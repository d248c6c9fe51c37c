/*
 * The pool of slots. It grows in chunks that double and are never unmapped. Two lists hold the
 * slots that nobody has: free ones, and retired ones, given back while their child might still need
 * them. The lists are lock-free, by number, with a tag against ABA.
 *
 * A host's fork() copies slots whose words no kernel will ever clear. Chunks and lists are
 * therefore wiped in its child (MADV_WIPEONFORK, Linux 4.14), which finds every slot unused. Only
 * the chunks' addresses, still right there, stay.
 */
#include "slot.h"

#include <errno.h>
#include <sys/mman.h>
#include <unistd.h>

#include "error.h"
#include "reap.h"

enum { FIRST_CHUNK = 16, CHUNKS = 16, RECORD = 1024 };
_Static_assert(sizeof(forkless_child) <= RECORD,
               "the handle has the last KiB of the stack's pages");

struct lists {
    _Atomic uint64_t free, retired; /* tag << 32 | number of the first slot */
    _Atomic uint32_t fresh;         /* slots that were ever taken */
};

static _Atomic(struct lists *) lists;
static _Atomic(char *) chunks[CHUNKS];

static size_t page(void) {
    return (size_t)sysconf(_SC_PAGESIZE);
}

/* A guard page, then the stack, then the handle. */
static size_t body(void) {
    return (FL_STACK_SIZE + RECORD + page() - 1) / page() * page();
}

static size_t stride(void) {
    return page() + body();
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

static forkless_child *by_number(uint32_t number) {
    uint32_t index;
    unsigned k = chunk_of(number, &index);
    return at(atomic_load_explicit(&chunks[k], memory_order_acquire), index);
}

static void push(_Atomic uint64_t *list, forkless_child *slot) {
    uint64_t old = atomic_load_explicit(list, memory_order_relaxed), new;
    do {
        atomic_store_explicit(&slot->next, (uint32_t)old, memory_order_relaxed);
        new = ((old >> 32) + 1) << 32 | slot->number;
    } while (!atomic_compare_exchange_weak_explicit(list, &old, new, memory_order_release,
                                                    memory_order_relaxed));
}

static forkless_child *pop(_Atomic uint64_t *list) {
    uint64_t old = atomic_load_explicit(list, memory_order_acquire), new;
    forkless_child *slot;
    do {
        if ((uint32_t)old == 0)
            return NULL;
        slot = by_number((uint32_t)old);
        new = ((old >> 32) + 1) << 32 | atomic_load_explicit(&slot->next, memory_order_relaxed);
    } while (!atomic_compare_exchange_weak_explicit(list, &old, new, memory_order_acquire,
                                                    memory_order_acquire));
    return slot;
}

/* Memory that a fork's child finds wiped; NULL with errno. */
static char *map(size_t size) {
    char *start = mmap(NULL, size, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    if (start == MAP_FAILED)
        return NULL;
    if (madvise(start, size, MADV_WIPEONFORK) == 0)
        return start;
    int code = errno;
    munmap(start, size);
    errno = code;
    return NULL;
}

static char *map_chunk(uint32_t slots) {
    size_t size = slots * stride();
    char *start = map(size);
    for (uint32_t i = 0; start && i < slots; i++)
        if (mprotect(start + i * stride(), page(), PROT_NONE) < 0) {
            int code = errno;
            munmap(start, size);
            errno = code;
            return NULL;
        }
    return start;
}

/* Several threads may find something missing at once: the first one's stays. */
static int find_lists(struct lists **out) {
    *out = atomic_load_explicit(&lists, memory_order_acquire);
    if (*out)
        return 0;
    struct lists *mine = (struct lists *)(void *)map(page());
    if (!mine)
        return -errno;
    if (atomic_compare_exchange_strong(&lists, out, mine))
        *out = mine;
    else
        munmap(mine, page());
    return 0;
}

static int find_chunk(unsigned k) {
    char *there = atomic_load_explicit(&chunks[k], memory_order_acquire);
    if (there)
        return 0;
    uint32_t slots = (uint32_t)FIRST_CHUNK << k;
    char *mine = map_chunk(slots);
    if (!mine)
        return -errno;
    if (!atomic_compare_exchange_strong(&chunks[k], &there, mine))
        munmap(mine, slots * stride());
    return 0;
}

static int take_fresh(struct lists *l, forkless_child **out) {
    uint32_t index, taken = atomic_load(&l->fresh);
    do {
        unsigned k = chunk_of(taken + 1, &index);
        int rc = k < CHUNKS ? find_chunk(k) : -EAGAIN;
        if (rc < 0)
            return rc;
    } while (!atomic_compare_exchange_weak(&l->fresh, &taken, taken + 1));
    forkless_child *slot = by_number(taken + 1);
    slot->number = taken + 1;
    slot->pidfd = -1;
    pthread_mutex_init(&slot->lock, NULL);
    *out = slot;
    return 0;
}

static void collect(struct lists *l) {
    uint32_t number = (uint32_t)atomic_exchange_explicit(&l->retired, 0, memory_order_acquire);
    while (number) {
        forkless_child *slot = by_number(number);
        number = atomic_load_explicit(&slot->next, memory_order_relaxed);
        if (fl_reap_abandoned(slot))
            fl_slot_give(slot);
        else
            push(&l->retired, slot);
    }
}

int fl_slot_take(forkless_child **out) {
    int saved = errno;
    struct lists *l;
    int rc = find_lists(&l);
    if (rc == 0) {
        *out = pop(&l->free);
        if (!*out) {
            collect(l);
            *out = pop(&l->free);
        }
        if (!*out)
            rc = take_fresh(l, out);
    }
    errno = saved;
    return rc;
}

void fl_slot_give(forkless_child *slot) {
    if (slot->command)
        fl_command_drop(slot->command);
    slot->command = NULL;
    slot->record = (struct fl_record){0};
    slot->status = (forkless_status){0};
    slot->reaped = false;
    slot->pidfd = -1;
    slot->pid = 0;
    push(&lists->free, slot);
}

void fl_slot_retire(forkless_child *slot) {
    push(&lists->retired, slot);
}

bool fl_slot_is_ours(const forkless_child *slot) {
    return slot->number != 0;
}

int fl_record_error(const forkless_child *slot, forkless_error *error) {
    const struct fl_record *r = &slot->record;
    const char *subject = r->step == FORKLESS_STEP_EXEC ? slot->command->program : NULL;
    return fl_error(error, r->code, r->step, r->index, subject);
}
