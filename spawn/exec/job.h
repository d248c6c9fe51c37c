/*
 * What libforkless asks of forkless-exec: one block of bytes in a sealed memfd, offsets in place of
 * pointers. Private; both sides are of one version or nothing happens.
 *
 * forkless-exec is started with argument 0 = "forkless-exec VERSION BASE". Its descriptors are BASE
 * (the job), BASE + 1 (a pipe for reports) and those that the job counts from BASE. Its other
 * arguments and its environment are the target's.
 */
#ifndef FL_EXEC_JOB_H
#define FL_EXEC_JOB_H

#include <stdint.h>

#define FL_JOB_NAME  "forkless-exec"
#define FL_JOB_MAGIC UINT64_C(0x6b726f6673736578)
#ifndef FL_JOB_VERSION /* a test has another */
#define FL_JOB_VERSION 1
#endif

enum { FL_JOB_FD, FL_REPORT_FD, FL_JOB_FDS };

/* How it ends when it fails, and when it was not started by the library. */
enum { FL_EXEC_FAILED = 127, FL_EXEC_REFUSED = 126 };

enum fl_job_kind {
    FL_JOB_CALL,         /* as it stands */
    FL_JOB_WRITE,        /* argument 1, a path from the descriptor 0, gets the text 2 of size 3 */
    FL_JOB_RAISE,        /* what is permitted becomes effective, argument 0 inheritable */
    FL_JOB_SECUREBITS,   /* argument 0, with all that is permitted */
    FL_JOB_DEATH_SIGNAL, /* as it stands, unless the parent is gone by then */
};

struct fl_job_call {
    uint32_t kind;
    int32_t step, index; /* what a report says */
    int32_t number;
    uint32_t offsets, fds; /* bit i: argument i is an offset in the job, counts from BASE */
    int64_t arguments[5];
};

struct fl_job {
    uint64_t magic;
    uint32_t version, size;
    uint32_t calls, call_count;       /* struct fl_job_call */
    uint32_t programs, program_count; /* uint32_t, each the offset of a path to be tried in turn */
    uint32_t program_fd;              /* counts from BASE; 0: there is none */
    uint32_t fds;                     /* how many from BASE */
    uint32_t searches, reserved;
};

/* Written to the pipe, with code 0 right before the exec. */
struct fl_report {
    int32_t code; /* -errno */
    int32_t step, index;
    int32_t number; /* of the call in the job; -1: none */
};

#endif
