/* The program by a descriptor, and the name that it sees. */
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/sendfile.h>
#include <sys/stat.h>
#include <unistd.h>

#include "support.h"

static struct seen seen;

static int open_at(const char *path, int flags, int fd) {
    int file = open(path, flags);
    CHECK(file >= 0);
    CHECK_EQ(dup3(file, fd, O_CLOEXEC), fd);
    close(file);
    return fd;
}

static forkless_command *by_descriptor(int fd) {
    forkless_command *c = command("a name", "exit", "7", NULL);
    CHECK_EQ(forkless_command_program_fd(c, fd), 0);
    return c;
}

static void ends_with_seven(forkless_command *c) {
    for (int l = 0; l < 2; l++)
        ends(launched(launchers[l], c), FORKLESS_EXITED, 7);
    forkless_command_free(c);
}

TEST(by_descriptor_of_each_kind) {
    for (int m = FORKLESS_CLONE3_VM; m <= FORKLESS_CLONE_VFORK; m++) {
        CHECK_EQ(forkless_mechanism_limit((enum forkless_mechanism)m), 0);
        for (int fd = 0; fd < 6; fd += 5) {
            int keep = fcntl(fd, F_DUPFD_CLOEXEC, 50);
            ends_with_seven(by_descriptor(open_at(PROBE, O_RDONLY, fd)));
            ends_with_seven(by_descriptor(open_at(PROBE, O_PATH, fd)));
            if (keep >= 0)
                dup2(keep, fd);
            close(keep);
        }
    }
}

/* A number is what it is at the start, and the child does not have it. */
TEST(by_descriptor_at_the_start) {
    for (int l = 0; l < 2; l++) {
        struct show s = show_new();
        CHECK_EQ(forkless_command_program_fd(s.command, 5), 0);
        open_at(PROBE, O_RDONLY, 5);
        show_run(&s, launchers[l], &seen);
        CHECK_EQ(seen.count, 3);
        CHECK(seen_line(&seen, "arg " PROBE));
        CHECK_EQ(fcntl(5, F_GETFD), FD_CLOEXEC);
        close(5);
    }
}

/* The name is not looked at, nor is it searched for. */
TEST(by_descriptor_with_a_search) {
    forkless_command *c = by_descriptor(open_at(PROBE, O_RDONLY, 5));
    CHECK_EQ(forkless_command_search(c), 0);
    ends_with_seven(c);
}

TEST(a_deleted_program) {
    char path[] = "/tmp/spawn-test-XXXXXX";
    int from = open(PROBE, O_RDONLY | O_CLOEXEC), to = mkostemp(path, O_CLOEXEC);
    struct stat file;
    CHECK_EQ(fstat(from, &file), 0);
    CHECK_EQ(sendfile(to, from, NULL, (size_t)file.st_size), file.st_size);
    CHECK_EQ(fchmod(to, 0700), 0);
    close(to);
    open_at(path, O_RDONLY, 5);
    CHECK_EQ(unlink(path), 0);
    ends_with_seven(by_descriptor(5));
    close(from);
}

/* Its number is a target, alone, in a chain or in a circle, of each kind. */
TEST(its_number_becomes_another) {
    open_at(PROBE, O_RDONLY, 5);
    for (int way = 0; way < 6; way++) {
        forkless_command *c = by_descriptor(5);
        if (way == 0)
            CHECK_EQ(forkless_command_fd(c, 5, 0), 0);
        if (way == 1)
            CHECK_EQ(forkless_command_file(c, 5, "/dev/null", O_RDWR, 0), 0);
        if (way == 2)
            CHECK_EQ(forkless_command_memory(c, 5, "12345", 5), 0);
        if (way == 3)
            CHECK_EQ(forkless_command_pipe(c, 5, FORKLESS_READS), 0);
        if (way == 4)
            CHECK_EQ(forkless_command_same(c, 5, 1), 0);
        if (way == 5) {
            CHECK_EQ(forkless_command_fd(c, 5, 1), 0);
            CHECK_EQ(forkless_command_fd(c, 1, 5), 0);
        }
        ends_with_seven(c);
    }
}

