/* What spawns.bpf.c tells spawns.c of each creation of a process, through one ring buffer. */
#ifndef SPAWNS_H
#define SPAWNS_H

#ifdef __bpf__
#include <linux/types.h>
#else
#include <asm/types.h>
#endif

#include "registers.h"

enum { SPAWN_NAME = 16, SPAWN_PATH = 256, SPAWN_STACK = 16384 };

/* Of known stacks: how many return addresses they may have, how many may differ in nothing else,
 * and how many bytes are read at once. */
enum { KNOWN_PLACES = 64, KNOWN_ALIKE = 4, KNOWN_NEAR = 1024 };

enum spawn_call { CALL_FORK, CALL_VFORK, CALL_CLONE, CALL_CLONE3 };

enum spawn_event { SPAWN_CREATED, SPAWN_THEN };

/* Where a program stood when it called. */
struct known_key {
    __s32 pid;
    __u32 nth; /* of those that are alike, from 0 on */
    __u64 started, execs, ip, sp;
};

/* A stack that callers.c has unwound: one with the same return addresses in the same places need
 * not be copied again. */
struct known_stack {
    __u64 trail;  /* what callers.c has for it */
    __u64 linked; /* the return address in register `link`; that is -1: in none */
    __s32 link;
    __u32 count; /* of `words` */
    __u32 near;  /* the bytes in which the first of them stand, at most KNOWN_NEAR */
    __u32 unused;
    __u64 words[KNOWN_PLACES];
    __u16 offsets[KNOWN_PLACES]; /* of them, from the stack pointer */
};

/* When the call has returned, or its caller has ended in it. */
struct spawn_created {
    __u32 event;
    __u32 stack_length; /* the bytes of `stack` */
    __u64 id;           /* of this creation; phases.h has the same */
    __u64 asked;        /* CLOCK_MONOTONIC, ns */
    __u64 took;         /* ns in the call */
    __u64 flags;        /* CLONE_... */
    __u64 rss;          /* of the caller when the call returned, like the next three; bytes */
    __u64 page_tables;  /* bytes */
    __u32 mappings, threads;
    __u64 started, execs; /* which program of which process it was: see callers.c */
    __u64 trail;          /* of a stack that is known, which is not copied; else 0 */
    __u32 call;           /* enum spawn_call */
    __s32 error;          /* errno; 0: there is a child */
    __s32 pid, tid;       /* the caller, and */
    __s32 child;          /* its child, as the tracer numbers them */
    __u8 ended;           /* the caller ended in the call */
    __u8 compat;          /* a 32-bit program: there is no stack */
    __u8 unused[2];
    char name[SPAWN_NAME];      /* of the caller's process, */
    char thread[SPAWN_NAME];    /* and of the thread that called */
    __u64 registers[REGISTERS]; /* from here on nothing, where there is a trail */
    __u8 stack[];
};

enum spawn_did { DID_EXEC, DID_EXIT };

/* What a child did first: exec, or end without one. */
struct spawn_then {
    __u32 event;
    __u32 did;    /* enum spawn_did */
    __u64 id;     /* of its creation */
    __u64 when;   /* CLOCK_MONOTONIC, ns */
    __s32 status; /* of DID_EXIT: as from wait(2) */
    __s32 error;  /* of DID_EXIT: the errno of the last exec that it tried; 0: it tried none */
    char path[SPAWN_PATH]; /* what it executed, or last tried to; sent up to its end */
};

/* Why there are fewer events than creations. */
struct spawn_lost {
    __u64 records; /* the ring was full */
    __u64 stacks;  /* it was half full: the record came without its stack */
    __u64 entries; /* a map was full: a creation or what became of it was not seen */
};

#endif
