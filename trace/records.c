#include "records.h"

#include <errno.h>
#include <linux/perf_event.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

/* Of a ring. Who may lock less memory gets a smaller one. */
enum { MOST_PAGES = 256, LEAST_PAGES = 8, LARGEST = 1 << 16 };

struct ring { /* of one CPU */
    int fd;
    struct perf_event_mmap_page *head;
    size_t size;  /* without the page of its head */
    bool waiting; /* `next` is one that nobody has taken */
    struct record next;
    char bytes[LARGEST] __attribute__((aligned(8)));
};

struct records {
    size_t count, page;
    uint64_t lost;
    struct ring *rings;
};

/* As the kernel writes it. */
struct map_record {
    struct perf_event_header header;
    uint32_t pid, tid;
    uint64_t start, length, offset;
    uint32_t major, minor;
    uint64_t inode, generation;
    uint32_t protection, flags;
    char path[];
};

struct task_record {
    struct perf_event_header header;
    uint32_t pid, parent, tid, parent_tid;
};

struct name_record {
    struct perf_event_header header;
    uint32_t pid, tid;
};

struct lost_record {
    struct perf_event_header header;
    uint64_t id, lost;
};

static int open_cpu(int cpu) {
    struct perf_event_attr attributes = {
        .type = PERF_TYPE_SOFTWARE,
        .size = sizeof attributes,
        .config = PERF_COUNT_SW_DUMMY,
        .sample_type = PERF_SAMPLE_TIME,
        .sample_id_all = 1,
        .mmap = 1,
        .mmap2 = 1,
        .comm = 1,
        .comm_exec = 1,
        .task = 1,
        .use_clockid = 1,
        .clockid = CLOCK_MONOTONIC,
    };
    return (int)syscall(SYS_perf_event_open, &attributes, -1, cpu, -1, PERF_FLAG_FD_CLOEXEC);
}

static bool add_cpu(struct records *r, int cpu) {
    struct ring *ring = &r->rings[r->count];
    int fd = open_cpu(cpu);
    if (fd < 0)
        return errno == ENODEV; /* it is off */
    void *head = MAP_FAILED;
    for (size_t pages = MOST_PAGES; head == MAP_FAILED && pages >= LEAST_PAGES; pages /= 2) {
        ring->size = pages * r->page;
        head = mmap(NULL, r->page + ring->size, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
    }
    if (head == MAP_FAILED) {
        close(fd);
        return false;
    }
    ring->fd = fd;
    ring->head = head;
    r->count++;
    return true;
}

struct records *records_open(void) {
    long cpus = sysconf(_SC_NPROCESSORS_CONF);
    struct records *r = calloc(1, sizeof *r);
    if (!r)
        return NULL;
    r->page = (size_t)sysconf(_SC_PAGESIZE);
    r->rings = calloc((size_t)cpus, sizeof *r->rings);
    for (int cpu = 0; r->rings && cpu < cpus; cpu++)
        if (!add_cpu(r, cpu)) {
            int error = errno;
            records_close(r);
            errno = error;
            return NULL;
        }
    if (r->rings)
        return r;
    free(r);
    return NULL;
}

void records_close(struct records *r) {
    if (!r)
        return;
    for (size_t i = 0; i < r->count; i++) {
        munmap(r->rings[i].head, r->page + r->rings[i].size);
        close(r->rings[i].fd);
    }
    free(r->rings);
    free(r);
}

/* One that goes over the end of the ring is in two parts. */
static void copy_out(const struct records *r, const struct ring *ring, uint64_t from, void *to,
                     size_t size) {
    const char *data = (const char *)ring->head + r->page;
    size_t at = (size_t)(from % ring->size);
    size_t first = size < ring->size - at ? size : ring->size - at;
    memcpy(to, data + at, first);
    memcpy((char *)to + first, data, size - first);
}

static void read_map(const struct map_record *m, struct record *to) {
    to->kind = RECORD_MAP;
    to->pid = (pid_t)m->pid;
    to->tid = (pid_t)m->tid;
    to->mapping = (struct mapping){.start = m->start,
                                   .end = m->start + m->length,
                                   .offset = m->offset,
                                   .major = m->major,
                                   .minor = m->minor,
                                   .inode = m->inode,
                                   .executable = true,
                                   .path = m->path};
}

static void read_task(const struct task_record *t, enum record_kind kind, struct record *to) {
    to->kind = kind;
    to->pid = (pid_t)t->pid;
    to->tid = (pid_t)t->tid;
    to->parent = (pid_t)t->parent;
}

/* False: of no use here. */
static bool understand(struct records *r, const char *bytes, struct record *to) {
    const struct perf_event_header *header = (const void *)bytes;
    const struct name_record *name = (const void *)bytes;
    memcpy(&to->time, bytes + header->size - sizeof to->time, sizeof to->time);
    switch (header->type) {
    case PERF_RECORD_MMAP2:
        read_map((const void *)bytes, to);
        return true;
    case PERF_RECORD_FORK:
        read_task((const void *)bytes, RECORD_FORK, to);
        return true;
    case PERF_RECORD_EXIT:
        read_task((const void *)bytes, RECORD_EXIT, to);
        return true;
    case PERF_RECORD_COMM:
        to->kind = RECORD_EXEC;
        to->pid = (pid_t)name->pid;
        to->tid = (pid_t)name->tid;
        return header->misc & PERF_RECORD_MISC_COMM_EXEC;
    case PERF_RECORD_LOST:
        r->lost += ((const struct lost_record *)bytes)->lost;
        return false;
    default:
        return false;
    }
}

static void fetch(struct records *r, struct ring *ring) {
    uint64_t end = __atomic_load_n(&ring->head->data_head, __ATOMIC_ACQUIRE);
    uint64_t at = ring->head->data_tail;
    while (!ring->waiting && at < end) {
        struct perf_event_header header;
        copy_out(r, ring, at, &header, sizeof header);
        copy_out(r, ring, at, ring->bytes, header.size);
        at += header.size;
        ring->waiting = understand(r, ring->bytes, &ring->next);
    }
    __atomic_store_n(&ring->head->data_tail, at, __ATOMIC_RELEASE);
}

bool records_next(struct records *r, uint64_t youngest, struct record *to) {
    struct ring *first = NULL;
    for (size_t i = 0; i < r->count; i++) {
        struct ring *ring = &r->rings[i];
        if (!ring->waiting)
            fetch(r, ring);
        if (ring->waiting && ring->next.time <= youngest &&
            (!first || ring->next.time < first->next.time))
            first = ring;
    }
    if (!first)
        return false;
    *to = first->next;
    first->waiting = false;
    return true;
}

uint64_t records_lost(const struct records *r) {
    return r->lost;
}
