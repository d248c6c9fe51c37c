/* How this kernel's page tables are read from BPF. */
#ifndef CALIBRATE_H
#define CALIBRATE_H

#include "cow.h"
#include "cow.skel.h"

/* Finds it out by looking for pages of this process, whose place in memory /proc/self/pagemap
 * tells. OK, or a complaint. */
int calibrate(struct cow_bpf *);

#endif
