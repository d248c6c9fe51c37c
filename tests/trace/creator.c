/*
 * Creates processes: creator KIND COUNT [PAUSE_US]. Prints a line for each: the child's number and
 * how long the call held it by its own clock, ns. Ends with 0 when all is as it should be.
 */
#include <errno.h>
#include <inttypes.h>
#include <linux/sched.h>
#include <pthread.h>
#include <sched.h>
#include <signal.h>
#include <spawn.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

static char *const program[] = {(char[]){"/bin/true"}, NULL};
static char *const missing[] = {(char[]){"/nowhere/program"}, NULL};

static int64_t now(void) {
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return (int64_t)t.tv_sec * 1000000000 + t.tv_nsec;
}

static void run(char *const *arguments) {
    execv(arguments[0], arguments);
    _exit(127);
}

/* Each gives the child's number, or -1. */

static pid_t fork_exec(void) {
    pid_t pid = fork();
    if (pid == 0)
        run(program);
    return pid;
}

static pid_t fork_exit(void) {
    pid_t pid = fork();
    if (pid == 0)
        _exit(3);
    return pid;
}

static pid_t fork_killed(void) {
    pid_t pid = fork();
    if (pid == 0)
        raise(SIGKILL);
    return pid;
}

static pid_t fork_missing(void) {
    pid_t pid = fork();
    if (pid == 0)
        run(missing);
    return pid;
}

/* Until its parent has ended. */
static pid_t fork_on(void) {
    int ends[2];
    char byte;
    if (pipe(ends) < 0)
        return -1;
    pid_t pid = fork();
    if (pid == 0) {
        close(ends[1]);
        while (read(ends[0], &byte, 1) < 0)
            ;
        _exit(0);
    }
    close(ends[0]);
    return pid;
}

__attribute__((noinline)) static pid_t vfork_exec(void) {
    pid_t pid = vfork();
    if (pid == 0)
        run(program);
    return pid;
}

/* Call sites at one depth, which only return addresses tell apart: in a register where the wrapper
 * of vfork is called, on the stack above it. */
static volatile int site;

#define SITE(name, number, create)                                                                 \
    __attribute__((noinline)) static pid_t name(void) {                                            \
        pid_t pid = create();                                                                      \
        if (pid == 0)                                                                              \
            _exit(3);                                                                              \
        site = number;                                                                             \
        return pid;                                                                                \
    }

SITE(vfork_exit, 0, vfork)
SITE(first_site, 1, vfork)
SITE(second_site, 2, vfork)
SITE(third_site, 3, vfork_exit)
SITE(fourth_site, 4, vfork_exit)
SITE(fifth_site, 5, vfork_exit)
SITE(sixth_site, 6, vfork_exit)
SITE(seventh_site, 7, vfork_exit)
SITE(eighth_site, 8, vfork_exit)

/* By turns; what lies above them is more than a tracer copies. */
static pid_t sites(size_t first, size_t count) {
    static pid_t (*const all[])(void) = {first_site, second_site, third_site,   fourth_site,
                                         fifth_site, sixth_site,  seventh_site, eighth_site};
    static size_t turn;
    volatile char room[20000];
    memset((char *)room, 1, sizeof room);
    return all[first + turn++ % count]() + room[0] - 1;
}

static pid_t sites_by_register(void) {
    return sites(0, 2);
}

static pid_t sites_by_stack(void) {
    return sites(2, 2);
}

static pid_t sites_many(void) {
    return sites(2, 6);
}

/* Does not write to its room: what an earlier, deeper call has left on the stack stays there. */
static volatile bool pretends;
__attribute__((noinline)) static pid_t vfork_with_room(void) {
    volatile char room[2000];
    room[0] = 0;
    return pretends ? 1 : vfork_exit() + room[0];
}

SITE(ninth_site, 9, vfork_with_room)
SITE(tenth_site, 10, vfork_with_room)

__attribute__((noinline)) static pid_t ninth_site_deeper(void) {
    volatile char room[512];
    room[0] = 0;
    return ninth_site() + room[0];
}

