/* Why exec failed, beyond its errno. Linked statically: the function is private. */
#include <errno.h>
#include <fcntl.h>
#include <sched.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mount.h>
#include <sys/stat.h>
#include <unistd.h>

#include "reason.h"
#include "reason_files.h"
#include "support.h"

/* ---- the path ---- */

TEST(what_is_missing) {
    enter();
    CHECK_EQ(mkdir("a", 0755), 0);
    CHECK_EQ(symlink("nowhere", "a/dangling"), 0);
    fails_as("none", -ENOENT, "");
    fails_as("a/none", -ENOENT, "");
    fails_as("a/b/c/d", -ENOENT, "the folder a/b is missing");
    fails_as("./a//b//c/", -ENOENT, "the folder ./a//b is missing");
    fails_as("a/b/", -ENOENT, "the folder a/b is missing");
    fails_as("/nonexistent/a/b", -ENOENT, "the folder /nonexistent is missing");
    fails_as("a/dangling", -ENOENT, "it is a symbolic link to nothing");
    fails_as("a/dangling/b", -ENOENT, "a/dangling is a symbolic link to nothing");
    fails_as("a/../a/x/y", -ENOENT, "the folder a/../a/x is missing");
    leave();
}

TEST(what_is_no_folder) {
    enter();
    text("f", "x");
    CHECK_EQ(symlink("f", "link"), 0);
    CHECK_EQ(symlink("f/x", "through"), 0);
    fails_as("f/a", -ENOTDIR, "f is not a folder");
    fails_as("./f/a/b", -ENOTDIR, "./f is not a folder");
    fails_as("f/", -ENOTDIR, "f is not a folder");
    fails_as("link/a", -ENOTDIR, "link is not a folder");
    fails_as("through", -ENOTDIR, "");
    fails_as("/dev/null/x", -ENOTDIR, "/dev/null is not a folder");
    text("s", "#!f/sh\n");
    fails_as("s", -ENOTDIR, "f on the way to its interpreter is not a folder");
    leave();
}

TEST(links_in_a_circle) {
    enter();
    CHECK_EQ(symlink("b", "a"), 0);
    CHECK_EQ(symlink("a", "b"), 0);
    fails_as("a", -ELOOP, "it leads through too many symbolic links");
    fails_as("a/x", -ELOOP, "it leads through too many symbolic links");
    text("s", "#!a\n");
    fails_as("s", -ELOOP, "its interpreter a leads through too many symbolic links");
    leave();
}

/* ---- permission ---- */

TEST(what_is_not_executable) {
    enter();
    CHECK_EQ(mkdir("d", 0755), 0);
    CHECK_EQ(mkfifo("fifo", 0755), 0);
    file("f", "x", 1, 0644);
    fails_as("d", -EACCES, "it is a folder");
    fails_as("/", -EACCES, "it is a folder");
    fails_as("/dev/null", -EACCES, "it is not a regular file");
    fails_as("fifo", -EACCES, "it is not a regular file");
    fails_as("f", -EACCES, "it is not executable");
    text("s", "#! f\n");
    fails_as("s", -EACCES, "its interpreter f is not executable");
    text("s", "#!d -x\n");
    fails_as("s", -EACCES, "its interpreter d is a folder");
    text("s", "#!fifo");
    fails_as("s", -EACCES, "its interpreter fifo is not a regular file");
    text("t", "#!s");
    fails_as("t", -EACCES, "the interpreter fifo is not a regular file");
    says(PROBE, -EACCES, ""); /* some security module, for instance */
    leave();
}

TEST(what_another_user_may_not) {
    if (getuid() != 0)
        skip_test("not root");
    enter();
    CHECK_EQ(mkdir("closed", 0700), 0);
    CHECK_EQ(mkdir("closed/d", 0755), 0);
    text("closed/f", "x");
    CHECK_EQ(symlink("closed/f", "link"), 0);
    CHECK_EQ(symlink("closed/d", "links"), 0);
    file("mine", "x", 1, 0700);
    file("unreadable", "#!/nonexistent\n", 15, 0711);
    text("s", "#!closed/f\n");
    CHECK_EQ(setresuid(65534, 65534, 0), 0);
    fails_as("closed/f", -EACCES, "the folder closed cannot be searched");
    fails_as("closed/d/f", -EACCES, "the folder closed cannot be searched");
    fails_as("link", -EACCES, "link leads through a folder that cannot be searched");
    fails_as("links/f", -EACCES, "links leads through a folder that cannot be searched");
    fails_as("mine", -EACCES, "it is not executable by this user");
    fails_as("unreadable", -ENOENT, "");
    fails_as("s", -EACCES, "the folder closed on the way to its interpreter cannot be searched");
    CHECK_EQ(setresuid(0, 0, 0), 0);
    CHECK_EQ(chmod(".", 0700), 0);
    CHECK_EQ(setresuid(65534, 65534, 0), 0);
    fails_as("s", -EACCES, "the folder . cannot be searched");
    CHECK_EQ(setresuid(0, 0, 0), 0);
    leave();
}

