/* What calls and batches do by default. Private. Written by scripts/choose-strategy from
 * results/reference/2026-11-30T20-standard.jsonl: medians at 1 GiB, paced, of the floors. */
#ifndef FL_POLICY_H
#define FL_POLICY_H

/* clone3_vm would return before the exec is known. */
#define FL_SPAWN_MECHANISM FORKLESS_CLONE3_VFORK
/* The caller is held for 33.3 us with clone3_vm, 106 us with clone3_vfork (call). */
#define FL_START_MECHANISM FORKLESS_CLONE3_VM

/* How many commands of a batch run at once, for each CPU. Medians of 1,000 tiny commands at 1 GiB:
 * 1: 61 ms, 2: 48 ms. */
#define FL_AT_ONCE_PER_CPU 2

#endif
