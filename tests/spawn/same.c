/* Descriptors that are the same as another of the child's. */
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include "support.h"

static struct seen seen;

static void same(forkless_command *c, int child_fd, int as) {
    CHECK_EQ(forkless_command_same(c, child_fd, as), 0);
}

/* What the others are the same as. */
enum kind { INHERITED, FD, FILE_OPENED, MEMORY, PIPE, KINDS };

static void set(forkless_command *c, int fd, enum kind kind) {
    if (kind == FD)
        CHECK_EQ(forkless_command_fd(c, fd, 2), 0);
    if (kind == FILE_OPENED)
        CHECK_EQ(forkless_command_file(c, fd, "/dev/null", O_RDWR, 0), 0);
    if (kind == MEMORY)
        CHECK_EQ(forkless_command_memory(c, fd, "12345", 5), 0);
    if (kind == PIPE)
        CHECK_EQ(forkless_command_pipe(c, fd, FORKLESS_WRITES), 0);
}

/* Those that are the same, given in this order, and what they are the same as. */
static const int chains[][4] = {{2, 1}, {2, 1, 7, 2}, {7, 2, 2, 1}, {0, 1, 9, 1}, {12, 11, 11, 1}};

static void of_kind(launcher *launch, enum kind kind, const int *chain) {
    struct show s = show_new();
    same(s.command, chain[0], chain[1]);
    set(s.command, 1, kind);
    if (chain[2])
        same(s.command, chain[2], chain[3]);
    show_run(&s, launch, &seen);
    const struct seen_fd *one = seen_fd(&seen, 1);
    for (int i = 0; i < (chain[2] ? 3 : 2); i += 2) {
        const struct seen_fd *f = seen_fd(&seen, chain[i]);
        CHECK(f && f->flags == 0);
        CHECK(f->device == one->device && f->inode == one->inode && f->status == one->status);
    }
    CHECK_EQ(seen.count, 3 + (chain[0] > 2) + (chain[2] > 2));
}

TEST(same_as_each_kind) {
    CHECK_EQ(dup2(memfd_create("out", 0), 1), 1);
    CHECK_EQ(dup2(memfd_create("err", 0), 2), 2);
    for (int m = FORKLESS_CLONE3_VM; m <= FORKLESS_CLONE_VFORK; m++) {
        CHECK_EQ(forkless_mechanism_limit((enum forkless_mechanism)m), 0);
        for (enum kind kind = INHERITED; kind < KINDS; kind++)
            for (size_t i = 0; i < sizeof chains / sizeof *chains; i++)
                for (int l = 0; l < 2; l++)
                    of_kind(launchers[l], kind, chains[i]);
    }
}

/* One open file with one position, not the same file opened twice. */
TEST(output_and_errors_in_one_file) {
    char path[] = "/tmp/spawn-test-XXXXXX", text[64];
    int file = mkstemp(path);
    CHECK(file >= 0);
    for (int l = 0; l < 2; l++) {
        forkless_command *c = command("/bin/sh", "-c", "echo out; echo err >&2; echo end", NULL);
        CHECK_EQ(forkless_command_file(c, 1, path, O_WRONLY | O_TRUNC, 0), 0);
        same(c, 2, 1);
        ends(launched(launchers[l], c), FORKLESS_EXITED, 0);
        CHECK_EQ(pread(file, text, sizeof text, 0), 12);
        CHECK(memcmp(text, "out\nerr\nend\n", 12) == 0);
        forkless_command_free(c);
    }
    unlink(path);
    close(file);
}

TEST(output_and_errors_in_one_pipe) {
    for (int l = 0; l < 2; l++) {
        char text[64] = "";
        forkless_command *c = command("/bin/sh", "-c", "echo out; echo err >&2", NULL);
        CHECK_EQ(forkless_command_pipe(c, 1, FORKLESS_WRITES), 0);
        same(c, 2, 1);
        forkless_child *child = launched(launchers[l], c);
        CHECK_EQ(forkless_wait(child, FORKLESS_NEVER, NULL, NULL), 0);
        int fd = forkless_child_pipe(child, 1);
        CHECK_EQ(forkless_child_pipe(child, 2), -EBADF);
        CHECK_EQ(read(fd, text, sizeof text), 8);
        CHECK(strcmp(text, "out\nerr\n") == 0);
        CHECK_EQ(read(fd, text, sizeof text), 0);
        close(fd);
        forkless_child_free(child);
        forkless_command_free(c);
    }
}

/* What the child's is in the end, whatever it was before. */
TEST(same_as_what_was_swapped) {
    struct stat files[3];
    for (int fd = 0; fd < 3; fd++) {
        int file = memfd_create("file", 0);
        CHECK_EQ(dup2(file, fd), fd);
        CHECK_EQ(fstat(fd, &files[fd]), 0);
        close(file);
    }
    for (int l = 0; l < 2; l++) {
        struct show s = show_new();
        same(s.command, 0, 1);
        same(s.command, 5, 2);
        CHECK_EQ(forkless_command_fd(s.command, 1, 2), 0);
        CHECK_EQ(forkless_command_fd(s.command, 2, 1), 0);
        CHECK_EQ(forkless_command_fd(s.command, 3, 0), 0);
        show_run(&s, launchers[l], &seen);
        const int want[] = {2, 2, 1, 0, -1, 1};
        for (int fd = 0; fd < 6; fd++)
            if (want[fd] >= 0)
                CHECK_EQ(seen_fd(&seen, fd)->inode, files[want[fd]].st_ino);
        CHECK_EQ(seen.count, 5);
    }
}

