/* The child's environment, one variable at a time. */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "support.h"

static struct seen seen;

/* A child that has just these entries, in this order, "\nenv NAME=value" each. */
static void check_environment(struct show s, const char *want) {
    for (int l = 0; l < 2; l++) {
        ends(launched(launchers[l], s.command), FORKLESS_EXITED, 0);
        if (l == 0)
            CHECK_EQ(lseek(s.memory, 0, SEEK_SET), 0);
    }
    show_read(&s, &seen);
    const char *is = strstr(seen.text, "\nenv ");
    size_t length = is ? strlen(is) - 1 : 0; /* without the last newline */
    CHECK_EQ(length, strlen(want));
    CHECK(!is || strncmp(is, want, length) == 0);
}

static struct show with(char *const environment[]) {
    struct show s = show_new();
    CHECK_EQ(forkless_command_env(s.command, environment), 0);
    return s;
}

static void set(struct show s, const char *name, const char *value) {
    CHECK_EQ(forkless_command_setenv(s.command, name, value), 0);
}

TEST(one_more_variable) {
    struct show s = with((char *[]){"A=1", "B=2", NULL});
    set(s, "C", "3");
    set(s, "D", "");
    set(s, "E", "=x=y");
    set(s, "a name", "a\tvalue");
    check_environment(s, "\nenv A=1\nenv B=2\nenv C=3\nenv D=\nenv E==x=y\nenv a name=a\tvalue");
}

TEST(a_variable_is_set_again_and_taken_out) {
    struct show s = with((char *[]){"A=1", "B=2", "AB=3", NULL});
    set(s, "A", "new");
    set(s, "A", "newer");
    set(s, "B", NULL);
    set(s, "MISSING", NULL);
    set(s, "C", "4");
    set(s, "C", NULL);
    check_environment(s, "\nenv AB=3\nenv A=newer");
    s = with((char *[]){"A=1", NULL});
    set(s, "A", NULL);
    set(s, "A", "2");
    check_environment(s, "\nenv A=2");
    s = with((char *[]){"A=1", NULL});
    set(s, "A", NULL);
    check_environment(s, "");
    s = with((char *[]){NULL});
    set(s, "A", NULL);
    set(s, "B", "1");
    check_environment(s, "\nenv B=1");
}

/* Every entry of its name goes, those that are none stay. */
TEST(doubles_in_what_was_given) {
    char *const doubles[] = {"A=1", "A", "A=2", "", "=A=3", "AA=4", "A=5", NULL};
    struct show s = with(doubles);
    check_environment(s, "\nenv A=1\nenv A\nenv A=2\nenv \nenv =A=3\nenv AA=4\nenv A=5");
    s = with(doubles);
    set(s, "A", "new");
    check_environment(s, "\nenv A\nenv \nenv =A=3\nenv AA=4\nenv A=new");
    s = with(doubles);
    set(s, "A", NULL);
    check_environment(s, "\nenv A\nenv \nenv =A=3\nenv AA=4");
}

/* The whole replaces what was set one by one. */
TEST(the_last_setter_counts) {
    struct show s = with((char *[]){"A=1", NULL});
    set(s, "B", "2");
    CHECK_EQ(forkless_command_env(s.command, (char *[]){"C=3", NULL}), 0);
    set(s, "D", "4");
    check_environment(s, "\nenv C=3\nenv D=4");
}

TEST(the_callers_is_left_alone) {
    clearenv();
    setenv("A", "1", 1);
    setenv("B", "2", 1);
    struct show s = show_new();
    set(s, "A", "other");
    set(s, "B", NULL);
    set(s, "C", "3");
    CHECK(strcmp(getenv("A"), "1") == 0 && strcmp(getenv("B"), "2") == 0 && !getenv("C"));
    check_environment(s, "\nenv A=other\nenv C=3");
    clearenv();
    s = show_new();
    set(s, "A", "1");
    check_environment(s, "\nenv A=1");
}

TEST(many_variables) {
    enum { MANY = 3000 };
    static char want[MANY * 32], name[32], value[32];
    struct show s = with((char *[]){NULL});
    char *to = want;
    for (int i = 0; i < MANY; i++) {
        snprintf(name, sizeof name, "NAME%d", i);
        snprintf(value, sizeof value, "%d", i * i % 1000);
        set(s, name, value);
        if (i % 3)
            to += sprintf(to, "\nenv %s=%s", name, value);
    }
    for (int i = 0; i < MANY; i += 3) {
        snprintf(name, sizeof name, "NAME%d", i);
        set(s, name, NULL);
    }
    memset(value, 'X', sizeof value); /* it was copied */
    check_environment(s, want);
}

TEST(bad_names) {
    const char *const bad[] = {NULL, "", "A=", "=", "=A", "A=B"};
    for (size_t i = 0; i < 6; i++)
        for (int unset = 0; unset < 2; unset++) {
            forkless_command *c = probe("exit", NULL);
            CHECK_EQ(forkless_command_setenv(c, bad[i], unset ? NULL : "value"), -EINVAL);
            CHECK_EQ(forkless_command_setenv(c, "GOOD", "value"), 0);
            fails(forkless_spawn, c, -EINVAL, FORKLESS_STEP_SETTER, -1);
            forkless_command_free(c);
        }
    CHECK_EQ(forkless_command_setenv(NULL, "A", "1"), -EINVAL);
    forkless_command *c = probe("exit", NULL);
    ends(launched(forkless_spawn, c), FORKLESS_EXITED, 0);
    CHECK_EQ(forkless_command_setenv(c, "A", "1"), -EBUSY);
    forkless_command_free(c);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(one_more_variable),
        cmocka_unit_test(a_variable_is_set_again_and_taken_out),
        cmocka_unit_test(doubles_in_what_was_given),
        cmocka_unit_test(the_last_setter_counts),
        cmocka_unit_test(the_callers_is_left_alone),
        cmocka_unit_test(many_variables),
        cmocka_unit_test(bad_names),
    };
    return RUN(tests);
}
