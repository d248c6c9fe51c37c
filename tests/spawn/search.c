/* A program that is searched for: along the child's PATH, by the child, where it is by then. */
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "support.h"

static char folder[] = "/tmp/spawn-test-XXXXXX";

/* In a folder of its own, where others may look. */
static void enter_folder(void) {
    CHECK(mkdtemp(folder));
    CHECK_EQ(chmod(folder, 0755), 0);
    CHECK_EQ(chdir(folder), 0);
    umask(022);
}

static void remove_folder(void) {
    char line[128];
    snprintf(line, sizeof line, "PATH=/bin:/usr/bin; chmod -R u+rwx %s && rm -r %s", folder,
             folder);
    CHECK_EQ(chdir("/"), 0);
    CHECK_EQ(system(line), 0);
}

static void make(const char *path, const char *text, mode_t mode) {
    char parent[512];
    snprintf(parent, sizeof parent, "%s", path);
    char *slash = strrchr(parent, '/');
    if (slash) {
        *slash = '\0';
        CHECK(mkdir(parent, 0755) == 0 || errno == EEXIST);
    }
    int fd = open(path, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0600);
    CHECK_EQ(write(fd, text, strlen(text)), strlen(text));
    CHECK_EQ(fchmod(fd, mode), 0);
    close(fd);
}

static void make_script(const char *path, int code) {
    char text[64];
    snprintf(text, sizeof text, "#!/bin/sh\nexit %d\n", code);
    make(path, text, 0755);
}

static forkless_command *search(const char *name, const char *path) {
    forkless_command *c = command(name, NULL);
    CHECK_EQ(forkless_command_search(c), 0);
    CHECK_EQ(forkless_command_setenv(c, "PATH", path), 0);
    return c;
}

static void finds(forkless_command *c, int code) {
    for (int l = 0; l < 2; l++)
        ends(launched(launchers[l], c), FORKLESS_EXITED, code);
    forkless_command_free(c);
}

/* With this program as the subject, and a reason if one is wanted. */
static void misses(forkless_command *c, const char *name, int code, const char *reason) {
    for (int l = 0; l < 2; l++) {
        forkless_child *child;
        forkless_error error;
        char text[512];
        if (launchers[l](c, &child, &error) == 0)
            forkless_wait(child, FORKLESS_NEVER, NULL, &error);
        forkless_child_free(child);
        CHECK_EQ(error.code, code);
        CHECK_EQ(error.step, FORKLESS_STEP_EXEC);
        CHECK(strcmp(error.subject, name) == 0);
        forkless_error_print(&error, text, sizeof text);
        CHECK(reason ? strstr(text, reason) != NULL : error.reason[0] == '\0');
    }
    forkless_command_free(c);
}

static const char nowhere[] = "(it is in no folder of the child's PATH)";

/* ---- B42: what is met on the way ---- */

static _Noreturn void b42_as_another(void) {
    CHECK(geteuid() != 0 || setresuid(65534, 65534, 65534) == 0);
    finds(search("prog", "noexec:unreadable:folders:file:missing:good"), 7);
    finds(search("prog", "good:noexec"), 7);
    misses(search("prog", "noexec:unreadable:missing"), "prog", -EACCES, "it is not executable");
    misses(search("prog", "unreadable:missing"), "prog", -EACCES, NULL);
    misses(search("prog", "missing:noexec:file"), "prog", -EACCES, "it is not executable");
    misses(search("prog", "folders:missing"), "prog", -EACCES, "it is a folder");
    misses(search("prog", "missing:file:sub"), "prog", -ENOENT, nowhere);
    _exit(0);
}

TEST(b42_denied_is_remembered) {
    enter_folder();
    make("noexec/prog", "#!/bin/sh\nexit 8\n", 0644);
    make_script("unreadable/prog", 9);
    CHECK_EQ(chmod("unreadable", 0), 0);
    make_script("good/prog", 7);
    make("file", "", 0755);
    CHECK_EQ(mkdir("folders", 0755), 0);
    CHECK_EQ(mkdir("folders/prog", 0755), 0);
    CHECK_EQ(mkdir("sub", 0755), 0);
    pid_t pid = forked();
    if (pid == 0)
        b42_as_another();
    int status;
    CHECK_EQ(waitpid(pid, &status, 0), pid);
    CHECK_EQ(status, 0);
    remove_folder();
}

