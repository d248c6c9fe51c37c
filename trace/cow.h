/* What cow.bpf.c tells cow.c. */
#ifndef COW_H
#define COW_H

#ifdef __bpf__
#include <linux/types.h>
#else
#include <asm/types.h>
#endif

#include "registers.h"

enum { COW_PROGRAM = 16, COW_NAME = 64, COW_STACK = 16384, COW_RING = 64 << 20 };

/* What became of a page that was written to. */
enum cow_kind {
    COW_COPY,    /* it was shared: the writer has a copy of its own now */
    COW_REUSE,   /* nobody else had it any more: it became writable */
    COW_ZERO,    /* it was the page of zeros that stands for what was only read */
    COW_SHARED,  /* of a shared mapping: it became writable for everybody */
    COW_UNKNOWN, /* it came back from swap, copied or not */
    COW_KINDS
};

enum cow_place { COW_ELSEWHERE, COW_HEAP, COW_MAIN_STACK };

/* By process and mapping. */
struct cow_key {
    __s32 pid;
    __u32 device; /* of the file: major << 20 | minor */
    __u64 inode;  /* 0: no file */
    __u64 start, offset;
};

struct cow_mapping {
    __u64 faults[COW_KINDS][2]; /* of the program itself, and of the kernel for it */
    __u64 copied;               /* bytes */
    __u64 end, flags;           /* when it was first seen; VM_... */
    __u32 place;
    char name[COW_NAME]; /* of the file, without its folder, or of the anonymous memory */
};

struct cow_member { /* of the family that is followed */
    __s32 pid;
    __u32 launched; /* by the tracer, and has not exec'd */
};

/* One copy. A record without a process says that the last one has ended. */
struct cow_copy {
    __u64 time; /* CLOCK_MONOTONIC, ns */
    __s32 pid;
    __u32 kernel; /* the kernel wrote, for the program */
    __u32 stack_length;
    __u32 unused;
    char program[COW_PROGRAM];
    __u64 registers[REGISTERS];
    __u8 stack[];
};

/* Why there is less to see than there was. */
struct cow_lost {
    __u64 stacks;    /* the ring was full: copies that have a mapping but no stack */
    __u64 mappings;  /* the map was full: faults with neither */
    __u64 faults;    /* no memory to remember that a fault had begun */
    __u64 processes; /* the map was full: processes that were not followed */
};

/* How page tables are read: found out by calibrate.c. */
struct cow_memory {
    __u64 direct; /* where the kernel has all memory, one to one */
    __u64 mask;   /* of the address in an entry */
    __u32 levels;
    __u32 unused;
    __u64 zero, huge_zero; /* frames: addresses of memory */
};

struct cow_leaf { /* the entry that maps an address, or ends the search */
    __u64 entry;
    __u32 shift; /* of the page's size */
    __s32 error;
};

#endif
