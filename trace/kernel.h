/* What the programs here need of the kernel, and of whoever runs them. */
#ifndef KERNEL_H
#define KERNEL_H

/* Whether BPF programs can be loaded at all: OK, or a complaint that says what is missing. To be
 * called before anything else of libbpf, whose words it keeps from stderr. */
int kernel_check(void);

/* A complaint that a step ("load", "attach") of libbpf failed with this errno. */
int kernel_refused(const char *step, int error);

/* The inode of this process's pid namespace; 0: there is no /proc. */
unsigned kernel_pid_namespace(void);

#endif
