/* What calls and batches do by default. Private. Written by scripts/choose-strategy from
 * results/reference/2026-11-30T08-standard.jsonl: medians at 1 GiB, paced, of the floors. */
#ifndef FL_POLICY_H
#define FL_POLICY_H

/* The exec is known after 452.6 us with clone3_vm (ready), 346.9 us with clone3_vfork (call). */
#define FL_SPAWN_MECHANISM FORKLESS_CLONE3_VFORK
/* The caller is held for 82 us with clone3_vm, 346.9 us with clone3_vfork (call). */
#define FL_START_MECHANISM FORKLESS_CLONE3_VM

/* How many commands of a batch run at once, for each CPU. From
 * results/reference/2026-11-30T17-batches.jsonl, medians of 1,000 tiny
 * commands at 1 GiB: 1: 784 ms, 2: 752 ms. */
#define FL_AT_ONCE_PER_CPU 1

#endif
