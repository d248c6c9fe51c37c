/* No memory: each allocation of the library fails in turn. Linked statically, to get between. */
#include <errno.h>
#include <fcntl.h>
#include <linux/seccomp.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include "support.h"
#include "targets/target.h"

void *__real_malloc(size_t size);
void *__real_calloc(size_t n, size_t size);
void *__real_realloc(void *old, size_t size);
void *__wrap_malloc(size_t size);
void *__wrap_calloc(size_t n, size_t size);
void *__wrap_realloc(void *old, size_t size);

enum { SENTINEL = 12345 };

static int grants = -1; /* allocations until one fails; -1: for ever */

static int allocations;
static size_t allocated; /* bytes, whatever was freed */

static bool granted(void) {
    allocations++;
    if (grants < 0 || grants-- > 0)
        return true;
    grants = -1;
    errno = ENOMEM;
    return false;
}

void *__wrap_malloc(size_t size) {
    allocated += size;
    return granted() ? __real_malloc(size) : NULL;
}

void *__wrap_calloc(size_t n, size_t size) {
    allocated += n * size;
    return granted() ? __real_calloc(n, size) : NULL;
}

void *__wrap_realloc(void *old, size_t size) {
    allocated += size;
    return granted() ? __real_realloc(old, size) : NULL;
}

static int failures;

/* Errors are either none or the want of memory. */
static int checked(int rc) {
    CHECK(rc == 0 || rc == -ENOMEM);
    failures += rc != 0;
    return rc;
}

static void set_everything(forkless_command *c) {
    static char long_argument[5000];
    memset(long_argument, 'x', sizeof long_argument - 1);
    for (int i = 0; i < 20; i++)
        checked(forkless_command_arg(c, i == 10 ? long_argument : "7"));
    checked(forkless_command_env(c, (char *[]){"A=1", "B=2", NULL}));
    for (int fd = 0; fd < 9; fd++)
        checked(forkless_command_fd(c, fd, (fd + 1) % 3));
}

/* Returns whether all of it went well. */
static bool build_and_start(launcher *launch) {
    forkless_command *c;
    forkless_child *child;
    forkless_error error;
    failures = 0;
    if (checked(forkless_command_new(&c, PROBE)) < 0) {
        CHECK(c == NULL);
        return false;
    }
    set_everything(c);
    int setters_failed = failures;
    errno = SENTINEL;
    int rc = checked(launch(c, &child, &error));
    CHECK_EQ(errno, SENTINEL);
    if (rc < 0) {
        CHECK_EQ(error.step, setters_failed ? FORKLESS_STEP_SETTER : FORKLESS_STEP_SLOT);
        CHECK(child == NULL);
        if (!setters_failed) /* a command is as good as before */
            ends(launched(launch, c), FORKLESS_EXITED, 3);
    } else {
        CHECK_EQ(setters_failed, 0);
        ends(child, FORKLESS_EXITED, 3);
    }
    forkless_command_free(c);
    check_no_child();
    return failures == 0;
}

TEST(every_allocation_fails_in_turn) {
    for (int l = 0; l < 2; l++) {
        bool well = false;
        int n = 0;
        for (; !well; n++) {
            CHECK(n < 1000);
            grants = n;
            well = build_and_start(launchers[l]);
        }
        CHECK(n > 10);
        grants = -1;
    }
}

/* ---- a spawn takes no memory ---- */

static void run_each_kind(forkless_command *const c[2], int i) {
    forkless_child *child;
    const struct forkless_map maps[] = {{1, 2}, {7, 0}};
    const forkless_override o = {
        .arguments = (const char *[]){"more", NULL}, .maps = maps, .map_count = 2};
    CHECK_EQ(
        (i % 2 ? forkless_start_with : forkless_spawn_with)(c[0], i % 3 ? &o : NULL, &child, NULL),
        0);
    ends(child, FORKLESS_EXITED, TARGET_STATUS);
    ends(launched(launchers[i % 2], c[1]), FORKLESS_EXITED, TARGET_STATUS);
}

/* Whoever asks the kernel for memory, or gives it back, is killed: the child's program asks for
 * none. */
