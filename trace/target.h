/* The process whose tree is followed: one that is there, or a command of ours. */
#ifndef TARGET_H
#define TARGET_H

#include <stdbool.h>
#include <sys/types.h>

struct target {
    pid_t pid;
    int pidfd;   /* readable when it has ended */
    void *child; /* of ours: forkless_child */
    bool ended;
};

/* A process by its number. OK, or a complaint. */
int target_find(struct target *, pid_t pid);
/* Each process that descends from one, as often as it is found; until nobody new turns up. */
void target_descendants(pid_t pid, bool (*add)(void *, pid_t), void *argument);
/* Starts a command; its standard output is `output`. OK, or a complaint. */
int target_start(struct target *, char **command, int output);
/* The exit status of a command that has ended, as a shell has it. */
int target_status(struct target *);
void target_free(struct target *);

#endif
