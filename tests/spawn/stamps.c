/* When things happened to a child, and who is told that it took long. */
#include <errno.h>
#include <fcntl.h>
#include <linux/seccomp.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/auxv.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "support.h"

static forkless_stamps stamps_of(const forkless_child *child) {
    forkless_stamps s;
    CHECK_EQ(forkless_child_stamps(child, &s), 0);
    return s;
}

/* Emulators and valgrind hide it. */
static bool has_vdso(void) {
    return getauxval(AT_SYSINFO_EHDR) != 0;
}

/* In this order, those that are known. */
static void check_order(const forkless_stamps *s) {
    const int64_t order[] = {s->asked, s->set_up, s->exec_called, s->execed, s->exited};
    int64_t last = 0;
    for (size_t i = 0; i < sizeof order / sizeof *order; i++)
        if (order[i] != 0) {
            CHECK(order[i] >= last);
            last = order[i];
        }
    CHECK(s->asked > 0);
    CHECK(s->created >= s->asked);
    CHECK(last <= from_now(0));
    CHECK(!has_vdso() || s->exec_called == 0 || s->set_up > 0);
}

/* ---- stamps ---- */

static void in_order(const struct route *route) {
    forkless_command *c = probe("exit", "7", NULL);
    int64_t before = from_now(0);
    forkless_child *child = launched_so(route, c);
    forkless_stamps s = stamps_of(child);
    CHECK(s.asked >= before);
    CHECK_EQ(s.exited, 0);
    CHECK_EQ(s.execed != 0, route->used != FORKLESS_CLONE3_VM);
    if (s.execed && has_vdso())
        CHECK(s.set_up != 0 && s.exec_called != 0);
    check_order(&s);
    CHECK_EQ(forkless_wait(child, FORKLESS_NEVER, NULL, NULL), 0);
    s = stamps_of(child);
    CHECK(s.execed != 0 && s.exited != 0);
    CHECK_EQ(s.set_up != 0, has_vdso());
    CHECK_EQ(s.exec_called != 0, has_vdso());
    check_order(&s);
    int64_t exited = s.exited;
    CHECK_EQ(forkless_wait(child, FORKLESS_NEVER, NULL, NULL), 0);
    CHECK_EQ(stamps_of(child).exited, exited);
    forkless_child_free(child);
    forkless_command_free(c);
}

TEST(stamps_are_in_order) {
    on_each_route(in_order);
}

int main(void) {
    const struct CMUnitTest tests[] = {cmocka_unit_test(stamps_are_in_order)};
    return RUN(tests);
}