TEST(a_spawn_takes_no_memory) {
    static const long calls[] = {SYS_mmap, SYS_munmap, SYS_mremap, SYS_mprotect, SYS_brk};
    struct rule rules[5];
    forkless_command *c[2] = {command(SILENT, NULL), command(SILENT, NULL)};
    CHECK_EQ(forkless_command_pipe(c[1], 0, FORKLESS_READS), 0);
    CHECK_EQ(forkless_command_file(c[1], 1, "/dev/null", O_WRONLY, 0), 0);
    CHECK_EQ(forkless_command_memory(c[1], 5, "12345", 5), 0);
    for (int i = 0; i < 100; i++)
        run_each_kind(c, i);
    for (int i = 0; i < 5; i++)
        rules[i] = (struct rule){.number = calls[i], .action = SECCOMP_RET_KILL_PROCESS};
    pid_t pid = sanitized() ? -1 : forked(); /* sanitizers take some now and then */
    if (pid == 0) {
        run_each_kind(c, 0); /* a fork begins without slots */
        run_each_kind(c, 1);
        filter(rules, 5);
    }
    allocations = 0;
    for (int i = 0; pid <= 0 && i < count(10000); i++)
        run_each_kind(c, i);
    CHECK_EQ(allocations, 0);
    if (pid == 0)
        _exit(0);
    int status = 0;
    CHECK(pid < 0 || waitpid(pid, &status, 0) == pid);
    CHECK_EQ(status, 0);
    for (int i = 0; i < 2; i++)
        forkless_command_free(c[i]);
}

/* ---- batches ---- */

/* A KiB a command that waits, beyond its strings. */
TEST(what_waits_takes_little) {
    enum { COMMANDS = 1000 };
    static char long_argument[3000];
    const char *arguments[] = {long_argument, "b", NULL};
    const struct forkless_map maps[] = {{1, 2}};
    const forkless_override override = {.arguments = arguments, .maps = maps, .map_count = 1};
    memset(long_argument, 'x', sizeof long_argument - 1);
    for (int mode = 0; mode < 2; mode++) {
        forkless_command *c = command("/bin/true", NULL);
        forkless_batch *b;
        const forkless_batch_options options = {.mode = (enum forkless_batch_mode)mode,
                                                .deadline_ns = 1};
        CHECK_EQ(forkless_batch_new(&b, &options), 0);
        CHECK_EQ(forkless_batch_add(b, c, NULL, NULL), 0); /* which fixes it */
        allocated = 0;
        allocations = 0;
        for (int i = 0; i < COMMANDS; i++)
            CHECK_EQ(forkless_batch_add(b, c, &(forkless_run_options){.override = &override}, NULL),
                     0);
        CHECK_EQ(allocations, COMMANDS);
        CHECK(allocated / COMMANDS - sizeof long_argument - 2 <= 1024 - 16);
        forkless_batch_free(b);
        forkless_command_free(c);
    }
}

/* Whether all of it went well; each command that could be added is answered in any case. */
static bool run_batch(int mode, forkless_command *c) {
    const char *arguments[] = {"a", "b", "c"};
    const forkless_batch_options options = {.mode = (enum forkless_batch_mode)mode};
    forkless_batch *b;
    forkless_answer answer;
    int answers = 0, adds = 0, rc;
    failures = 0;
    if (checked(forkless_batch_new(&b, &options)) < 0)
        return false;
    for (int i = 0; i < 3; i++)
        adds += checked(forkless_batch_add(b, c, NULL, NULL)) == 0;
    rc = checked(forkless_pack(b, c, arguments, 3, &(forkless_pack_options){.most = 1}, NULL));
    adds += rc == 0 ? 3 : 0;
    while ((rc = forkless_batch_next(b, FORKLESS_NEVER, &answer)) == 0) {
        answers++;
        if (answer.answered != FORKLESS_RAN)
            checked(answer.error.code);
        forkless_result_free(&answer.result);
    }
    CHECK_EQ(rc, -ENODATA);
    CHECK_EQ(answers, adds);
    forkless_batch_free(b);
    check_no_child();
    return failures == 0;
}

TEST(every_allocation_of_a_batch_fails_in_turn) {
    forkless_command *c = command("/bin/true", NULL);
    for (int n = 0; n < 40; n++) {
        grants = n;
        run_batch(FORKLESS_DIRECT, c);
        grants = -1;
    }
    CHECK(run_batch(FORKLESS_DIRECT, c) && run_batch(FORKLESS_THREAD, c));
    forkless_command_free(c);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(what_waits_takes_little),
        cmocka_unit_test(every_allocation_of_a_batch_fails_in_turn),
        cmocka_unit_test(a_spawn_takes_no_memory),
        cmocka_unit_test(every_allocation_fails_in_turn),
    };
    return RUN(tests);
}
