/* The raw waits that everything else is made of. Private. */
#ifndef FL_REAP_H
#define FL_REAP_H

#include <signal.h>

#include "slot.h"

/*
 * waitid() on this child. -ECHILD: not ours, not of the kind that `options` asks for, or reaped. A
 * child is born without an exit signal and exec gives it SIGCHLD, so plain options find only
 * children that have exec'd, and __WCLONE only those that never did.
 */
int fl_waitid(const forkless_child *child, unsigned options, siginfo_t *info, struct rusage *usage);

/* How it ended, as wait(2) codes it, where somebody else has reaped it; false: the kernel (before
 * 6.15) does not keep that, or there was no pidfd. */
bool fl_exit_code(const forkless_child *child, int *code);

/* Whether the pid is still our child's, dead or alive: somebody else may have waited for it. */
bool fl_is_ours(const forkless_child *child);

/* Reaps a child that has failed before its exec. Does not wait for long: it is on its way out. */
void fl_reap_failed(const forkless_child *child);

/* For a handle that nobody has: true when the child no longer needs the slot. Reaps it only if it
 * never exec'd, or if the host does not know of it. */
bool fl_reap_abandoned(const forkless_child *child);

#endif
