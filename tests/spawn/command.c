/* The command: what its setters take, copy and refuse. */
#include <errno.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "support.h"

static struct seen seen;

static void check_setter_error(forkless_command *c, int code, const char *setter, int index) {
    for (int l = 0; l < 2; l++) {
        forkless_child *child;
        forkless_error error;
        char text[512];
        CHECK_EQ(launchers[l](c, &child, &error), code);
        CHECK(child == NULL);
        CHECK_EQ(error.code, code);
        CHECK_EQ(error.step, FORKLESS_STEP_SETTER);
        CHECK_EQ(error.index, index);
        CHECK(strcmp(error.subject, setter) == 0);
        forkless_error_print(&error, text, sizeof text);
        CHECK(strstr(text, setter));
    }
}

TEST(bad_programs) {
    forkless_command *c = (forkless_command *)&seen;
    CHECK_EQ(forkless_command_new(&c, NULL), -EINVAL);
    CHECK(c == NULL);
    c = (forkless_command *)&seen;
    CHECK_EQ(forkless_command_new(&c, ""), -EINVAL);
    CHECK(c == NULL);
    CHECK_EQ(forkless_command_new(NULL, "/bin/true"), -EINVAL);
}

TEST(setters_without_a_command) {
    CHECK_EQ(forkless_command_arg(NULL, "x"), -EINVAL);
    CHECK_EQ(forkless_command_env(NULL, (char *[]){NULL}), -EINVAL);
    CHECK_EQ(forkless_command_fd(NULL, 1, 2), -EINVAL);
}

TEST(the_first_error_sticks) {
    forkless_command *c = probe("exit", NULL);
    CHECK_EQ(forkless_command_fd(c, 4, -1), -EBADF);
    CHECK_EQ(forkless_command_arg(c, NULL), -EINVAL);
    CHECK_EQ(forkless_command_fd(c, 5, 1), 0);
    check_setter_error(c, -EBADF, "forkless_command_fd", 4);
    forkless_command_free(c);
    c = probe("exit", "0", NULL);
    CHECK_EQ(forkless_command_arg(c, NULL), -EINVAL);
    check_setter_error(c, -EINVAL, "forkless_command_arg", 3);
    forkless_command_free(c);
    c = probe("exit", "0", NULL);
    CHECK_EQ(forkless_command_env(c, NULL), -EINVAL);
    check_setter_error(c, -EINVAL, "forkless_command_env", -1);
    forkless_command_free(c);
    c = probe("exit", "0", NULL);
    CHECK_EQ(forkless_command_fd(c, 4, 1), 0);
    CHECK_EQ(forkless_command_fd(c, 4, 1), -EEXIST);
    check_setter_error(c, -EEXIST, "forkless_command_fd", 4);
    forkless_command_free(c);
}

TEST(fixed_by_the_first_use) {
    for (int l = 0; l < 2; l++) {
        forkless_command *c = probe("exit", "7", NULL);
        for (int i = 0; i < 2; i++) {
            ends(launched(launchers[l], c), FORKLESS_EXITED, 7);
            CHECK_EQ(forkless_command_arg(c, "x"), -EBUSY);
            CHECK_EQ(forkless_command_arg(c, NULL), -EBUSY);
            CHECK_EQ(forkless_command_env(c, (char *[]){NULL}), -EBUSY);
            CHECK_EQ(forkless_command_fd(c, 5, 0), -EBUSY);
        }
        forkless_command_free(c);
    }
}

/* ---- B12: everything is copied ---- */

TEST(b12_strings_and_arrays_are_copied) {
    for (int l = 0; l < 2; l++) {
        char *argument = strdup("an argument");
        char *variable = strdup("NAME=value");
        char **environment = calloc(2, sizeof *environment);
        environment[0] = variable;
        struct show s = show_new();
        CHECK_EQ(forkless_command_arg(s.command, argument), 0);
        CHECK_EQ(forkless_command_env(s.command, environment), 0);
        char *const freed[] = {argument, variable, (char *)environment};
        memset(argument, 'X', strlen(argument));
        memset(variable, 'X', strlen(variable));
        memset(environment, 0x55, sizeof *environment);
        for (int i = 0; i < 3; i++)
            free(freed[i]);
        show_run(&s, launchers[l], &seen);
        CHECK(seen_line(&seen, "arg an argument"));
        CHECK(seen_line(&seen, "env NAME=value"));
    }
}

TEST(b12_the_program_is_copied) {
    char *program = strdup(PROBE);
    forkless_command *c = command(program, "exit", "7", NULL);
    memset(program, 'X', strlen(program));
    free(program);
    for (int l = 0; l < 2; l++)
        ends(launched(launchers[l], c), FORKLESS_EXITED, 7);
    forkless_command_free(c);
}

TEST(arguments_in_order) {
    struct show s = show_new();
    CHECK_EQ(forkless_command_arg(s.command, ""), 0);
    CHECK_EQ(forkless_command_arg(s.command, "-x --y=\"z\" $HOME *"), 0);
    CHECK_EQ(forkless_command_arg(s.command, "caf\303\251"), 0);
    show_run(&s, forkless_start, &seen);
    const char *tail = "\narg \narg -x --y=\"z\" $HOME *\narg caf\303\251\n";
    CHECK(strstr(seen.text, tail));
    CHECK(strstr(seen.text, "\narg " PROBE "\narg show\n"));
}