TEST(b48_what_is_no_program_ends_the_search) {
    enter_folder();
    make("bad/prog", "exit 8\n", 0755);
    make_script("good/prog", 7);
    misses(search("prog", "bad:good"), "prog", -ENOEXEC, "it has no #! line");
    misses(search("prog", "good/prog:missing:bad:good"), "prog", -ENOEXEC, "it has no #! line");
    finds(search("prog", "good:bad"), 7);
    remove_folder();
}

/* ENOENT of an interpreter is no word on the program. */
TEST(b39_found_without_its_interpreter) {
    enter_folder();
    char path[128];
    make("bad/prog", "#!/nonexistent/sh\n", 0755);
    make_script("good/prog", 7);
    finds(search("prog", "bad:good"), 7);
    misses(search("prog", "missing:bad"), "prog", -ENOENT, "interpreter /nonexistent/sh");
    snprintf(path, sizeof path, "/missing:%s/bad:", folder);
    forkless_command *c = search("prog", path);
    CHECK_EQ(forkless_command_cwd(c, "/"), 0);
    misses(c, "prog", -ENOENT, "interpreter /nonexistent/sh");
    /* Nor is anything said of a folder that cannot be seen from here. */
    c = search("prog", "bad:missing");
    CHECK_EQ(forkless_command_cwd(c, folder), 0);
    misses(c, "prog", -ENOENT, NULL);
    remove_folder();
}

/* ---- B44: whose PATH ---- */

TEST(b44_path_of_the_child) {
    enter_folder();
    make_script("one/prog", 1);
    make_script("two/prog", 2);
    setenv("PATH", "one", 1);
    finds(search("prog", "two"), 2);
    finds(search("prog", "missing:two:one"), 2);
    finds(search("prog", "one:two"), 1);
    forkless_command *c = command("prog", NULL);
    CHECK_EQ(forkless_command_search(c), 0);
    setenv("PATH", "two", 1); /* what counts is the making */
    finds(c, 1);
    remove_folder();
}

/* However it was set, before the search was asked for or after. */
TEST(b44_order_of_the_setters) {
    enter_folder();
    make_script("one/prog", 1);
    make_script("two/prog", 2);
    char *const one[] = {"X=1", "PATH=one", "PATH=two", NULL}, *const none[] = {NULL};
    for (int way = 0; way < 8; way++) {
        forkless_command *c = command("prog", NULL);
        if (way & 1)
            CHECK_EQ(forkless_command_search(c), 0);
        CHECK_EQ(forkless_command_env(c, one), 0); /* the first counts, as for getenv */
        if (way & 2)
            CHECK_EQ(forkless_command_setenv(c, "PATH", "two"), 0);
        if (way & 4) {
            CHECK_EQ(forkless_command_env(c, none), 0);
            CHECK_EQ(forkless_command_setenv(c, "PATH", "missing:one"), 0);
        }
        if (!(way & 1))
            CHECK_EQ(forkless_command_search(c), 0);
        finds(c, way & 4 ? 1 : way & 2 ? 2 : 1);
    }
    remove_folder();
}

TEST(b44_without_path) {
    enter_folder();
    make_script("prog", 3);
    setenv("PATH", folder, 1);
    misses(search("prog", NULL), "prog", -ENOENT, nowhere);
    forkless_command *c = search("sh", NULL);
    CHECK_EQ(forkless_command_arg(c, "-c"), 0);
    CHECK_EQ(forkless_command_arg(c, "exit 7"), 0);
    finds(c, 7);
    c = search("true", NULL);
    finds(c, 0);
    remove_folder();
}

TEST(b44_empty_entries_are_the_working_directory) {
    enter_folder();
    make_script("prog", 3);
    make_script("one/prog", 1);
    finds(search("prog", ""), 3);
    finds(search("prog", ":"), 3);
    finds(search("prog", ":one"), 3);
    finds(search("prog", "missing:"), 3);
    finds(search("prog", "missing::one"), 3);
    finds(search("prog", "one:"), 1);
    CHECK_EQ(unlink("prog"), 0);
    misses(search("prog", "::missing:"), "prog", -ENOENT, nowhere);
    remove_folder();
}

