/* trace/symbols.c and trace/unwind.c: the stack of a program that stands in a system call, from a
 * copy. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>
#include <elf.h>
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <sched.h>
#include <signal.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mount.h>
#include <sys/ptrace.h>
#include <sys/stat.h>
#include <sys/uio.h>
#include <sys/user.h>
#include <sys/wait.h>
#include <unistd.h>

#include "symbols.h"
#include "unwind.h"

enum { DEEP = 64, COPY = 1 << 16 };

static char folder[] = "/tmp/forkless-symbols-XXXXXX";

struct stopped {
    pid_t pid;
    struct symbols *symbols;
    struct stack stack;
    char bytes[COPY];
    uint64_t addresses[DEEP];
    size_t depth;
};

static const char *beside(const char *name) {
    static char path[4096];
    snprintf(path, sizeof path, "%s/%s", getenv("CALLS"), name);
    return path;
}

static void copy_state(struct stopped *s) {
    struct user_regs_struct r;
    struct iovec area = {.iov_base = &r, .iov_len = sizeof r};
    assert_int_equal(ptrace(PTRACE_GETREGSET, s->pid, NT_PRSTATUS, &area), 0);
#ifdef __x86_64__
    uint64_t values[REGISTERS] = {r.rax, r.rdx, r.rcx, r.rbx, r.rsi, r.rdi, r.rbp, r.rsp, r.r8,
                                  r.r9,  r.r10, r.r11, r.r12, r.r13, r.r14, r.r15, r.rip};
    memcpy(s->stack.registers, values, sizeof values);
#else
    memcpy(s->stack.registers, &r, sizeof s->stack.registers); /* x0 to x30, sp, pc */
#endif
    uint64_t top = s->stack.registers[REGISTER_SP];
    for (s->stack.size = COPY; s->stack.size > 0; s->stack.size -= 256) {
        struct iovec to = {.iov_base = s->bytes, .iov_len = s->stack.size};
        struct iovec from = {.iov_base = (void *)(uintptr_t)top, .iov_len = s->stack.size};
        if (process_vm_readv(s->pid, &to, 1, &from, 1, 0) == (ssize_t)s->stack.size)
            break;
    }
    s->stack.bytes = s->bytes;
    assert_true(s->stack.size > 0);
}

/* Up to its stop in inner; `before` runs in the child. */
static void stop_in_inner(struct stopped *s, const char *path, void (*before)(void)) {
    int status;
    s->pid = fork();
    if (s->pid == 0) {
        if (before)
            before();
        ptrace(PTRACE_TRACEME, 0, NULL, NULL);
        execl(path, path, NULL);
        _exit(errno == EPERM ? 77 : 1);
    }
    assert_int_equal(waitpid(s->pid, &status, 0), s->pid);
    assert_true(WIFSTOPPED(status)); /* exec'd */
    ptrace(PTRACE_CONT, s->pid, NULL, NULL);
    assert_int_equal(waitpid(s->pid, &status, 0), s->pid);
    assert_true(WIFSTOPPED(status) && WSTOPSIG(status) == SIGSTOP);
    copy_state(s);
    s->symbols = symbols_new(s->pid);
    assert_non_null(s->symbols);
}

static void look(struct stopped *s) {
    assert_int_equal(symbols_read(s->symbols), 0);
    s->depth = unwind(s->symbols, &s->stack, s->addresses, DEEP);
}

static void end(struct stopped *s) {
    if (s->pid > 0) {
        kill(s->pid, SIGKILL);
        waitpid(s->pid, NULL, 0);
    }
    s->pid = 0;
    symbols_free(s->symbols);
    s->symbols = NULL;
}

static void print(struct stopped *s) {
    for (size_t i = 0; i < s->depth; i++)
        print_message("  %#" PRIx64 " %s (%s)\n", s->addresses[i],
                      symbols_name(s->symbols, s->addresses[i]),
                      symbols_file(s->symbols, s->addresses[i]));
}

/* Where the frame of that name is; DEEP: nowhere. */
static size_t frame_of(struct stopped *s, const char *name) {
    for (size_t i = 0; i < s->depth; i++)
        if (strcmp(symbols_name(s->symbols, s->addresses[i]), name) == 0)
            return i;
    print(s);
    return DEEP;
}