/* More than a block of the strings' memory, and longer than one. */
TEST(many_and_long_strings) {
    static char argument[100001];
    struct show s = show_new();
    for (int i = 0; i < 900; i++) {
        snprintf(argument, sizeof argument, "argument number %d", i);
        CHECK_EQ(forkless_command_arg(s.command, argument), 0);
    }
    show_run(&s, forkless_spawn, &seen);
    for (int i = 0; i < 900; i++) {
        snprintf(argument, sizeof argument, "arg argument number %d", i);
        CHECK(seen_line(&seen, argument));
    }
    memset(argument, 'x', 40000);
    argument[40000] = '\0';
    s = show_new();
    CHECK_EQ(forkless_command_arg(s.command, "before"), 0);
    CHECK_EQ(forkless_command_arg(s.command, argument), 0);
    CHECK_EQ(forkless_command_arg(s.command, "after"), 0);
    show_run(&s, forkless_spawn, &seen);
    CHECK(strstr(seen.text, argument));
    CHECK(seen_line(&seen, "arg before") && seen_line(&seen, "arg after"));
}

/* ---- the environment: as it was when the command was made, or as given ---- */

TEST(b94_environment_is_that_of_the_making) {
    setenv("BEFORE", "1", 1);
    setenv("CHANGED", "old", 1);
    struct show s = show_new();
    setenv("CHANGED", "new", 1);
    setenv("AFTER", "1", 1);
    unsetenv("BEFORE");
    show_run(&s, forkless_start, &seen);
    CHECK(seen_line(&seen, "env BEFORE=1"));
    CHECK(seen_line(&seen, "env CHANGED=old"));
    CHECK(!seen_line(&seen, "env AFTER=1"));
}

TEST(environment_is_replaced) {
    char *const one[] = {"A=1", "B=2", "no equals sign", "", NULL}, *const none[] = {NULL};
    struct show s = show_new();
    CHECK_EQ(forkless_command_env(s.command, none), 0);
    CHECK_EQ(forkless_command_env(s.command, one), 0);
    show_run(&s, forkless_spawn, &seen);
    CHECK(strstr(seen.text, "\nenv A=1\nenv B=2\nenv no equals sign\nenv \n"));
    s = show_new();
    CHECK_EQ(forkless_command_env(s.command, none), 0);
    show_run(&s, forkless_spawn, &seen);
    CHECK(!strstr(seen.text, "\nenv "));
    clearenv();
    s = show_new();
    show_run(&s, forkless_spawn, &seen);
    CHECK(!strstr(seen.text, "\nenv "));
}

/* ---- B46: a relative program ---- */

TEST(b46_relative_program) {
    char here[] = "/tmp/spawn-test-XXXXXX", there[] = "/tmp/spawn-test-XXXXXX";
    char line[2048];
    CHECK(mkdtemp(here) && mkdtemp(there));
    snprintf(line, sizeof line,
             "cp %s %s/prog && printf '#!/bin/sh\\nexit 9\\n' > %s/prog && "
             "chmod +x %s/prog",
             PROBE, here, there, there);
    CHECK_EQ(system(line), 0);
    CHECK_EQ(chdir(here), 0);
    forkless_command *c = command("./prog", "exit", "7", NULL), *bare = command("prog", NULL);
    for (int l = 0; l < 2; l++) {
        CHECK_EQ(chdir(here), 0);
        ends(launched(launchers[l], c), FORKLESS_EXITED, 7);
        ends(launched(launchers[l], bare), FORKLESS_EXITED, 0);
        CHECK_EQ(chdir(there), 0); /* what counts is the start, not the making */
        ends(launched(launchers[l], c), FORKLESS_EXITED, 9);
        CHECK_EQ(chdir("/"), 0);
        fails(launchers[l], bare, -ENOENT, FORKLESS_STEP_EXEC, -1);
    }
    forkless_command_free(c);
    forkless_command_free(bare);
    snprintf(line, sizeof line, "rm -r %s %s", here, there);
    CHECK_EQ(system(line), 0);
}

/* PATH is not looked at. */
TEST(b46_no_search) {
    forkless_command *c = command("sh", "-c", "exit 0", NULL);
    CHECK_EQ(chdir("/"), 0);
    for (int l = 0; l < 2; l++)
        fails(launchers[l], c, -ENOENT, FORKLESS_STEP_EXEC, -1);
    forkless_child *child;
    forkless_error error;
    CHECK_EQ(forkless_spawn(c, &child, &error), -ENOENT);
    CHECK(strcmp(error.reason, "it has no slash, and is not searched for") == 0);
    forkless_command_free(c);
}

/* Its plan of descriptors is made once, by whoever is first. */
static void *first_use(void *command) {
    ends(launched(forkless_start, command), FORKLESS_EXITED, 7);
    return NULL;
}

TEST(first_used_by_many_threads) {
    for (int i = 0; i < count(2000); i++) {
        pthread_t threads[4];
        forkless_command *c = probe("exit", "7", NULL);
        CHECK_EQ(forkless_command_fd(c, 0, 1), 0);
        CHECK_EQ(forkless_command_fd(c, 1, 0), 0);
        for (int k = 0; k < 4; k++)
            threads[k] = thread(first_use, c);
        for (int k = 0; k < 4; k++)
            CHECK_EQ(pthread_join(threads[k], NULL), 0);
        forkless_command_free(c);
    }
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(bad_programs),
        cmocka_unit_test(setters_without_a_command),
        cmocka_unit_test(the_first_error_sticks),
        cmocka_unit_test(fixed_by_the_first_use),
        cmocka_unit_test(first_used_by_many_threads),
        cmocka_unit_test(b12_strings_and_arrays_are_copied),
        cmocka_unit_test(b12_the_program_is_copied),
        cmocka_unit_test(arguments_in_order),
        cmocka_unit_test(many_and_long_strings),
        cmocka_unit_test(b94_environment_is_that_of_the_making),
        cmocka_unit_test(environment_is_replaced),
        cmocka_unit_test(b46_relative_program),
        cmocka_unit_test(b46_no_search),
    };
    return RUN(tests);
}
