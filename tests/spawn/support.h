/* What the tests of spawn/ share. Each test runs in a process of its own. */
#ifndef SUPPORT_H
#define SUPPORT_H

#include <setjmp.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

#include <cmocka.h>

#include "forkless.h"

/* ---- tests and checks ---- */

#define TEST(name)                                                                                 \
    static void name##_body(void);                                                                 \
    static void name(void **state) {                                                               \
        (void)state;                                                                               \
        run_isolated(name##_body);                                                                 \
    }                                                                                              \
    static void name##_body(void)

/* The exit code of main: 77 when every test was skipped. */
#define RUN(tests)                                                                                 \
    finish(cmocka_run_group_tests(tests, NULL, NULL), sizeof(tests) / sizeof *(tests))

/* A check ends the process that it fails in, from any thread. */
#define CHECK(x)       ((x) ? (void)0 : check_failed(__FILE__, __LINE__, #x))
#define CHECK_EQ(a, b) check_equal(__FILE__, __LINE__, #a, (long)(a), (long)(b))

void run_isolated(void (*body)(void));
int finish(int failed, size_t tests);
_Noreturn void check_failed(const char *file, int line, const char *what);
void check_equal(const char *file, int line, const char *what, long is, long want);
_Noreturn void skip_test(const char *why);

/* `full` in a long run (FORKLESS_TEST_LONG=1), a twentieth otherwise. */
int count(int full);
bool sanitized(void);
/* Slots that were given up keep their commands until they are needed again; and processes in other
 * namespaces cannot be looked into. */
void no_leak_check(void);

/* ---- commands and children ---- */

/* The arguments end with NULL. */
forkless_command *command(const char *program, ...) __attribute__((sentinel));
forkless_command *probe(const char *argument, ...) __attribute__((sentinel));

typedef int launcher(const forkless_command *, forkless_child **, forkless_error *);
extern launcher *const launchers[2]; /* spawn, start */

/* Starts it, which has to succeed. */
forkless_child *launched(launcher *launch, const forkless_command *);
/* Waits, frees the handle. */
void ends(forkless_child *, enum forkless_how how, int code);
/* Starts it, which has to fail at once or at wait; says whether it did so at once. */
bool fails(launcher *launch, const forkless_command *, int code, enum forkless_step step,
           int index);

/* Tells the library where forkless-exec is in this build. */
void with_helper(void);

int64_t from_now(int milliseconds);
void nap(int microseconds);

/* This process has no child, not even a zombie, and no SIGCHLD is pending. */
void check_no_child(void);

pthread_t thread(void *(*body)(void *), void *argument);

/* fork(), which has to succeed: nobody may take -1 for a pid. */
pid_t forked(void);

/* A skip in it skips the test. */
void in_process(void (*body)(int), int argument);

/* ---- the routes on which a child can come about ---- */

struct route {
    const char *name;
    launcher *launch;
    enum forkless_mechanism limit, used;
    bool no_clone3, no_close_range;
};

/* In a process for each of them; what it used is as the route has it. */
void on_each_route(void (*body)(const struct route *));
/* Starts it on this route, which has to be taken. */
forkless_child *launched_so(const struct route *, const forkless_command *);

/* ---- what the probe saw ---- */

struct seen_fd {
    int fd, flags, status;
    unsigned long device, inode;
    long size;
};

struct seen {
    int count;
    struct seen_fd fds[1100];
    unsigned long blocked, ignored, caught;
    char text[1 << 16];
};

/* A command that shows itself: make it, start it, read it. */
struct show {
    forkless_command *command;
    int memory; /* a descriptor above SHOW_FD */
};
enum { SHOW_FD = 600 };

struct show show_new(void);
/* One that has changed its user cannot open that: its output is shown. */
struct show show_by_stdout(void);
void show_read(struct show *, struct seen *);
/* Starts it and reads it. */
void show_run(struct show *, launcher *, struct seen *);
const struct seen_fd *seen_fd(const struct seen *, int fd);
bool seen_line(const struct seen *, const char *line);

/* ---- what a start may not change, whether it succeeds or fails ---- */

struct snapshot {
    signed char fds[1200];
    char signals[512], maps[1 << 17];
    char state[8192]; /* of the calling thread: umask, limits, scheduling, handlers, ... */
    int cancel_state, cancel_type;
};

void snapshot_take(struct snapshot *);
void snapshot_check(const struct snapshot *);

/* ---- system calls refused or held in the calling thread and its children ---- */

struct rule {
    long number;
    uint32_t action; /* SECCOMP_RET_... */
    int argument;    /* only where (argument & mask) == value; mask 0: always */
    uint32_t mask, value;
};

/* The listener, where an action is SECCOMP_RET_USER_NOTIF. */
int filter(const struct rule *rules, size_t n);
/* The call fails with this errno. */
void refuse(long number, int code);

/* A child that stands still in a system call; `thread` started it. */
struct held {
    const forkless_command *command;
    launcher *launch;
    long number;
    int rc, listener;
    forkless_child *child;
    forkless_error error;
    pthread_t thread;
    uint64_t id;
    pid_t pid;
};

/* Starts the command in a new thread; returns when the child is at the call. */
void held_begin(struct held *);
/* The next one that arrives at the call. */
void held_next(struct held *);
/* Lets it go on; with code != 0 the call fails. */
void held_go(struct held *, int code);
void held_join(struct held *);

#endif
