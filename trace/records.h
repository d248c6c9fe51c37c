/* What the kernel tells of every process: that it forks, executes a program, maps code, ends. */
#ifndef RECORDS_H
#define RECORDS_H

#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

#include "mappings.h"

struct records;

enum record_kind { RECORD_FORK, RECORD_EXEC, RECORD_MAP, RECORD_EXIT };

struct record {
    enum record_kind kind;
    uint64_t time; /* CLOCK_MONOTONIC, ns */
    pid_t pid, tid;
    pid_t parent;           /* of RECORD_FORK */
    struct mapping mapping; /* of RECORD_MAP; its path is valid until the next record */
};

/* From now on. NULL with errno. */
struct records *records_open(void);
void records_close(struct records *);

/* The earliest one that is not younger. False: there is none. */
bool records_next(struct records *, uint64_t youngest, struct record *);
/* How many did not fit. */
uint64_t records_lost(const struct records *);

#endif