TEST(what_is_mounted_noexec) {
    if (unshare(CLONE_NEWNS) < 0)
        skip_test("no mount namespace");
    enter();
    CHECK_EQ(mkdir("m", 0755), 0);
    if (mount("", "/", NULL, MS_REC | MS_PRIVATE, NULL) < 0 ||
        mount("none", "m", "tmpfs", MS_NOEXEC, NULL) < 0) {
        leave();
        skip_test("nothing can be mounted");
    }
    text("m/f", "x");
    text("s", "#!m/f\n");
    fails_as("m/f", -EACCES, "it is on a file system that is mounted noexec");
    fails_as("s", -EACCES, "its interpreter m/f is on a file system that is mounted noexec");
    CHECK_EQ(umount("m"), 0);
    leave();
}

/* ---- scripts ---- */

TEST(b39_interpreters_of_scripts) {
    enter();
    text("s", "#!/nonexistent/sh\n");
    fails_as("s", -ENOENT, "its interpreter /nonexistent/sh is missing");
    text("s", "#! \t none  -x y\nz\n");
    fails_as("s", -ENOENT, "its interpreter none is missing");
    text("s", "#!none");
    fails_as("s", -ENOENT, "its interpreter none is missing");
    text("s", "#!/bin/sh\r\necho\r\n");
    fails_as("s", -ENOENT, "it has a #! line that ends with a carriage return");
    text("s", "#!/nonexistent -x\r\n");
    fails_as("s", -ENOENT, "its interpreter /nonexistent is missing");
    text("t", "#!s\n");
    fails_as("t", -ENOENT, "the interpreter /nonexistent is missing");
    text("s", "#!/bin/sh\r\n");
    fails_as("t", -ENOENT, "its interpreter s has a #! line that ends with a carriage return");
    CHECK_EQ(symlink("nowhere", "dangling"), 0);
    text("s", "#!dangling\n");
    fails_as("s", -ENOENT, "its interpreter dangling is a symbolic link to nothing");
    text("s", "#!dangling/x\n");
    fails_as("s", -ENOENT, "its interpreter dangling/x is missing");
    text("s", "#!/bin/sh\n");
    says("s", -ENOENT, "");
    leave();
}

TEST(lines_that_name_no_interpreter) {
    static char line[600];
    enter();
    text("s", "#!\n/bin/sh\n");
    fails_as("s", -ENOEXEC, "it has a #! line without an interpreter");
    text("s", "#! \t \n");
    fails_as("s", -ENOEXEC, "it has a #! line without an interpreter");
    text("s", "#!");
    fails_as("s", -EACCES, "it has a #! line without an interpreter");
    memset(line, 'a', sizeof line - 1);
    memcpy(line, "#!/bin/", 7);
    for (size_t end = 250; end < 262; end++) {
        line[end] = '\n';
        text("s", line);
        if (end < 256) {
            line[end] = '\0';
            char want[300];
            snprintf(want, sizeof want, "its interpreter ...%.97s is missing", line + end - 97);
            fails_as("s", -ENOENT, want);
        } else
            fails_as("s", -ENOEXEC, "it has a #! line that is too long");
        line[end] = 'a';
    }
    memset(line + 2, ' ', sizeof line - 3);
    text("s", line);
    fails_as("s", -ENOEXEC, "it has a #! line without an interpreter");
    leave();
}

TEST(scripts_of_scripts) {
    enter();
    text("s0", "#!none\n");
    for (char i = '1'; i < '8'; i++) {
        char name[] = {'s', i, '\0'}, line[] = {'#', '!', 's', (char)(i - 1), '\n', '\0'};
        text(name, line);
    }
    fails_as("s4", -ENOENT, "the interpreter none is missing");
    fails_as("s5", -ENOENT, "the interpreter none is missing");
    fails_as("s6", -ELOOP, "it leads through too many #! lines");
    fails_as("s7", -ELOOP, "it leads through too many #! lines");
    text("self", "#!self\n");
    fails_as("self", -ELOOP, "it leads through too many #! lines");
    says("s5", -ELOOP, "");
    leave();
}

/* ---- what is no program ---- */