/* A swap saves one of its two under the number that the file gets later, and that others read. */
TEST(same_as_a_file_in_a_hole) {
    CHECK_EQ(close_range(3, 500, 0), 0);
    CHECK_EQ(dup2(0, 8), 8);
    CHECK_EQ(dup2(1, 9), 9);
    for (int l = 0; l < 2; l++)
        for (int hole = 3; hole < 7; hole++) {
            struct stat nothing;
            struct show s = show_new();
            CHECK_EQ(forkless_command_fd(s.command, 8, 9), 0);
            CHECK_EQ(forkless_command_fd(s.command, 9, 8), 0);
            for (int fd = 3; fd <= hole; fd++)
                CHECK_EQ(forkless_command_file(s.command, fd, "/dev/null", O_RDONLY, 0), 0);
            same(s.command, 2, hole);
            show_run(&s, launchers[l], &seen);
            CHECK_EQ(stat("/dev/null", &nothing), 0);
            CHECK_EQ(seen_fd(&seen, 2)->inode, nothing.st_ino);
            CHECK_EQ(seen_fd(&seen, hole)->inode, nothing.st_ino);
        }
}

/* ---- errors ---- */

TEST(same_as_nothing) {
    CHECK_EQ(dup2(0, 5), 5); /* of the caller, not of the child */
    for (int l = 0; l < 2; l++) {
        forkless_child *child;
        forkless_error error;
        forkless_command *c = probe("exit", NULL);
        same(c, 2, 5);
        for (int i = 0; i < 2; i++) {
            CHECK_EQ(launchers[l](c, &child, &error), -EBADF);
            CHECK(child == NULL);
            CHECK_EQ(error.step, FORKLESS_STEP_SETTER);
            CHECK_EQ(error.index, 2);
            CHECK(strcmp(error.subject, "forkless_command_same") == 0);
        }
        CHECK_EQ(forkless_command_fd(c, 5, 0), 0); /* now something does */
        ends(launched(launchers[l], c), FORKLESS_EXITED, 0);
        forkless_command_free(c);
    }
}

/* Whatever gets the number of one that is closed: a file, the program, a pipe. */
static void same_as_closed(launcher *launch, enum kind kind, bool with_program) {
    forkless_command *c = probe("exit", NULL);
    same(c, 2, 1);
    set(c, 5, kind);
    set(c, 6, MEMORY);
    if (with_program)
        CHECK_EQ(forkless_command_program_fd(c, 6), 0);
    fails(launch, c, -EBADF, FORKLESS_STEP_DESCRIPTOR, 2);
    forkless_command_free(c);
}

TEST(same_as_a_closed_one) {
    close(1);
    for (enum kind kind = INHERITED; kind < KINDS; kind++)
        for (int l = 0; l < 2; l++) {
            same_as_closed(launchers[l], kind, false);
            CHECK_EQ(dup2(0, 6), 6);
            same_as_closed(launchers[l], kind, true);
        }
    check_no_child();
}

/* Where nothing is closed it may be any of the caller's. */
TEST(same_as_a_closed_one_of_the_caller) {
    CHECK_EQ(close_range(3, 500, 0), 0);
    for (int as = 3; as < 8; as++)
        for (enum kind kind = INHERITED; kind < KINDS; kind++)
            for (int l = 0; l < 2; l++) {
                forkless_command *c = probe("exit", NULL);
                CHECK_EQ(forkless_command_inherit_fds(c), 0);
                same(c, 2, as);
                set(c, 9, kind);
                fails(launchers[l], c, -EBADF, FORKLESS_STEP_DESCRIPTOR, 2);
                forkless_command_free(c);
            }
    check_no_child();
}

static void refused(int (*first)[2], size_t n, int code) {
    forkless_command *c = probe("exit", NULL);
    for (size_t i = 0; i < n; i++)
        CHECK_EQ(forkless_command_same(c, first[i][0], first[i][1]), i + 1 < n ? 0 : code);
    fails(forkless_spawn, c, code, FORKLESS_STEP_SETTER, first[n - 1][0]);
    forkless_command_free(c);
}

TEST(circles_and_bad_numbers) {
    refused((int[][2]){{1, 1}}, 1, -ELOOP);
    refused((int[][2]){{1, 2}, {2, 1}}, 2, -ELOOP);
    refused((int[][2]){{4, 1}, {1, 2}, {2, 4}}, 3, -ELOOP);
    refused((int[][2]){{4, 5}, {5, 6}, {6, 7}, {7, 5}}, 4, -ELOOP);
    refused((int[][2]){{2, 1}, {2, 0}}, 2, -EEXIST);
    refused((int[][2]){{-1, 1}}, 1, -EBADF);
    refused((int[][2]){{1, -1}}, 1, -EBADF);
    refused((int[][2]){{-1, -1}}, 1, -EBADF);
    forkless_command *c = probe("exit", NULL);
    CHECK_EQ(forkless_command_fd(c, 1, 2), 0);
    CHECK_EQ(forkless_command_same(c, 1, 0), -EEXIST);
    forkless_command_free(c);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(same_as_each_kind),
        cmocka_unit_test(output_and_errors_in_one_file),
        cmocka_unit_test(output_and_errors_in_one_pipe),
        cmocka_unit_test(same_as_what_was_swapped),
        cmocka_unit_test(same_as_a_file_in_a_hole),
        cmocka_unit_test(same_as_nothing),
        cmocka_unit_test(same_as_a_closed_one),
        cmocka_unit_test(same_as_a_closed_one_of_the_caller),
        cmocka_unit_test(circles_and_bad_numbers),
    };
    return RUN(tests);
}