static void check_chain(struct stopped *s) {
    size_t first = frame_of(s, "inner");
    assert_true(first > 0 && first < DEEP); /* libc is above it */
    assert_int_equal(frame_of(s, "middle"), first + 1);
    assert_int_equal(frame_of(s, "outer"), first + 2);
    assert_int_equal(frame_of(s, "main"), first + 3);
}

static void check(const char *name) {
    struct stopped s = {0};
    stop_in_inner(&s, beside(name), NULL);
    look(&s);
    check_chain(&s);
    end(&s);
}

static void test_without_frame_pointers(void **state) {
    (void)state;
    check("calls-pie");
}

static void test_not_position_independent(void **state) {
    (void)state;
    check("calls-fixed");
}

static void test_static(void **state) {
    (void)state;
    check("calls-static");
}

/* What libc says of its frames, then frame pointers alone. */
static void test_frame_pointers_alone(void **state) {
    (void)state;
    check("calls-pointers");
}

static void copy_program(const char *from, const char *to, bool strip) {
    char command[10000];
    snprintf(command, sizeof command, "%s '%s' %s '%s'", strip ? "strip -s" : "cp", from,
             strip ? "-o" : "", to);
    assert_int_equal(system(command), 0);
}

static const char *in_folder(const char *name) {
    static char path[4096];
    snprintf(path, sizeof path, "%s/%s", folder, name);
    return path;
}

static void test_no_symbols(void **state) {
    (void)state;
    struct stopped whole = {0}, bare = {0};
    copy_program(beside("calls-fixed"), in_folder("bare"), true);
    stop_in_inner(&whole, beside("calls-fixed"), NULL);
    look(&whole);
    stop_in_inner(&bare, in_folder("bare"), NULL);
    look(&bare);
    size_t inner = frame_of(&whole, "inner");
    for (size_t i = inner; i < inner + 4; i++) {
        char expected[64]; /* not position-independent: the same addresses in each, and in the file
                            */
        snprintf(expected, sizeof expected, "bare+0x%" PRIx64, whole.addresses[i]);
        assert_string_equal(symbols_name(bare.symbols, bare.addresses[i]), expected);
        assert_string_equal(symbols_file(bare.symbols, bare.addresses[i]), "bare");
    }
    end(&whole);
    end(&bare);
}

static void test_deleted(void **state) {
    (void)state;
    struct stopped s = {0};
    copy_program(beside("calls-pie"), in_folder("gone"), false);
    stop_in_inner(&s, in_folder("gone"), NULL);
    unlink(in_folder("gone"));
    look(&s);
    check_chain(&s);
    assert_string_equal(symbols_file(s.symbols, s.addresses[frame_of(&s, "inner")]),
                        "gone (deleted)");
    end(&s);
}

/* Another program stands at its path now, with other functions at these addresses. */
static void test_replaced(void **state) {
    (void)state;
    struct stopped s = {0};
    copy_program(beside("calls-pie"), in_folder("new"), false);
    stop_in_inner(&s, in_folder("new"), NULL);
    unlink(in_folder("new"));
    copy_program("/bin/sh", in_folder("new"), false);
    look(&s);
    check_chain(&s);
    end(&s);
}

/* What was read while it lived is still known. */
static void test_process_that_is_gone(void **state) {
    (void)state;
    struct stopped s = {0};
    stop_in_inner(&s, beside("calls-pie"), NULL);
    assert_int_equal(symbols_read(s.symbols), 0);
    kill(s.pid, SIGKILL);
    waitpid(s.pid, NULL, 0);
    s.depth = unwind(s.symbols, &s.stack, s.addresses, DEEP);
    s.pid = 0;
    check_chain(&s);
    end(&s);
}

static void test_never_there(void **state) {
    (void)state;
    struct stopped s = {0};
    stop_in_inner(&s, beside("calls-pie"), NULL);
    kill(s.pid, SIGKILL);
    waitpid(s.pid, NULL, 0);
    assert_true(symbols_read(s.symbols) < 0);
    /* Only the registers tell where it was. */
    s.depth = unwind(s.symbols, &s.stack, s.addresses, DEEP);
    s.pid = 0;
    assert_true(s.depth >= 1);
    assert_int_equal(s.addresses[0], s.stack.registers[REGISTER_IP]);
    char expected[32];
    snprintf(expected, sizeof expected, "0x%" PRIx64, s.addresses[0]);
    assert_string_equal(symbols_name(s.symbols, s.addresses[0]), expected);
    assert_string_equal(symbols_file(s.symbols, s.addresses[0]), "?");
    end(&s);
}

