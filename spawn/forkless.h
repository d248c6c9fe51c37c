/*
 * libforkless: start processes without fork, at a cost that does not grow with the caller's memory.
 *
 * Two promises. forkless_spawn() returns when exec has succeeded, or with the reason why it did
 * not. forkless_start() returns as soon as the child exists, before it has exec'd; an exec error is
 * then told by forkless_wait(), as an exec error. Neither ever forks.
 *
 * What a child gets unless a command says otherwise: descriptors 0, 1 and 2 (unless they are marked
 * close-on-exec), every other one closed at exec; an empty signal mask; default handlers; SIGPIPE
 * at its default; other ignored signals as they are in the caller; the calling thread's everything
 * else (working directory, user, limits, nice, affinity).
 *
 * Conventions. Functions that can fail return 0 or -errno; spawn, start, wait, kill, pidfd and
 * child_free leave errno alone. Times are nanoseconds, deadlines on CLOCK_MONOTONIC. Strings and
 * arrays that are passed in are copied. No function installs a signal handler, starts a thread or
 * is a cancellation point. Where NULL is not said to be fine it is -EINVAL. After a failure nothing
 * is left behind: no child, zombie, descriptor, mapping, changed mask.
 *
 * Threads. Any number may start one command, or wait for, signal and ask one child. Only one may
 * build a command, and none may start it meanwhile; forkless_command_free() and
 * forkless_child_free() are the last calls on what they end. Not for signal handlers.
 *
 * The child shares the caller's memory until it has exec'd. In that time do not change user or
 * group ids in another thread, nor send the child a signal that dumps core: before Linux 5.16 that
 * takes every process that shares the memory along, since then the core is of the caller's memory.
 *
 * Whoever reaps the library's children behind its back (waitpid(-1), SIGCHLD ignored) makes their
 * numbers free for others. Where that may happen call forkless_pidfd() while the child cannot have
 * ended yet, or a later wait or kill may meet another child of the caller with the same number.
 */
#ifndef FORKLESS_H
#define FORKLESS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/resource.h>
#include <sys/types.h>