TEST(b48_what_is_no_program) {
    enter();
    file("f", "", 0, 0755);
    fails_as("f", -ENOEXEC, "it is empty");
    text("f", "echo hello\n");
    fails_as("f", -ENOEXEC, "it has no #! line, and no shell steps in");
    text("s", "#!f\n");
    fails_as("s", -ENOEXEC, "its interpreter f has no #! line, and no shell steps in");
    text("f", "\xc3\xa4\t\v\r\n");
    fails_as("f", -ENOEXEC, "it has no #! line, and no shell steps in");
    text("f", "\xef\xbb\xbf#!/bin/sh\n");
    fails_as("f", -ENOEXEC, "it has a byte order mark before its #!");
    file("f", "\1\2\3\0\4", 5, 0755);
    fails_as("f", -ENOEXEC, "it is neither a script nor a program of this system");
    says("fifo", -ENOEXEC, "");
    says("/dev/null", -ENOEXEC, "");
    leave();
}

/* ---- the rest ---- */

TEST(open_for_writing) {
    enter();
    text("f", "x");
    text("s", "#!/bin/sh\n");
    int f = open("f", O_WRONLY | O_CLOEXEC), s = open("s", O_WRONLY | O_CLOEXEC);
    fails_as("f", -ETXTBSY, "it is open for writing");
    fails_as("s", -ETXTBSY, "it or its interpreter is open for writing");
    close(f);
    close(s);
    leave();
}

TEST(too_large) {
    static const char want[] = "the arguments and the environment are too large for the kernel, or "
                               "one string is longer than 32 pages";
    static char large[131073];
    memset(large, 'a', sizeof large - 1);
    forkless_command *c = command("/bin/true", large, NULL);
    fails(forkless_spawn, c, -E2BIG, FORKLESS_STEP_EXEC, -1);
    forkless_command_free(c);
    large[131071] = '\0';
    c = command("/bin/true", large, NULL);
    ends(launched(forkless_spawn, c), FORKLESS_EXITED, 0);
    forkless_command_free(c);
    says("/bin/true", -E2BIG, want);
    says("", -E2BIG, want);
}

TEST(nothing_to_say) {
    static char deep[5000];
    memset(deep, 'a', sizeof deep - 1);
    for (int code = -140; code < 3; code++) {
        switch (-code) {
        case ENOENT:
        case ENOTDIR:
        case EACCES:
        case ENOEXEC:
        case ELOOP:
        case E2BIG:
        case ETXTBSY:
            break;
        default:
            says("/nonexistent/x", code, "");
        }
        if (code != -E2BIG) {
            says("", code, "");
            says(deep, code, "");
        }
    }
    fails_as(deep, -ENAMETOOLONG, "");
    char reason[4] = "xyz";
    fl_reason(NULL, -ENOENT, reason, sizeof reason);
    CHECK(reason[0] == '\0');
    fl_reason("/nonexistent/x", -ENOENT, NULL, 0);
}

/* ---- names that do not fit ---- */

static void is_cut(const char *path, size_t size, const char *want) {
    char reason[300];
    memset(reason, 'x', sizeof reason);
    fl_reason(path, -ENOENT, reason, size);
    CHECK_EQ(strlen(reason), strlen(want));
    CHECK(strcmp(reason, want) == 0);
    CHECK(size <= strlen(want) || reason[size] == 'x');
}

TEST(a_long_name_keeps_its_end) {
    is_cut("/nonexistent/x", 35, "the folder /nonexistent is missing");
    is_cut("/nonexistent/x", 34, "the folder ...existent is missing");
    is_cut("/nonexistent/x", 26, "the folder ... is missing");
    is_cut("/nonexistent/x", 25, "the folder  is missing");
    is_cut("/nonexistent/x", 5, "the ");
    is_cut("/nonexistent/x", 1, "");
    /* A character of two bytes is kept, or not at all. */
    is_cut("/nonexistent\xc3\xa4z/x", 29, "the folder ...\xc3\xa4z is missing");
    is_cut("/nonexistent\xc3\xa4z/x", 28, "the folder ...z is missing");
    is_cut("/no\033[1m/x", 128, "the folder /no\033[1m is missing");
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(what_is_missing),
        cmocka_unit_test(what_is_no_folder),
        cmocka_unit_test(links_in_a_circle),
        cmocka_unit_test(what_is_not_executable),
        cmocka_unit_test(what_another_user_may_not),
        cmocka_unit_test(what_is_mounted_noexec),
        cmocka_unit_test(b39_interpreters_of_scripts),
        cmocka_unit_test(lines_that_name_no_interpreter),
        cmocka_unit_test(scripts_of_scripts),
        cmocka_unit_test(b48_what_is_no_program),
        cmocka_unit_test(open_for_writing),
        cmocka_unit_test(too_large),
        cmocka_unit_test(nothing_to_say),
        cmocka_unit_test(a_long_name_keeps_its_end),
    };
    return RUN(tests);
}