/* Not so where the root folder is no mount, as after chroot. */
static bool unshare_mounts(void) {
    return unshare(CLONE_NEWNS) == 0 && mount("none", "/", NULL, MS_REC | MS_PRIVATE, NULL) == 0;
}

static bool can_unshare_mounts(void) {
    int status;
    pid_t pid = fork();
    if (pid == 0)
        _exit(!unshare_mounts());
    return waitpid(pid, &status, 0) == pid && status == 0;
}

/* Its path leads to the program only where the process is. */
static void hide(void) {
    if (!unshare_mounts() || mount("none", folder, "tmpfs", 0, NULL))
        _exit(1);
    copy_program(beside("calls-pie"), in_folder("hidden"), false);
}

static void test_mount_namespace(void **state) {
    (void)state;
    struct stopped s = {0};
    if (!can_unshare_mounts())
        skip();
    copy_program("/bin/sh", in_folder("hidden"), false);
    stop_in_inner(&s, in_folder("hidden"), hide);
    look(&s);
    check_chain(&s);
    end(&s);
}

/* The copy ends in the middle: as many frames as it has, and all true. */
static void test_short_copy(void **state) {
    (void)state;
    struct stopped s = {0};
    stop_in_inner(&s, beside("calls-pie"), NULL);
    look(&s);
    size_t whole = s.depth, inner = frame_of(&s, "inner");
    for (size_t size = 0; size < 4096; size += 8) {
        uint64_t addresses[DEEP];
        s.stack.size = size;
        size_t depth = unwind(s.symbols, &s.stack, addresses, DEEP);
        assert_true(depth >= 1 && depth <= whole);
        assert_memory_equal(addresses, s.addresses, depth * sizeof *addresses);
    }
    s.stack.size = COPY;
    assert_int_equal(unwind(s.symbols, &s.stack, s.addresses, inner + 1), inner + 1);
    end(&s);
}

/* Named as compilers name functions of C++ and, in both of its ways, of Rust. */
void of_cpp(void) __asm__("_ZN7library5startEi");
void of_rust(void) __asm__("_RNvNtCs1234_7library7process5spawn");
void of_older_rust(void) __asm__("_ZN7library7process4fork17h0123456789abcdefE");

void of_cpp(void) {
}

void of_rust(void) {
}

void of_older_rust(void) {
}

static void test_names_of_other_languages(void **state) {
    (void)state;
    struct symbols *own = symbols_new(getpid());
    assert_non_null(own);
    assert_int_equal(symbols_read(own), 0);
    assert_string_equal(symbols_name(own, (uintptr_t)of_cpp), "library::start(int)");
    assert_string_equal(symbols_name(own, (uintptr_t)of_rust), "library::process::spawn");
    assert_string_equal(symbols_name(own, (uintptr_t)of_older_rust), "library::process::fork");
    symbols_free(own);
}

static int make_folder(void **state) {
    (void)state;
    return !mkdtemp(folder);
}

static int remove_folder(void **state) {
    (void)state;
    char command[100];
    snprintf(command, sizeof command, "rm -rf '%s'", folder);
    return system(command);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_without_frame_pointers),
        cmocka_unit_test(test_not_position_independent),
        cmocka_unit_test(test_static),
        cmocka_unit_test(test_frame_pointers_alone),
        cmocka_unit_test(test_no_symbols),
        cmocka_unit_test(test_deleted),
        cmocka_unit_test(test_replaced),
        cmocka_unit_test(test_process_that_is_gone),
        cmocka_unit_test(test_never_there),
        cmocka_unit_test(test_mount_namespace),
        cmocka_unit_test(test_short_copy),
        cmocka_unit_test(test_names_of_other_languages),
    };
    return cmocka_run_group_tests(tests, make_folder, remove_folder);
}