#ifdef __cplusplus
extern "C" {
#endif

typedef struct forkless_command forkless_command;
typedef struct forkless_child forkless_child;

/* ---- errors ---- */

/* Where something failed. */
enum forkless_step {
    FORKLESS_STEP_NONE,
    FORKLESS_STEP_ARGUMENT,   /* an argument of this very call */
    FORKLESS_STEP_SETTER,     /* an earlier setter of the command; `subject` is its name */
    FORKLESS_STEP_SLOT,       /* memory for the child's stack and the plan of its descriptors */
    FORKLESS_STEP_CLONE,      /* making the child */
    FORKLESS_STEP_HANDLERS,   /* default signal handlers; `index` is the signal */
    FORKLESS_STEP_CLOSE,      /* marking the other descriptors close-on-exec */
    FORKLESS_STEP_DESCRIPTOR, /* `index` is the child's descriptor, `subject` says from which */
    FORKLESS_STEP_MASK,       /* the empty signal mask */
    FORKLESS_STEP_SIGPIPE,    /* SIGPIPE's default */
    FORKLESS_STEP_EXEC,       /* `subject` is the program */
    FORKLESS_STEP_WAIT,
};

typedef struct forkless_error {
    int code; /* -errno, 0 when there was no error */
    enum forkless_step step;
    int index; /* what `step` says (setter: the argument's or descriptor's number), else -1 */
    char subject[128]; /* what `step` says, else empty; a longer one keeps its end */
    uint64_t reserved[4];
} forkless_error;

/*
 * Writes one sentence without control characters, cut to `size` bytes with its terminator, and
 * returns the length that the whole sentence has, as snprintf does.
 */
int forkless_error_print(const forkless_error *error, char *buffer, size_t size);

/* "exec", "descriptor", ...; "unknown" for a number that is no step. */
const char *forkless_step_name(enum forkless_step step);

/* ---- command: what is to be started, as data ---- */

/*
 * `program` is a path; it is not searched for. It is also argument 0. The environment is the
 * caller's `environ` as it is now. The caller frees the command, whenever it likes: children that
 * need it keep it alive.
 *
 * A command is fixed by its first use: setters then return -EBUSY. Until then the first error of a
 * setter sticks, and spawn and start refuse the command with it.
 *
 * -EINVAL: NULL or an empty program. -ENOMEM.
 */
int forkless_command_new(forkless_command **out, const char *program);
void forkless_command_free(forkless_command *command); /* NULL is fine */

/* One more argument. -EINVAL: NULL. -ENOMEM, -EBUSY. */
int forkless_command_arg(forkless_command *command, const char *argument);

/* The whole environment, an array of "NAME=value" ended by NULL. -EINVAL: NULL. -ENOMEM, -EBUSY. */
int forkless_command_env(forkless_command *command, char *const environment[]);

/*
 * The child's descriptor `child_fd` is the caller's `parent_fd`, as that number stands when the
 * command is started. All these happen at once: {1 from 2, 2 from 1} swaps. `child_fd` =
 * `parent_fd` hands a descriptor down under its own number. The caller's descriptors and their
 * flags stay as they are.
 *
 * -EBADF: a negative number. -EEXIST: this `child_fd` was given before. -ENOMEM, -EBUSY. A
 * `parent_fd` that is not open is an error of spawn, step `descriptor`.
 */
int forkless_command_fd(forkless_command *command, int child_fd, int parent_fd);

/* ---- spawn and start ---- */

/*
 * Starts the command. On success *out is the child's handle; the caller ends it with
 * forkless_child_free(). On failure *out is NULL and *error, unless NULL, says what failed.
 *
 * A child that a signal kills before or inside its exec is a child like any other: wait tells.
 *
 * Errors, beside those of the steps: -EAGAIN or -ENOMEM when the kernel makes no process; -ENOTSUP,
 * step `clone`, where clone3 is refused and vfork does not share memory (emulators).
 * -ETXTBSY, step `exec`: the program is open for writing, maybe only in another thread's child that
 * has not exec'd yet; a moment later it is not.
 *
 * spawn holds its caller until the child has exec'd. A child that is stopped (SIGSTOP, a terminal's
 * SIGTSTP) before its exec holds it until it is continued.
 *
 * start does not wait for the child. Where clone3 cannot be had it holds its caller as spawn does,
 * and forkless_mechanism() says so.
 */
int forkless_spawn(const forkless_command *command, forkless_child **out, forkless_error *error);
int forkless_start(const forkless_command *command, forkless_child **out, forkless_error *error);

/* ---- child: the handle ---- */

enum forkless_mechanism {
    FORKLESS_CLONE3_VM = 1, /* clone3 with CLONE_VM: the caller goes on at once */
    FORKLESS_CLONE3_VFORK,  /* clone3 with CLONE_VM and CLONE_VFORK */
    FORKLESS_CLONE_VFORK,   /* clone with the same, where clone3 is refused */
};

/* What was used for this child; 0 for NULL. */
enum forkless_mechanism forkless_mechanism(const forkless_child *child);
/* "clone3_vm", ...; "unknown" for a number that is none. */
const char *forkless_mechanism_name(enum forkless_mechanism mechanism);

/* The process id; -EINVAL for NULL. It stays this child's until the child is waited for. */
pid_t forkless_pid(const forkless_child *child);

/*
 * A pidfd, close-on-exec, opened at the first call, kill, or wait with a deadline. It belongs to
 * the handle: poll it, do not close it. -ESRCH: the child has been waited for, or the handle came
 * through a fork. -EMFILE, -ENFILE, -ENOMEM. -ENOSYS, -EPERM: the kernel has none, or a filter.
 */
int forkless_pidfd(forkless_child *child);

enum forkless_whom {
    FORKLESS_CHILD, /* the process itself */
};

/*
 * Sends a signal (0 only asks), to this child and to nobody else: once it has been waited for the
 * answer is -ESRCH. A child that has not exec'd yet dies of a signal whose default is to end it.
 * -EINVAL: no such signal or `whom`. -EPERM: the child has changed its user.
 */
int forkless_kill(forkless_child *child, int signal, enum forkless_whom whom);

enum forkless_how {
    FORKLESS_EXITED = 1, /* `code` is its exit status */
    FORKLESS_KILLED,     /* `code` is the signal */
    FORKLESS_UNKNOWN,    /* somebody else waited for it, or SIGCHLD is ignored */
};

typedef struct forkless_status {
    enum forkless_how how;
    int code;
    bool dumped;         /* a core was dumped */
    bool execed;         /* false: killed before its exec was past turning back */
    struct rusage usage; /* of the child and the children it waited for */
    uint64_t reserved[4];
} forkless_status;

#define FORKLESS_NEVER INT64_MAX

/*
 * Waits until the child has ended, reaps it and says how it ended. `deadline_ns` is a time on
 * CLOCK_MONOTONIC; one that has passed (0) only looks, FORKLESS_NEVER waits for ever. Once it has
 * answered, every further call gives the same answer at once; several threads may wait for one
 * child. `status` and `error` may be NULL.
 *
 * -ETIMEDOUT: it lives. Any other error with step != wait: the child never exec'd, and this is why;
 * it is gone. -ECHILD, step `wait`: the handle was made by another process, before a fork.
 */
int forkless_wait(forkless_child *child, int64_t deadline_ns, forkless_status *status,
                  forkless_error *error);

/*
 * Ends the handle and closes its pidfd; NULL is fine. A child that still runs goes on, and is the
 * caller's to reap by other means, as after posix_spawn (waitpid, which finds it once it has
 * exec'd); one that fails before exec is reaped by the library, at the latest when the next handle
 * is freed.
 */
void forkless_child_free(forkless_child *child);

#ifdef __cplusplus
}
#endif

#endif
