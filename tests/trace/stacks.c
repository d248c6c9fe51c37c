/* trace/stacks.c: which copies of stacks are the same. They are of this very program. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>
#include <stdlib.h>
#include <string.h>
#include <sys/uio.h>
#include <ucontext.h>
#include <unistd.h>

#include "stacks.h"

enum { COPY = 4096 };

static struct stack stack;
static char bytes[COPY];
static volatile int sink;

/* Its frame, with all that it may write meanwhile, lies below what is copied. */
__attribute__((noinline)) void copy_stack(uint64_t other) {
    ucontext_t context;
    getcontext(&context);
#ifdef __x86_64__
    static const int order[] = {REG_RAX, REG_RDX, REG_RCX, REG_RBX, REG_RSI, REG_RDI,
                                REG_RBP, REG_RSP, REG_R8,  REG_R9,  REG_R10, REG_R11,
                                REG_R12, REG_R13, REG_R14, REG_R15, REG_RIP};
    for (int i = 0; i < REGISTERS; i++)
        stack.registers[i] = (uint64_t)context.uc_mcontext.gregs[order[i]];
#else
    memcpy(stack.registers, context.uc_mcontext.regs, sizeof context.uc_mcontext.regs);
    stack.registers[REGISTER_SP] = context.uc_mcontext.sp;
    stack.registers[REGISTER_IP] = context.uc_mcontext.pc;
#endif
    struct iovec to = {bytes, COPY};
    struct iovec from = {(void *)(uintptr_t)stack.registers[REGISTER_SP], COPY};
    assert_int_equal(process_vm_readv(getpid(), &to, 1, &from, 1, 0), COPY);
    stack.bytes = bytes;
    stack.size = COPY;
    sink = (int)other;
}

__attribute__((noinline)) void by_one(uint64_t other) {
    copy_stack(other);
    sink = 1;
}

__attribute__((noinline)) void by_another(uint64_t other) {
    copy_stack(other);
    sink = 2;
}

/* The same place on the stack, and the same size: only a return address tells them apart. */
__attribute__((noinline)) void by(void (*who)(uint64_t), uint64_t other) {
    who(other);
    sink = 3;
}

static struct stacks *stacks;
static struct symbols *symbols;

static void add(void (*who)(uint64_t), uint64_t other, bool kernel) {
    by(who, other);
    assert_true(stacks_add(stacks, "program", symbols, &stack, kernel));
}

static uint64_t count_of(const char *part) {
    const struct stacks_entry *list;
    uint64_t count = 0;
    size_t used = stacks_list(stacks, &list);
    for (size_t i = 0; i < used; i++)
        if (strstr(list[i].calls, part))
            count += list[i].count;
    for (size_t i = 0; count == 0 && i < used; i++)
        print_message("  %s %ju\n", list[i].calls, (uintmax_t)list[i].count);
    return count;
}

static int begin(void **state) {
    (void)state;
    stacks = stacks_new();
    symbols = symbols_new(getpid());
    return !stacks || !symbols || symbols_read(symbols);
}

static int end(void **state) {
    (void)state;
    stacks_free(stacks);
    symbols_free(symbols);
    return 0;
}

static void test_only_callers_differ(void **state) {
    (void)state;
    for (uint64_t i = 0; i < 30; i++) {
        add(by_one, i, false);
        if (i % 3 == 0)
            add(by_another, i, false);
    }
    assert_int_equal(count_of(";by_one;copy_stack"), 30);
    assert_int_equal(count_of(";by_another;copy_stack"), 10);
}

static void test_what_the_kernel_wrote_is_apart(void **state) {
    (void)state;
    for (int i = 0; i < 7; i++)
        add(by_one, 0, i > 2);
    assert_int_equal(count_of(";by_one;copy_stack;[kernel]"), 4);
    assert_int_equal(count_of(";by_one;copy_stack"), 7);
}

/* Most come first. */
static void test_order(void **state) {
    (void)state;
    const struct stacks_entry *list;
    add(by_one, 0, false);
    add(by_another, 0, false);
    add(by_another, 0, false);
    assert_int_equal(stacks_list(stacks, &list), 2);
    assert_int_equal(list[0].count, 2);
    assert_non_null(strstr(list[0].calls, "by_another"));
}

static void test_nothing_known(void **state) {
    (void)state;
    by(by_one, 0);
    assert_true(stacks_add(stacks, "a program's name", NULL, &stack, false));
    assert_true(stacks_add(stacks, "a program's name", NULL, &stack, false));
    assert_int_equal(count_of("a program's name;[unknown]"), 2);
}

/* A changed return address is another caller, wherever it is; a changed byte elsewhere is not. */
static void test_each_word_that_matters(void **state) {
    (void)state;
    size_t others = 0;
    by(by_one, 0);
    assert_true(stacks_add(stacks, "program", symbols, &stack, false));
    for (size_t i = 0; i < 2048; i += 8) {
        bytes[i] ^= 1;
        assert_true(stacks_add(stacks, "program", symbols, &stack, false));
        bytes[i] ^= 1;
    }
    const struct stacks_entry *list;
    size_t used = stacks_list(stacks, &list);
    for (size_t i = 0; i < used; i++)
        others += list[i].count;
    assert_int_equal(others, 257);
    assert_true(list[0].count > 128); /* most words are of no account */
    assert_true(used > 1);            /* but not all */
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(test_only_callers_differ, begin, end),
        cmocka_unit_test_setup_teardown(test_what_the_kernel_wrote_is_apart, begin, end),
        cmocka_unit_test_setup_teardown(test_order, begin, end),
        cmocka_unit_test_setup_teardown(test_nothing_known, begin, end),
        cmocka_unit_test_setup_teardown(test_each_word_that_matters, begin, end),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
