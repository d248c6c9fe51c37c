#include "copies.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "memory.h"

const char *const copies_kinds[COW_KINDS] = {"copies", "reused", "zeros", "shared", "untold"};

static bool is_same(const struct copies_row *row, const struct copies_row *new) {
    if (row->place != new->place || row->device != new->device || row->inode != new->inode)
        return false;
    /* The heap is where it is, and a file may be mapped in several places. */
    return new->place != COW_ELSEWHERE || new->inode != 0 || row->start == new->start;
}

static void name_row(struct copies_row *row, const struct cow_mapping *m) {
    if (row->place == COW_HEAP)
        strcpy(row->name, "[heap]");
    else if (row->place == COW_MAIN_STACK)
        strcpy(row->name, "[stack]");
    else if (row->inode)
        snprintf(row->name, sizeof row->name, "%.*s", COW_NAME, m->name);
    else if (row->start == 0)
        strcpy(row->name, "[not known]");
    else if (m->name[0])
        snprintf(row->name, sizeof row->name, "[anon:%.*s]", COW_NAME, m->name);
    else
        snprintf(row->name, sizeof row->name, "anonymous %" PRIx64, (uint64_t)row->start);
}

static void count(struct copies_row *row, const struct cow_mapping *m) {
    for (unsigned kind = 0; kind < COW_KINDS; kind++)
        for (int by = 0; by < 2; by++)
            row->faults[kind][by] += m->faults[kind][by];
    row->copied += m->copied;
    if (m->end > row->end)
        row->end = m->end;
}

void copies_add(struct copies *c, const struct cow_key *key, const struct cow_mapping *m) {
    struct copies_row new = {
        .device = key->device, .inode = key->inode, .start = key->start, .place = m->place};
    size_t i = 0;
    while (i < c->used && !is_same(&c->rows[i], &new))
        i++;
    if (i == c->used) {
        if (c->used == c->room) {
            c->room = c->room ? 2 * c->room : 64;
            c->rows = must(reallocarray(c->rows, c->room, sizeof *c->rows));
        }
        name_row(&new, m);
        c->rows[c->used++] = new;
    }
    if (key->start < c->rows[i].start)
        c->rows[i].start = key->start;
    count(&c->rows[i], m);
    count(&c->total, m);
}

__u64 copies_of(const struct copies_row *row, unsigned kind) {
    return row->faults[kind][0] + row->faults[kind][1];
}

static int by_copies(const void *left, const void *right) {
    const struct copies_row *a = left, *b = right;
    for (unsigned kind = 0; kind < COW_KINDS; kind++)
        if (copies_of(a, kind) != copies_of(b, kind))
            return copies_of(a, kind) < copies_of(b, kind) ? 1 : -1;
    return (a->start > b->start) - (a->start < b->start);
}

void copies_sort(struct copies *c) {
    if (c->used > 0)
        qsort(c->rows, c->used, sizeof *c->rows, by_copies);
}

void copies_free(struct copies *c) {
    free(c->rows);
    free(c->sharings.list);
}

static const char *s(__u64 count) {
    return count == 1 ? "" : "s";
}

void copies_losses(const struct copies *c, FILE *out) {
    const struct cow_lost *lost = &c->lost;
    if (lost->stacks)
        fprintf(out,
                "The stack%s of %" PRIu64
                " cop%s %s lost: they came faster than they could be read.\n",
                s(lost->stacks), (uint64_t)lost->stacks, lost->stacks == 1 ? "y" : "ies",
                lost->stacks == 1 ? "is" : "are");
    if (lost->faults || lost->mappings)
        fprintf(out,
                "%" PRIu64 " fault%s could not be kept at all: the kernel had no memory for it.\n",
                (uint64_t)(lost->faults + lost->mappings), s(lost->faults + lost->mappings));
    if (lost->processes)
        fprintf(out, "%" PRIu64 " process%s could not be followed: there were too many at once.\n",
                (uint64_t)lost->processes, lost->processes == 1 ? "" : "es");
    if (c->lost_records)
        fprintf(out,
                "%" PRIu64
                " of the kernel's records of programs were lost: names may be missing.\n",
                (uint64_t)c->lost_records);
    __u64 untold = copies_of(&c->total, COW_UNKNOWN);
    if (untold)
        fprintf(out,
                "Of %" PRIu64
                " write%s (untold) it cannot be told whether they copied: the page came "
                "from\nswap, or the mapping was being changed.\n",
                (uint64_t)untold, s(untold));
}