/* By turns; in each the ninth's return address lies below, too. */
static pid_t sites_left_behind(void) {
    static pid_t (*const both[])(void) = {ninth_site, tenth_site};
    static unsigned turn;
    pretends = true;
    ninth_site_deeper();
    pretends = false;
    return both[turn++ % 2]();
}

static pid_t spawn(void) {
    pid_t pid;
    extern char **environ;
    int rc = posix_spawn(&pid, program[0], NULL, NULL, program, environ);
    errno = rc;
    return rc ? -1 : pid;
}

static int exec_on_stack(void *nothing) {
    (void)nothing;
    run(program);
    return 0;
}

/* Beside its parent; the stack is never given back. */
static pid_t clone_vm(void) {
    enum { STACK = 65536 };
    char *stack = mmap(NULL, STACK, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    return stack == MAP_FAILED ? -1 : clone(exec_on_stack, stack + STACK, CLONE_VM | SIGCHLD, NULL);
}

static pid_t clone3_fork(void) {
    struct clone_args args = {.exit_signal = SIGCHLD};
    pid_t pid = (pid_t)syscall(SYS_clone3, &args, sizeof args);
    if (pid == 0)
        run(program);
    return pid;
}

static pid_t in_namespace(void) {
    struct clone_args args = {.flags = CLONE_NEWPID, .exit_signal = SIGCHLD};
    pid_t pid = (pid_t)syscall(SYS_clone3, &args, sizeof args);
    if (pid == 0)
        run(program);
    return pid;
}

/* The kernel does not allow it: no child. */
static pid_t refused(void) {
    struct clone_args args = {.flags = CLONE_SIGHAND, .exit_signal = SIGCHLD};
    pid_t pid = (pid_t)syscall(SYS_clone3, &args, sizeof args);
    return pid < 0 && errno == EINVAL ? 0 : -1;
}

static void *do_nothing(void *nothing) {
    return nothing;
}

static pid_t thread(void) {
    pthread_t one;
    if (pthread_create(&one, NULL, do_nothing, NULL))
        return -1;
    pthread_join(one, NULL);
    return 0;
}

static void *exec_in_thread(void *nothing) {
    run(program);
    return nothing;
}

/* The child execs in a thread that is not its first. */
static pid_t fork_thread_exec(void) {
    pthread_t one;
    pid_t pid = fork();
    if (pid == 0) {
        pthread_create(&one, NULL, exec_in_thread, NULL);
        for (;;)
            pause();
    }
    return pid;
}

static void *vfork_in_thread(void *pid) {
    *(pid_t *)pid = vfork_exec();
    return NULL;
}

static pid_t thread_vfork(void) {
    pthread_t one;
    pid_t pid = -1;
    if (pthread_create(&one, NULL, vfork_in_thread, &pid))
        return -1;
    pthread_join(one, NULL);
    return pid;
}

/* A child that has a child and ends first: two creations. */
static pid_t orphan(void) {
    pid_t pid = fork();
    if (pid == 0) {
        if (fork() == 0) {
            usleep(100000);
            run(program);
        }
        _exit(0);
    }
    return pid;
}

/* Each child has the number that the one before it had. */
static pid_t same_number(void) {
    static pid_t number;
    struct clone_args args = {.exit_signal = SIGCHLD};
    if (number) {
        args.set_tid = (uintptr_t)&number;
        args.set_tid_size = 1;
    }
    pid_t pid = (pid_t)syscall(SYS_clone3, &args, sizeof args);
    if (pid == 0)
        _exit(0);
    number = pid;
    return pid;
}

/* Looks at its end by waitid first, without taking it; the number is 0: it has been waited for. */
static pid_t wait_by_id(void) {
    siginfo_t info;
    pid_t pid = fork_exec();
    if (pid < 0 || waitid(P_PID, (id_t)pid, &info, WEXITED | WNOWAIT) < 0)
        return -1;
    return waitid(P_PID, (id_t)pid, &info, WEXITED) < 0 ? -1 : 0;
}

/* The kernel reaps it. */
static pid_t ignored(void) {
    signal(SIGCHLD, SIG_IGN);
    return fork_exit();
}

/* More than a second after its birth. */
static pid_t fork_late(void) {
    pid_t pid = fork();
    if (pid == 0) {
        usleep(1300000);
        run(program);
    }
    return pid;
}

static void print_status(const char *key) {
    char line[256];
    FILE *file = fopen("/proc/self/status", "re");
    while (file && fgets(line, sizeof line, file))
        if (strncmp(line, key, strlen(key)) == 0)
            printf("%ld ", strtol(line + strlen(key), NULL, 10));
    if (file)
        fclose(file);
}

static void *wait_for_ever(void *nothing) {
    for (;;)
        pause();
    return nothing;
}

/* With 64 MiB of memory, 100 more mappings and 5 more threads; prints resident and page tables in
 * KiB, threads, mappings. */
static pid_t large(void) {
    enum { BYTES = 64 << 20, MAPPINGS = 100, THREADS = 5 };
    pthread_t one;
    char *memory = mmap(NULL, BYTES, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    if (memory == MAP_FAILED)
        return -1;
    memset(memory, 1, BYTES);
    for (int i = 0; i < MAPPINGS;
         i++) /* every other one: the kernel joins neighbours that are alike */
        mmap(NULL, 4096, i % 2 ? PROT_READ : PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    for (int i = 0; i < THREADS; i++)
        if (pthread_create(&one, NULL, wait_for_ever, NULL))
            return -1;
    print_status("VmRSS:");
    print_status("VmPTE:");
    print_status("Threads:");
    int mappings = 0;
    FILE *file = fopen("/proc/self/maps", "re");
    for (int c; file && (c = getc(file)) != EOF;)
        mappings += c == '\n';
    if (file)
        fclose(file);
    printf("%d\n", mappings);
    return fork_exec();
}

static const struct kind {
    const char *name;
    pid_t (*create)(void);
} kinds[] = {
    {"fork-exec", fork_exec},
    {"fork-exit", fork_exit},
    {"fork-killed", fork_killed},
    {"fork-missing", fork_missing},
    {"fork-on", fork_on},
    {"vfork", vfork_exec},
    {"sites-by-register", sites_by_register},
    {"sites-by-stack", sites_by_stack},
    {"sites-many", sites_many},
    {"sites-left-behind", sites_left_behind},
    {"posix_spawn", spawn},
    {"clone-vm", clone_vm},
    {"clone3", clone3_fork},
    {"namespace", in_namespace},
    {"refused", refused},
    {"thread", thread},
    {"thread-exec", fork_thread_exec},
    {"thread-vfork", thread_vfork},
    {"orphan", orphan},
    {"same-number", same_number},
    {"fork-late", fork_late},
    {"waitid", wait_by_id},
    {"ignored", ignored},
    {"large", large},
};

int main(int argc, char **argv) {
    const struct kind *kind = NULL;
    for (size_t i = 0; argc > 2 && i < sizeof kinds / sizeof *kinds; i++)
        if (strcmp(argv[1], kinds[i].name) == 0)
            kind = &kinds[i];
    if (!kind) {
        fprintf(stderr, "usage: creator KIND COUNT [PAUSE_US]\n");
        return 2;
    }
    for (int i = 0, count = atoi(argv[2]); i < count; i++) {
        int64_t began = now();
        pid_t pid = kind->create();
        int64_t took = now() - began;
        if (pid < 0) {
            perror(argv[1]);
            return 1;
        }
        if (kind->create != fork_on)
            while (pid > 0 && waitpid(pid, NULL, 0) < 0 && errno == EINTR)
                ;
        printf("%d %" PRId64 " %" PRId64 "\n", (int)pid, took, now() - began);
        if (argc > 3)
            usleep((useconds_t)atoi(argv[3]));
    }
    return 0;
}
