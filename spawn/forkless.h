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
 * else (working directory, user, limits, nice, affinity, umask, process group, session).
 *
 * Conventions. Functions that can fail return 0 or -errno; spawn, start, wait, kill, pidfd and
 * child_free leave errno alone. Times are nanoseconds, deadlines on CLOCK_MONOTONIC. Strings and
 * arrays that are passed in are copied. No function installs a signal handler, starts a thread
 * (but for a batch that is to have one) or is a cancellation point. Where NULL is not said to be
 * fine it is -EINVAL, and so is what was freed, as far as that can be seen. After a failure nothing
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
#include <sys/select.h> /* sigset_t */
#include <sys/types.h>

#ifdef __cplusplus
extern "C" {
#endif

typedef struct forkless_command forkless_command;
typedef struct forkless_child forkless_child;

/*
 * When things happened to a child, ns on CLOCK_MONOTONIC; 0: not known, or not yet. asked <= set_up
 * <= exec_called <= execed <= exited, and asked <= created.
 */
typedef struct forkless_stamps {
    int64_t asked;       /* spawn or start was called */
    int64_t created;     /* the call that made it returned: at once to start, when it has exec'd to
                            a caller that is held */
    int64_t set_up;      /* its first instruction: it begins its set-up */
    int64_t exec_called; /* its set-up is over: the last exec that it called */
    int64_t execed;      /* its caller saw that it had exec'd: spawn, or the first wait or poll that
                            looked then */
    int64_t exited;      /* it was reaped */
    int64_t reserved[4];
} forkless_stamps;

/* ---- errors ---- */

/* Where something failed; from HANDLERS to EXEC in the order in which a child takes them, but for
 * those that are left to forkless-exec (below). */
enum forkless_step {
    FORKLESS_STEP_NONE,
    FORKLESS_STEP_ARGUMENT,  /* an argument of this very call */
    FORKLESS_STEP_SETTER,    /* an earlier setter of the command; `subject` is its name */
    FORKLESS_STEP_HELPER,    /* forkless-exec; `subject` is its path, or what it cannot do */
    FORKLESS_STEP_SLOT,      /* memory for the child's stack, for the plan of its descriptors */
    FORKLESS_STEP_PIPE,      /* making a pipe; `index` is the child's descriptor */
    FORKLESS_STEP_CGROUP,    /* `index` is its descriptor, or `subject` its path */
    FORKLESS_STEP_CLONE,     /* making the child */
    FORKLESS_STEP_HANDLERS,  /* default signal handlers; `index` is the signal */
    FORKLESS_STEP_NAMESPACE, /* `index` is its descriptor */
    FORKLESS_STEP_UMASK,
    FORKLESS_STEP_CWD, /* `subject` is the path, or `index` the descriptor */
    FORKLESS_STEP_SESSION,
    FORKLESS_STEP_GROUP,      /* `index` is the group to join, 0: its own */
    FORKLESS_STEP_CLOSE,      /* closing the other descriptors at exec */
    FORKLESS_STEP_DESCRIPTOR, /* `index` is the child's descriptor, `subject` says from which */
    FORKLESS_STEP_FILE,       /* `index` is the child's descriptor, `subject` the path */
    FORKLESS_STEP_MEMORY,     /* a memfd; `index` is the child's descriptor */
    FORKLESS_STEP_TERMINAL,   /* `index` is the child's descriptor */
    FORKLESS_STEP_FOREGROUND, /* `index` is the child's descriptor */
    FORKLESS_STEP_OOM_SCORE,  /* `subject` is the score */
    FORKLESS_STEP_RLIMIT,     /* `index` is the resource */
    FORKLESS_STEP_GROUPS,
    FORKLESS_STEP_GID,
    FORKLESS_STEP_UID,
    FORKLESS_STEP_SECUREBITS,
    FORKLESS_STEP_CAPABILITIES,
    FORKLESS_STEP_NO_NEW_PRIVS,
    FORKLESS_STEP_DEATH_SIGNAL, /* `index` is the signal */
    FORKLESS_STEP_SIGNAL,       /* what a signal does; `index` is the signal */
    FORKLESS_STEP_IO_PRIORITY,
    FORKLESS_STEP_AFFINITY,
    FORKLESS_STEP_NICE,
    FORKLESS_STEP_SCHEDULER, /* `index` is the policy */
    FORKLESS_STEP_MASK,      /* the signal mask */
    FORKLESS_STEP_EXEC,      /* `subject` is the program */
    FORKLESS_STEP_WAIT,
    FORKLESS_STEP_BATCH, /* it was not started: cancelled, or its deadline had passed */
};

typedef struct forkless_error {
    int code; /* -errno, 0 when there was no error */
    enum forkless_step step;
    int index; /* what `step` says (setter: the argument's, descriptor's, ... number), else -1 */
    char subject[128]; /* what `step` says, else empty; a longer one keeps its end */
    char reason[128]; /* of exec, where a look at the file or at PATH says more than the errno: "its
                         interpreter ... is missing", and of helper; else empty, as where the caller
                         cannot look: after a change of directory, namespace or user, of a program
                         by descriptor */
    uint64_t reserved[4];
} forkless_error;

/*
 * Writes one sentence without control characters, cut to `size` bytes with its terminator (NULL:
 * nothing), and returns the length that the whole sentence has, as snprintf does. NULL is no error.
 */
int forkless_error_print(const forkless_error *error, char *buffer, size_t size);

/* "exec", "descriptor", ...; "unknown" for a number that is no step. */
const char *forkless_step_name(enum forkless_step step);

/* ---- command: what is to be started, as data ---- */

/*
 * `program` is a path, relative to the child's working directory, or with
 * forkless_command_search() a name. It is also argument 0. The environment is the caller's
 * `environ` as it is now. The caller frees the command, whenever it likes: children that need it
 * keep it alive.
 *
 * A command is fixed by its first use, a spawn or start that is not refused for its setters: these
 * then return -EBUSY. Until then the first error of a setter sticks, and spawn and
 * start refuse the command with it. All setters: -EINVAL for a NULL or freed command, -ENOMEM,
 * -EBUSY. What is set twice is as it was set last, but for descriptors.
 *
 * -EINVAL: NULL or an empty program. -ENOMEM.
 */
int forkless_command_new(forkless_command **out, const char *program);
void forkless_command_free(forkless_command *command); /* NULL is fine */

/* ---- command: program, arguments, environment ---- */

/*
 * A program without a slash is searched for, by the child and in its working directory, along the
 * PATH of its own environment as the command has it; along /bin:/usr/bin where that has no PATH. An
 * empty entry is the working directory. As execvp(3) does, it goes on after ENOENT, ENOTDIR and
 * EACCES, and fails with EACCES when it met that; a script without "#!" is ENOEXEC, no shell steps
 * in.
 */
int forkless_command_search(forkless_command *command);

/*
 * The program is this descriptor of the caller, as the number stands at the start (execveat(2));
 * `program` is then only its name. A script cannot read a descriptor that is closed at exec, and
 * this one is: ENOENT, step `exec`. -EBADF: a negative number.
 */
int forkless_command_program_fd(forkless_command *command, int parent_fd);

/* One more argument. -EINVAL: NULL. */
int forkless_command_arg(forkless_command *command, const char *argument);
/* Argument 0, the name that the program sees; may be empty. -EINVAL: NULL. */
int forkless_command_arg0(forkless_command *command, const char *name);

/* The whole environment, an array of "NAME=value" ended by NULL, {NULL} for none. -EINVAL: NULL. */
int forkless_command_env(forkless_command *command, char *const environment[]);
/* One variable of it; a NULL value takes it out. -EINVAL: a name that is NULL, empty or has a '='.
 */
int forkless_command_setenv(forkless_command *command, const char *name, const char *value);

/* ---- command: files ---- */

/* The working directory, by path (relative to the caller's at the start, or to the root of a mount
 * namespace that the child enters) or by a descriptor of the caller. -EINVAL: NULL, empty. -EBADF:
 * a negative number. */
int forkless_command_cwd(forkless_command *command, const char *path);
int forkless_command_cwd_fd(forkless_command *command, int parent_fd);

/* -EINVAL: bits other than 0777. */
int forkless_command_umask(forkless_command *command, mode_t mask);

/*
 * What the child's descriptor `child_fd` is. The caller's descriptors and their flags stay as they
 * are. Each `child_fd` once.
 *
 * fd: the caller's `parent_fd`, as that number stands when the command is started. All these happen
 * at once: {1 from 2, 2 from 1} swaps. `child_fd` = `parent_fd` hands a descriptor down under its
 * own number. A `parent_fd` that is not open is an error of spawn, step `descriptor`.
 *
 * file: opened by the child, with its working directory and umask, as open(2) with `flags` and
 * `mode`; O_CLOEXEC changes nothing. For nothing to read and nowhere to write: "/dev/null". A file
 * that takes long to open (a FIFO without its other end, a dead mount) holds the caller of spawn;
 * that of start it does not, and forkless_kill() with SIGKILL ends the wait. Until then the child
 * holds every descriptor that its caller had: a pipe whose other end is among them does not end.
 *
 * pipe: one end of a new pipe, blocking; forkless_child_pipe() gives the other. At most
 * FORKLESS_PIPES a command, and with them not many more than a hundred descriptors: spawn and start
 * then plan them anew, in the room of an override (-E2BIG, step `argument`).
 *
 * memory: a new file in memory (memfd) that holds `size` bytes of `data`, read from its start and
 * the child's own.
 *
 * same: what the child's `as_child_fd` is, for 2>&1.
 *
 * -EBADF: a negative number; of same, told by spawn and start, step `setter`: `as_child_fd` is
 * above 2 and nothing sets it. -EEXIST: this `child_fd` was given before. -ELOOP: a circle of
 * `same`. -EINVAL: NULL (but of memory with size 0), an empty path, no end of a pipe. -E2BIG: too
 * many pipes.
 */
int forkless_command_fd(forkless_command *command, int child_fd, int parent_fd);
int forkless_command_file(forkless_command *command, int child_fd, const char *path, int flags,
                          mode_t mode);
enum forkless_end { FORKLESS_READS = 1, FORKLESS_WRITES };
#define FORKLESS_PIPES 8
int forkless_command_pipe(forkless_command *command, int child_fd, enum forkless_end child_end);
int forkless_command_memory(forkless_command *command, int child_fd, const void *data, size_t size);
int forkless_command_same(forkless_command *command, int child_fd, int as_child_fd);

/* Closes nothing: the child has every descriptor of the caller that is not marked close-on-exec. */
int forkless_command_inherit_fds(forkless_command *command);

/* ---- command: group, session, terminal ---- */

/* A new process group (0), or one of the caller's session to join. -EINVAL: negative, or with a
 * session one to join. */
int forkless_command_group(forkless_command *command, pid_t group);
/* A new session, and with it a new group: group(0) is then nothing more. -EINVAL: a group to join
 * was set. */
int forkless_command_session(forkless_command *command);
/* A new session whose controlling terminal is the child's descriptor `child_fd`. Errors as
 * session; -EBADF: a negative number; at the start: above 2, and nothing sets it. */
int forkless_command_terminal(forkless_command *command, int child_fd);
/* The child's group becomes the foreground group of the terminal `child_fd`, from the background
 * too. -EBADF: as terminal. */
int forkless_command_foreground(forkless_command *command, int child_fd);

/* ---- command: signals ---- */

/* The signals that the child blocks; NULL: those that the calling thread blocks at the start. */
int forkless_command_mask(forkless_command *command, const sigset_t *mask);

enum forkless_disposition {
    FORKLESS_INHERIT, /* ignored if the caller ignores it, else the default: as exec has it */
    FORKLESS_DEFAULT,
    FORKLESS_IGNORE,
};
#define FORKLESS_ALL_SIGNALS 0
/*
 * What a signal, or each of them, does in the child. Without this SIGPIPE is FORKLESS_DEFAULT and
 * all others are FORKLESS_INHERIT; FORKLESS_ALL_SIGNALS makes 62 system calls. -EINVAL: no such
 * signal or disposition, or one that cannot be changed.
 */
int forkless_command_signal(forkless_command *command, int signal,
                            enum forkless_disposition disposition);

/* ---- command: limits and privileges ---- */

/* A resource limit, set when the descriptors are in place. -EINVAL: an unknown resource, a soft
 * limit above the hard one, NULL. */
int forkless_command_rlimit(forkless_command *command, int resource, const struct rlimit *limit);
/* Nice value, -20 to 19. -EINVAL: another. */
int forkless_command_nice(forkless_command *command, int nice);
/* Policy and priority as sched_setscheduler(2); priority 0 but for SCHED_FIFO and SCHED_RR. With
 * SCHED_RESET_ON_FORK or without. -EINVAL: unknown policy, or a priority that it does not have. */
int forkless_command_scheduler(forkless_command *command, int policy, int priority);
/* The CPUs that the child may run on: a cpu_set_t, or as much of one as `size` bytes, as
 * sched_setaffinity(2). -EINVAL: NULL, size 0, no CPU. */
int forkless_command_affinity(forkless_command *command, const void *cpus, size_t size);
/* I/O priority as ioprio_set(2): class 1 (real time), 2 (best effort), 3 (idle), each with a level
 * from 0 to 7, or class 0 (none) with level 0. -EINVAL: another. */
int forkless_command_io_priority(forkless_command *command, int io_class, int level);
int forkless_command_no_new_privs(forkless_command *command);
/* The signal that the child gets when the *thread* that started it ends (prctl(2)); a child whose
 * parent is gone before that is set ends with status 127. Such a child is never made by clone3_vm:
 * its thread is held until it has exec'd. -EINVAL: no such signal. */
int forkless_command_death_signal(forkless_command *command, int signal);

/*
 * The child is born in this cgroup (v2), by a descriptor of its folder in the caller. Such a child
 * is always made by clone3_vfork. Where the cgroup's memory, or that of a cgroup above it, is
 * limited, and in one of version 1, it is not born but joins by forkless-exec, as it does by path
 * (of version 1 or 2, relative to the caller's working directory at the start).
 *
 * Errors of spawn, step `cgroup`: -EBADF: no cgroup; -EBUSY: it is frozen (the child would hold its
 * caller), or it hands controllers down; -ENODEV, -ENOENT: it
 * has been removed; -ENOTDIR, -EACCES, -EOPNOTSUPP, -ENOSPC
 * (a cpuset without CPUs); -ENOSYS, -E2BIG, -EPERM, -EINVAL: the kernel (before 5.7) or a filter
 * cannot; -EMFILE, -ENFILE, -ENOMEM: it cannot be looked at. -EAGAIN, step `clone`: it is full; who
 * joins is not counted. -EBADF: a negative number. -EINVAL: NULL, an empty path.
 */
int forkless_command_cgroup(forkless_command *command, int parent_fd);
int forkless_command_cgroup_path(forkless_command *command, const char *path);

/*
 * The child enters this namespace, by a descriptor of it in the caller; `type` is its CLONE_NEW....
 * A pid namespace takes effect for the child's children only. CLONE_NEWUSER takes forkless-exec,
 * and all other namespaces are then entered there, behind it. -ENOTSUP: CLONE_NEWTIME, which no
 * process that shares memory can enter. -EINVAL: no such type. -EBADF: a negative number.
 */
int forkless_command_namespace(forkless_command *command, int parent_fd, int type);

/* ---- command: what takes memory of its own ---- */

/*
 * These would change the caller too as long as the child shares its memory: its OOM score, whether
 * it may dump core. A child of such a command first executes forkless-exec, a small program that
 * has memory of its own, does this and executes the target. So do children that join a cgroup or
 * enter a user namespace; forkless_helped() says so. Nobody forks, and both promises hold: spawn
 * returns when the *target* has been executed, or with the reason why not.
 *
 * Everything else has been done before, as the caller's user: files are opened, nice, scheduling,
 * session and group are set. By forkless-exec, in this order: cgroup, OOM score, limits, user
 * namespace and with it the other ones, groups, gid, uid, securebits and capabilities, working
 * directory (as the new user), no_new_privs, death signal (which a change of user clears), exec.
 * Ids are those of the user namespace, if there is one. Where one of them fails the target does not
 * run.
 *
 * Three descriptors must be free, which the target does not see: two for a pipe, one at the first
 * use of each command, and one more at the very first. forkless_command_inherit_fds() and a path
 * to the program such as /proc/self/fd/7 cannot be had. A child that is killed at the very moment
 * of its exec counts as one that has exec'd. One that fails after forkless_child_free() has ended
 * with status 127 for whoever waits for it.
 *
 * forkless-exec has the rights that an exec leaves its caller: all of root's, but not those that
 * come from file capabilities.
 *
 * -ENOTSUP, step `helper`: forkless-exec is missing, of another version or not executable here, or
 * the caller itself is set-uid; or inherit_fds(). -E2BIG, step `argument`: more than some 100
 * descriptors.
 */

/* Real, effective and saved id. Names are not looked up. What is not set stays as it is: a uid
 * alone leaves group and supplementary groups. -EINVAL: -1. */
int forkless_command_uid(forkless_command *command, uid_t uid);
int forkless_command_gid(forkless_command *command, gid_t gid);
/* The supplementary groups; none drops them all. -EINVAL: NULL, -1, more than 65536. */
int forkless_command_groups(forkless_command *command, size_t count, const gid_t groups[]);
/* Bit n: the target has capability n, be it permitted, effective, inheritable or ambient, and no
 * other. As user 0 it gets all at its exec (capabilities(7)), unless SECBIT_NOROOT or no_new_privs
 * is set. */
int forkless_command_capabilities(forkless_command *command, uint64_t set);
/* SECBIT_..., as prctl(2) has them. */
int forkless_command_securebits(forkless_command *command, unsigned bits);
/* What /proc/PID/oom_score_adj says. -EINVAL: not from -1000 to 1000. */
int forkless_command_oom_score(forkless_command *command, int score);

/*
 * Calls `hook` once for each child whose start takes longer than this, counted from the call to the
 * exec, inside a call of the host's: in spawn before it returns; of a child of start in a wait
 * or poll, for which forkless_next_deadline() says when it is due. It is called also when the child
 * has not exec'd by then.
 * Where no call was there to see the exec, as when the first one comes later, its start counts to
 * `exec_called`, so that it is not blamed for the time until somebody looked.
 *
 * The hook may ask, signal and wait for the child, not free it. `host` is passed to it, `stamps`
 * are its own until it returns. It does not come for a child that could not be started or was ended
 * before that long; it may come in a thread that is not the one that started the child.
 * -EINVAL: a negative time, no hook.
 */
typedef void (*forkless_slow_hook)(forkless_child *child, const forkless_stamps *stamps,
                                   void *host);
int forkless_command_slow_start(forkless_command *command, int64_t longer_than_ns,
                                forkless_slow_hook hook, void *host);

/*
 * Where forkless-exec is, instead of where it was to be installed. It is opened once a process, by
 * the first command that needs it: what is replaced on disk later counts for the next process. Not
 * while other threads start commands. -EINVAL: NULL, empty. -ENAMETOOLONG. -EBUSY: it is open.
 */
int forkless_helper_path(const char *path);

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

/*
 * What one child of a command that many share has differently. It is copied, into 16 KiB that come
 * with the child's stack: nothing is allocated. A zeroed one changes nothing.
 */
struct forkless_map {
    int child_fd, parent_fd; /* as forkless_command_fd(), in the place of the command's or new */
};
typedef struct forkless_override {
    const char *const *arguments; /* more arguments, behind the command's, ended by NULL; or NULL */
    const struct forkless_map *maps;
    size_t map_count;
    uint64_t reserved[4]; /* 0 */
} forkless_override;

/* As spawn and start. `override` may be NULL. Errors more, step `argument`: -E2BIG: it does not
 * fit; -EEXIST: a `child_fd` twice, or one that is no fd() of the command but something else;
 * -EBADF: a negative number; -EINVAL: `reserved` is not 0. */
int forkless_spawn_with(const forkless_command *command, const forkless_override *override,
                        forkless_child **out, forkless_error *error);
int forkless_start_with(const forkless_command *command, const forkless_override *override,
                        forkless_child **out, forkless_error *error);

/*
 * Returns 0 when every child that was started before this call is past its exec, or gone: nothing
 * of the library's shares the caller's memory then, unless other threads start more meanwhile. To
 * be called before the caller changes its user, for instance. -ETIMEDOUT at the deadline, which is
 * as that of forkless_wait().
 */
int forkless_quiesce(int64_t deadline_ns);

/* ---- child: the handle ---- */

enum forkless_mechanism {
    FORKLESS_CLONE3_VM = 1, /* clone3 with CLONE_VM: the caller goes on at once */
    FORKLESS_CLONE3_VFORK,  /* clone3 with CLONE_VM and CLONE_VFORK */
    FORKLESS_CLONE_VFORK,   /* clone with the same, where clone3 is refused */
};

/* What was used for this child, and what the call would have taken if it could; 0 for NULL. */
enum forkless_mechanism forkless_mechanism(const forkless_child *child);
enum forkless_mechanism forkless_mechanism_asked(const forkless_child *child);
/* Whether forkless-exec was needed for this child; false for NULL. */
bool forkless_helped(const forkless_child *child);
/* "clone3_vm", ...; "unknown" for a number that is none. */
const char *forkless_mechanism_name(enum forkless_mechanism mechanism);
/*
 * From now on no mechanism of the process comes before this one in the list above:
 * FORKLESS_CLONE3_VFORK holds the callers of start, for a debugger; FORKLESS_CLONE3_VM takes it
 * back. A child that is born in a cgroup is made by clone3_vfork all the same. -EINVAL: no
 * mechanism.
 */
int forkless_mechanism_limit(enum forkless_mechanism first);

/* The process id; -EINVAL for NULL. It stays this child's until the child is waited for. */
pid_t forkless_pid(const forkless_child *child);

/*
 * A pidfd, close-on-exec, opened at the first call, kill, or wait that has to wait. It belongs to
 * the handle: poll it, do not close it. -ESRCH: there was none until the child had been waited for,
 * or the handle came through a fork. -EMFILE, -ENFILE, -ENOMEM. -ENOSYS, -EPERM: the kernel has
 * none, or a filter.
 */
int forkless_pidfd(forkless_child *child);

/*
 * The caller's end of the pipe at the child's descriptor `child_fd`: close-on-exec, blocking, 3 or
 * above. It is then the caller's to close; forkless_child_free() closes those that nobody took.
 * -EBADF: the child has no such pipe, or its end was taken.
 */
int forkless_child_pipe(forkless_child *child, int child_fd);

enum forkless_whom {
    FORKLESS_GROUP,  /* the child's own process group: it has one by forkless_command_group(0),
                        _session(), _terminal() and by forkless_run() */
    FORKLESS_CHILD,  /* the process itself */
    FORKLESS_CGROUP, /* all that is in the cgroup that the command was given, and below it: one that
                        nothing else is in */
};

/*
 * Sends a signal (0 only asks) to them, and to nobody else: a child that has been waited for is
 * -ESRCH, also where its number has been given to another. A child that has not exec'd yet dies
 * of a signal whose default is to end it, unless the caller of spawn or start blocks that signal;
 * of SIGKILL in any case. All act at once, but what gets SIGKILL is not gone at the return:
 * forkless_run() waits for that. A group that the child has still to make, a cgroup that it has
 * still to join (by forkless-exec), is the child alone.
 *
 * GROUP also reaches what is left of the group of a child that has ended; -ESRCH: nothing is, or
 * the child has been waited for and the kernel (before 6.9) tells its group from a stranger's no
 * more. What has made a group or session of its own is only reached by CGROUP, which is frozen
 * meanwhile if the signal is TERM, INT, QUIT or KILL (version 2, Linux 5.2; the first three wait up
 * to 100 ms for it, 2 s while new ones appear): nobody can fork away. Where it cannot be, KILL
 * alone leaves nobody who could. -ESRCH: nobody is in it.
 *
 * -EINVAL: no such signal or `whom`, the child has no group of its own, its command no cgroup; the
 * caller itself is in that (the child gets the signal all the same, the others do not).
 * -EPERM: the child has changed its user; of GROUP: all have; of CGROUP: one has (as above).
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
 * Where somebody else has waited for the child, or SIGCHLD is ignored, the kernel (since 6.15)
 * still tells how it ended, if a pidfd was there before: forkless_pidfd(), kill and a wait that has
 * to wait open one. Its usage is then 0. Otherwise it is FORKLESS_UNKNOWN.
 *
 * A child of forkless_run_start() is fed, read and ended at its deadline by those who wait; the
 * answer comes when that is over.
 *
 * -ETIMEDOUT: it lives. Any other error with step != wait, argument: the child never exec'd, and
 * this is why; it is gone. -ECHILD, step `wait`: the handle was made by another process, before a
 * fork.
 */
int forkless_wait(forkless_child *child, int64_t deadline_ns, forkless_status *status,
                  forkless_error *error);

/*
 * Waits until one of them has ended: *which is its place, and forkless_wait() of it answers at
 * once. Those that are NULL are skipped; the first in the array goes first. A child that has been
 * waited for counts as ended. `which` may be NULL.
 *
 * -ETIMEDOUT. -EINVAL: nothing to wait for, a freed handle. -ECHILD: one of another process, before
 * a fork. -ENOMEM: for more than 32.
 */
int forkless_wait_any(forkless_child *const children[], size_t count, int64_t deadline_ns,
                      size_t *which);

/* `ns` from now, FORKLESS_NEVER where that is beyond all time; now, which has passed, of 0 and what
 * is negative. */
int64_t forkless_deadline_in(int64_t ns);

/* ---- child: in an event loop ---- */

enum forkless_state {
    FORKLESS_PENDING = 1, /* not exec'd yet, or not known to have */
    FORKLESS_RUNNING,
    FORKLESS_ENDED, /* forkless_wait() answers at once */
};

/* Does what is due, without waiting but for a run's SIGTERM to its cgroup (forkless_kill()), and
 * says how far the child is: an enum forkless_state. -EINVAL. -ECHILD: the handle was made by
 * another process, before a fork. */
int forkless_poll(forkless_child *child);

/*
 * A descriptor that can be read, and stays so, when forkless_poll() has something to do: the pidfd,
 * or of forkless_run_start() one of its own (epoll(7)). It belongs to the handle. Errors as
 * forkless_pidfd(); where there is no pidfd forkless_next_deadline() comes often instead.
 */
int forkless_poll_fd(forkless_child *child);

/* When forkless_poll() has something to do also if the descriptor cannot be read, on
 * CLOCK_MONOTONIC; FORKLESS_NEVER: not at all. */
int64_t forkless_next_deadline(const forkless_child *child);

/*
 * What is known by now. The child takes its two stamps without a system call: from the vDSO; where
 * that is missing (valgrind, some emulators) they are 0. Of a child that takes forkless-exec
 * `exec_called` is that of forkless-exec, `execed` of the target. -EINVAL. -ECHILD: the handle was
 * made by another process, before a fork.
 */
int forkless_child_stamps(const forkless_child *child, forkless_stamps *out);

/* One pointer of the host's, NULL at first; the library does nothing with it. Of what is no child
 * it is NULL, and setting it changes nothing. */
void forkless_child_set_host(forkless_child *child, void *host);
void *forkless_child_host(const forkless_child *child);

/*
 * Ends the handle and closes its pidfd and pipes; NULL is fine. A child that still runs goes on,
 * and is the caller's to reap by other means, as after posix_spawn (waitpid, which finds it once it
 * has exec'd); one that fails before exec is reaped by the library, at the latest when the next
 * handle is freed or by forkless_quiesce().
 */
void forkless_child_free(forkless_child *child);

/* ---- run: start a child, feed it, read it, end it in time ---- */

enum forkless_capture {
    FORKLESS_CAPTURE_BOTH,   /* 1 and 2, apart */
    FORKLESS_CAPTURE_MERGED, /* 1 and 2 as one, in the order in which they were written */
    FORKLESS_CAPTURE_OUTPUT, /* 1 */
    FORKLESS_CAPTURE_NONE,
};

enum forkless_at_limit {
    FORKLESS_DROP, /* it is read on, and dropped */
    FORKLESS_STOP, /* nothing is read any more: the child's next write fails (SIGPIPE, EPIPE) */
    FORKLESS_END,  /* the child is ended as at the deadline */
};

/* A zeroed one captures both outputs whole and waits for ever. */
typedef struct forkless_run_options {
    const void *input; /* what the child reads from 0, in `input_size` bytes; NULL: 0 is as the
                          command has it, the caller's if it says nothing. Not copied: it stays
                          until the run is over */
    size_t input_size;
    enum forkless_capture capture; /* what is not captured is as the command has it */
    size_t limit;                  /* bytes to be kept of each output; 0: no limit */
    enum forkless_at_limit at_limit;
    int64_t deadline_ns; /* on CLOCK_MONOTONIC; 0, FORKLESS_NEVER: none */
    int64_t grace_ns;    /* from SIGTERM to SIGKILL; 0: half a second */
    int64_t linger_ns;   /* from the child's end to that of its outputs, where others hold them; 0:
                            half a second; FORKLESS_NEVER: until they end, or the deadline */
    enum forkless_whom whom; /* is signalled. FORKLESS_GROUP: the child gets a group of its own if
                                its command makes none */
    const forkless_override *override; /* or NULL */
    uint64_t reserved[4];              /* 0 */
} forkless_run_options;

typedef struct forkless_result {
    forkless_status status;
    char *output, *errors; /* what was kept, and behind it a NUL; NULL: not captured */
    size_t output_size, errors_size;
    uint64_t output_dropped,
        errors_dropped;    /* read, and not kept: beyond the limit, or without
                              memory; with STOP and END there may have been more */
    size_t input_written;  /* how much of the input went into the pipe */
    bool timed_out;        /* it was ended at its deadline */
    bool limited;          /* with STOP or END: an output was longer */
    bool writers_remained; /* others still held an output when reading ended */
    bool survivors;        /* it was ended, and of whom was signalled some were there still, or it
                              cannot be told */
    uint64_t reserved[4];
} forkless_result;

/*
 * Starts the command and returns when it is over: the child has ended and its outputs are read, to
 * their end or, where a grandchild holds them, as long as it lingers. Whatever the child itself
 * has written is read, however much.
 *
 * If it is not over at the deadline, wherever the child is, also before its exec: SIGTERM, with a
 * SIGCONT for those who are stopped; at the end of grace SIGKILL. It is over when nobody of `whom`
 * is left, at the latest one more grace after SIGKILL. What left the group goes on
 * (writers_remained), unless `whom` is FORKLESS_CGROUP. A child whose start holds its caller
 * (forkless_mechanism(): born in a cgroup, with a death signal, where clone3 is refused) does so
 * until its exec, whatever the deadline.
 *
 * No thread, no signal of the caller's: its SIGPIPE is what it was.
 *
 * *result is the caller's to free with forkless_result_free(), after a failure too. Errors as start
 * and wait, when the child never exec'd, and, of the argument: -EINVAL, and in `reason` which;
 * -EEXIST: the command or override says what a descriptor is that is to be fed or captured, by
 * something else than forkless_command_fd(); -ETIMEDOUT: the deadline has passed; nothing was
 * started.
 */
int forkless_run(const forkless_command *command, const forkless_run_options *options,
                 forkless_result *result, forkless_error *error);

/*
 * The same without waiting: forkless_poll(), or forkless_wait(), goes on with it. When that has
 * said FORKLESS_ENDED forkless_run_result() gives the result, once, or the error of a child that
 * never exec'd. Errors more, step `argument`: -EBADF: it is no run, or its result was taken;
 * -EBUSY: it is not over. forkless_child_free() before that closes the outputs, and the child goes
 * on.
 */
int forkless_run_start(const forkless_command *command, const forkless_run_options *options,
                       forkless_child **out, forkless_error *error);
int forkless_run_result(forkless_child *child, forkless_result *result, forkless_error *error);
void forkless_result_free(forkless_result *result); /* NULL and a zeroed one are fine */

/* ---- batch: many commands, so many at once ---- */

typedef struct forkless_batch forkless_batch;

enum forkless_batch_mode {
    FORKLESS_DIRECT, /* those who call poll, next and wait start the commands */
    FORKLESS_THREAD, /* a thread of the batch's own does */
};

enum forkless_answered {
    FORKLESS_RAN = 1,     /* it is over: `result`, as forkless_run() has it */
    FORKLESS_FAILED,      /* it could not be started, or not be executed: `error` */
    FORKLESS_NOT_STARTED, /* cancelled, or its deadline passed before its turn: `error`, step batch,
                             -ECANCELED or -ETIMEDOUT */
};

typedef struct forkless_answer {
    size_t index; /* of its add or pack among all of the batch, from 0 */
    void *host;   /* of the same */
    enum forkless_answered answered;
    bool cancelled;         /* ended, or not started, by forkless_batch_cancel() */
    forkless_result result; /* otherwise zeroed */
    forkless_error error;   /* otherwise none */
    size_t first, count;    /* of pack: the arguments that it stands for */
    uint64_t reserved[4];
} forkless_answer;

typedef void (*forkless_on_answer)(forkless_batch *batch, forkless_answer *answer, void *host);

/* A zeroed one: direct, as many at once as is good for most, no deadline, answers to be asked for,
 * as the commands end. */
typedef struct forkless_batch_options {
    enum forkless_batch_mode mode;
    size_t at_once;      /* 0: a few for each CPU that the caller may use */
    int64_t deadline_ns; /* for all, on CLOCK_MONOTONIC: what runs then is ended, what waits is not
                            started any more; 0, FORKLESS_NEVER: none */
    int64_t each_ns;     /* for each, from its start; 0: none */
    bool in_order;       /* answers in the order of add */
    forkless_on_answer on_answer; /* NULL: they are asked for by forkless_batch_next() */
    void *host;                   /* for that */
    uint64_t reserved[4];         /* 0 */
} forkless_batch_options;

/*
 * `options` may be NULL. One thread at a time may use a batch; different batches are independent.
 *
 * A thread of the batch's own blocks all signals and is otherwise as the thread that makes the
 * batch: a child gets from it what it would get from the calling thread (affinity, nice value, ...,
 * and with forkless_command_mask(NULL) a mask of all signals), one that is bound to it
 * (forkless_command_death_signal()) ends with the batch, and the slow-start hook is called in it.
 * That hook may not use the batch.
 *
 * -EINVAL: no such mode, a negative each_ns, `reserved` is not 0. -ENOMEM. -EMFILE, -ENFILE.
 * -EAGAIN: no thread.
 */
int forkless_batch_new(forkless_batch **out, const forkless_batch_options *options);

/*
 * One command more, which waits for its turn: nothing is started here. It is run as by
 * forkless_run() (NULL: a zeroed one, so both its outputs are captured), with the earliest of its
 * own deadline and the batch's. One that is neither fed nor captured costs least. The command is
 * fixed, as by its first use, and may be freed at once; options and override are copied, and the
 * input is not: it stays until the answer, and so do the descriptors that command and override
 * name.
 *
 * What is wrong with the command or its options comes with its answer, as forkless_run() would have
 * told it: each add is answered once. A command that cannot be started for want of something that
 * may come back (-EAGAIN of a limit of processes, -ENOMEM, -EMFILE, -ENFILE) is held back and tried
 * again when another has ended, or after some milliseconds; where none of the batch runs and that
 * has lasted for a second it fails, and those behind it are not waited for so long. Meanwhile it
 * holds back those behind it, also when the want is its own (a full cgroup).
 *
 * -EINVAL: no command. -ENOMEM. -ECHILD: the batch was made by another process, before a fork; so
 * all that take a batch.
 */
int forkless_batch_add(forkless_batch *batch, const forkless_command *command,
                       const forkless_run_options *options, void *host);

/*
 * Does what is due, without waiting: FORKLESS_ENDED when nothing is left to be answered,
 * FORKLESS_RUNNING otherwise. More may be added at any time.
 *
 * poll and wait call on_answer for each answer that is there. What it keeps of `result` it takes by
 * setting the pointer to NULL; the rest is freed. It may add, pack, cancel and count, and free the
 * batch: that is then done when it returns, and poll or wait returns -ECANCELED. -EBUSY: poll or
 * wait in on_answer.
 */
int forkless_batch_poll(forkless_batch *batch);

/*
 * Waits for one answer. Its `result` is the caller's to free with forkless_result_free().
 * -ETIMEDOUT: there was none by the deadline, which is as that of forkless_wait(). -ENODATA: there
 * is none to come. -EINVAL: the batch has on_answer.
 */
int forkless_batch_next(forkless_batch *batch, int64_t deadline_ns, forkless_answer *answer);

/* Waits until nothing waits or runs any more: all is answered, or can be asked for at once.
 * -ETIMEDOUT. -ECANCELED, -EBUSY: as poll. */
int forkless_batch_wait(forkless_batch *batch, int64_t deadline_ns);

/* A descriptor that can be read when poll, or next, has something to do; and when that is the case
 * though it cannot be read, a time on CLOCK_MONOTONIC; FORKLESS_NEVER. It belongs to the batch. */
int forkless_batch_fd(const forkless_batch *batch);
int64_t forkless_batch_next_deadline(const forkless_batch *batch);

/* What waits is not started, what runs is ended as at a deadline; all of that is answered. What is
 * added later is not concerned. */
int forkless_batch_cancel(forkless_batch *batch);

typedef struct forkless_counts {
    size_t waiting, running; /* commands; with a thread, a moment ago */
    size_t over;             /* that are over, and not answered yet */
    size_t answered;
    size_t held_back; /* how often one was */
    uint64_t reserved[4];
} forkless_counts;
int forkless_batch_counts(forkless_batch *batch, forkless_counts *out);

/* A zeroed one: as many arguments a command as fit; split; as a zeroed forkless_run_options. */
typedef struct forkless_pack_options {
    size_t most;                     /* arguments a command; 0: no limit */
    bool whole;                      /* a command that fails is not split */
    const forkless_run_options *run; /* of each command; or NULL */
    uint64_t reserved[4];            /* 0 */
} forkless_pack_options;

/*
 * Adds as few commands as fit, each with some of these `count` arguments behind its own, in their
 * order. What fits is what the kernel allows for arguments and environment, pointers and the
 * program's path among it; of a stack that is limited to less than 256 KiB, half. Each argument is
 * answered once (what a script's interpreter adds is not reckoned with: with `whole` that fails):
 * `first` and `count` of the answer say for which it stands. All have the `index`
 * and `host` of this call.
 *
 * A command with more than one argument that fails (a status that is not 0, a signal, its own
 * deadline, exec with -E2BIG) is split in halves, which are tried again, so that in the end only
 * the bad ones fail; the good ones among them have then been tried more than once. What was
 * cancelled, or ended at the deadline for all, is not split. An argument that alone is too long is
 * FORKLESS_FAILED, -E2BIG, step exec.
 *
 * The command is fixed, as by its first use. -EINVAL: NULL among the arguments, `reserved` is not
 * 0; as add. -ENOMEM: none was added.
 */
int forkless_pack(forkless_batch *batch, const forkless_command *command,
                  const char *const arguments[], size_t count, const forkless_pack_options *options,
                  void *host);

/*
 * What has not been answered is answered no more. What waits is not started; what runs goes on, its
 * outputs are closed, and it is the caller's to reap, as after forkless_child_free(). To end it,
 * cancel and wait before. The thread is ended first; one that is held by the start of a child
 * (forkless_mechanism()) is waited for. NULL is fine.
 */
void forkless_batch_free(forkless_batch *batch);

#ifdef __cplusplus
}
#endif

#endif
