/* What the programs here need of the kernel, and of whoever runs them. */
#ifndef KERNEL_H
#define KERNEL_H

#include <stdint.h>

/* Whether BPF programs can be loaded at all: OK, or a complaint that says what is missing. To be
 * called before anything else of libbpf, whose words it keeps from stderr. */
int kernel_check(void);

/* A complaint that a step ("load", "attach") of libbpf failed with this errno. */
int kernel_refused(const char *step, int error);

/* The inode of this process's pid namespace; 0: there is no /proc. */
unsigned kernel_pid_namespace(void);

/* How often programs did not run, because one of them had interrupted another on the same CPU. */
struct bpf_object;
uint64_t kernel_misses(const struct bpf_object *);

#endif