/* ---- B46: where the child is by then ---- */

static void b46_with(const char *name, const char *path, bool searches, int here, int there) {
    for (int way = 0; way < 3; way++) {
        forkless_command *c = searches ? search(name, path) : command(name, NULL);
        int sub = open("sub", O_PATH | O_DIRECTORY | O_CLOEXEC);
        if (way == 1)
            CHECK_EQ(forkless_command_cwd(c, "sub"), 0);
        if (way == 2)
            CHECK_EQ(forkless_command_cwd_fd(c, sub), 0);
        if (way == 0)
            finds(c, here);
        else
            finds(c, there);
        close(sub);
    }
}

TEST(b46_relative_to_the_childs_folder) {
    enter_folder();
    CHECK_EQ(mkdir("sub", 0755), 0);
    make_script("prog", 1);
    make_script("bin/prog", 2);
    make_script("sub/prog", 3);
    make_script("sub/bin/prog", 4);
    for (int m = FORKLESS_CLONE3_VM; m <= FORKLESS_CLONE_VFORK; m++) {
        CHECK_EQ(forkless_mechanism_limit((enum forkless_mechanism)m), 0);
        b46_with("prog", "bin", true, 2, 4);
        b46_with("prog", "./bin:", true, 2, 4);
        b46_with("prog", ".", true, 1, 3);
        b46_with("prog", "", true, 1, 3);
        b46_with("./prog", "bin", true, 1, 3);
        b46_with("./prog", NULL, false, 1, 3);
        b46_with("bin/prog", NULL, false, 2, 4);
    }
    remove_folder();
}

TEST(a_name_with_a_slash_is_not_searched_for) {
    enter_folder();
    make_script("one/sub", 1);
    CHECK_EQ(mkdir("two", 0755), 0);
    make_script("two/one/sub", 2);
    finds(search("one/sub", "two"), 1);
    misses(search("sub/", "one"), "sub/", -ENOENT, "");
    misses(search("/sub", "one"), "/sub", -ENOENT, "");
    remove_folder();
}

/* ---- lengths ---- */

/* As long as one string of an environment may be. */
TEST(a_path_of_ten_thousand_entries) {
    enter_folder();
    enum { ENTRIES = 10000 };
    make_script("good/prog", 7);
    char *path = malloc(ENTRIES * 12 + 64), *to = path;
    for (int i = 0; i < ENTRIES; i++)
        to += sprintf(to, "/none/%05d:", i);
    CHECK(to - path > 110000);
    misses(search("prog", path), "prog", -ENOENT, nowhere);
    strcpy(to, "good");
    finds(search("prog", path), 7);
    memset(path, ':', ENTRIES * 12);
    misses(search("missing", path), "missing", -ENOENT, nowhere);
    free(path);
    remove_folder();
}

TEST(long_names) {
    enter_folder();
    char name[257], path[300];
    memset(name, 'x', 256);
    name[256] = '\0';
    forkless_command *c = search(name, "sub:.");
    for (int l = 0; l < 2; l++)
        fails(launchers[l], c, -ENAMETOOLONG, FORKLESS_STEP_EXEC, -1);
    forkless_command_free(c);
    name[255] = '\0';
    snprintf(path, sizeof path, "sub/%s", name);
    make_script(path, 7);
    finds(search(name, "missing:sub"), 7);
    remove_folder();
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(b42_denied_is_remembered),
        cmocka_unit_test(b48_what_is_no_program_ends_the_search),
        cmocka_unit_test(b39_found_without_its_interpreter),
        cmocka_unit_test(b44_path_of_the_child),
        cmocka_unit_test(b44_order_of_the_setters),
        cmocka_unit_test(b44_without_path),
        cmocka_unit_test(b44_empty_entries_are_the_working_directory),
        cmocka_unit_test(b46_relative_to_the_childs_folder),
        cmocka_unit_test(a_name_with_a_slash_is_not_searched_for),
        cmocka_unit_test(a_path_of_ten_thousand_entries),
        cmocka_unit_test(long_names),
    };
    return RUN(tests);
}