TEST(not_open) {
    CHECK_EQ(close_range(3, 500, 0), 0);
    forkless_command *c = probe("exit", NULL);
    CHECK_EQ(forkless_command_program_fd(c, -1), -EBADF);
    fails(forkless_spawn, c, -EBADF, FORKLESS_STEP_SETTER, -1);
    forkless_command_free(c);
    for (int fd = 3; fd < 9; fd++)
        for (int way = 0; way < 5; way++) {
            c = by_descriptor(fd);
            if (way == 1)
                CHECK_EQ(forkless_command_fd(c, fd, 0), 0);
            if (way == 2)
                CHECK_EQ(forkless_command_file(c, 5, "/dev/null", O_RDWR, 0), 0);
            if (way == 3)
                CHECK_EQ(forkless_command_memory(c, 5, "12345", 5), 0);
            if (way == 4) {
                CHECK_EQ(forkless_command_fd(c, 0, 1), 0);
                CHECK_EQ(forkless_command_fd(c, 1, 0), 0);
            }
            for (int l = 0; l < 2; l++)
                fails(launchers[l], c, -EBADF, FORKLESS_STEP_EXEC, -1);
            forkless_command_free(c);
        }
    check_no_child();
}

static void script_at_five(const char *text) {
    char path[] = "/tmp/spawn-test-XXXXXX";
    int file = mkostemp(path, O_CLOEXEC);
    CHECK_EQ(write(file, text, strlen(text)), strlen(text));
    CHECK_EQ(fchmod(file, 0700), 0);
    close(file);
    open_at(path, O_RDONLY, 5);
    unlink(path);
}

TEST(b41_a_script) {
    script_at_five("#!/bin/sh\nexit 7\n");
    for (int marked = 0; marked < 2; marked++) {
        CHECK_EQ(fcntl(5, F_SETFD, marked ? FD_CLOEXEC : 0), 0);
        for (int l = 0; l < 2; l++) {
            forkless_command *c = by_descriptor(5);
            fails(launchers[l], c, -ENOENT, FORKLESS_STEP_EXEC, -1);
            forkless_command_free(c);
        }
    }
    script_at_five("exit 7\n");
    forkless_command *c = by_descriptor(5);
    for (int l = 0; l < 2; l++)
        fails(launchers[l], c, -ENOEXEC, FORKLESS_STEP_EXEC, -1);
    forkless_command_free(c);
}

TEST(what_is_no_program) {
    open_at("/tmp", O_RDONLY | O_DIRECTORY, 5);
    forkless_command *c = by_descriptor(5);
    for (int l = 0; l < 2; l++)
        fails(launchers[l], c, -EACCES, FORKLESS_STEP_EXEC, -1);
    forkless_command_free(c);
    check_no_child();
}

/* ---- argument 0 ---- */

TEST(b52_argument_zero) {
    static char name[5000];
    memset(name, 'x', sizeof name - 1);
    const char *const names[] = {"", "other", "-sh", "/with/slash", name};
    for (size_t i = 0; i < 5; i++)
        for (int l = 0; l < 2; l++) {
            static char want[sizeof name + 32];
            struct show s = show_new();
            CHECK_EQ(forkless_command_arg0(s.command, "before"), 0);
            CHECK_EQ(forkless_command_arg0(s.command, names[i]), 0);
            snprintf(want, sizeof want, "\narg %s\narg show\n", names[i]);
            show_run(&s, launchers[l], &seen);
            CHECK(strstr(seen.text, want));
            CHECK(!strstr(seen.text, "arg before"));
        }
    forkless_command *c = probe("exit", NULL);
    CHECK_EQ(forkless_command_arg0(c, NULL), -EINVAL);
    fails(forkless_spawn, c, -EINVAL, FORKLESS_STEP_SETTER, 0);
    forkless_command_free(c);
}

/* An error still tells the program. */
TEST(argument_zero_is_not_the_program) {
    forkless_child *child;
    forkless_error error;
    forkless_command *c = command("/nonexistent", NULL);
    CHECK_EQ(forkless_command_arg0(c, PROBE), 0);
    CHECK_EQ(forkless_spawn(c, &child, &error), -ENOENT);
    CHECK(strcmp(error.subject, "/nonexistent") == 0);
    forkless_command_free(c);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(by_descriptor_of_each_kind),
        cmocka_unit_test(by_descriptor_at_the_start),
        cmocka_unit_test(by_descriptor_with_a_search),
        cmocka_unit_test(a_deleted_program),
        cmocka_unit_test(its_number_becomes_another),
        cmocka_unit_test(not_open),
        cmocka_unit_test(b41_a_script),
        cmocka_unit_test(what_is_no_program),
        cmocka_unit_test(b52_argument_zero),
        cmocka_unit_test(argument_zero_is_not_the_program),
    };
    return RUN(tests);
}
