/* Files and memory that the child opens itself. */
#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include "support.h"

static struct seen seen;
static char folder[] = "/tmp/spawn-test-XXXXXX";

static void enter_folder(void) {
    CHECK(mkdtemp(folder));
    CHECK_EQ(chdir(folder), 0);
}

static void remove_folder(void) {
    char line[64];
    snprintf(line, sizeof line, "rm -r %s", folder);
    CHECK_EQ(system(line), 0);
}

static void write_file(const char *path, const char *text) {
    int fd = open(path, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0600);
    CHECK_EQ(write(fd, text, strlen(text)), strlen(text));
    close(fd);
}

static void check_file(const char *path, const char *want) {
    char text[256];
    int fd = open(path, O_RDONLY | O_CLOEXEC);
    CHECK_EQ(read(fd, text, sizeof text), strlen(want));
    CHECK(memcmp(text, want, strlen(want)) == 0);
    close(fd);
}

static bool is_at(int fd, const char *path) {
    struct stat file;
    const struct seen_fd *f = seen_fd(&seen, fd);
    CHECK_EQ(stat(path, &file), 0);
    return f && f->flags == 0 && f->device == file.st_dev && f->inode == file.st_ino;
}

/* ---- files ---- */

static void opened_with(launcher *launch, int child_fd, int flags, int want) {
    struct show s = show_new();
    CHECK_EQ(forkless_command_file(s.command, child_fd, "file", flags, 0), 0);
    show_run(&s, launch, &seen);
    CHECK(is_at(child_fd, "file"));
    CHECK_EQ(seen_fd(&seen, child_fd)->status & (O_ACCMODE | O_APPEND | O_NONBLOCK), want);
    CHECK_EQ(seen.count, child_fd > 2 ? 4 : 3);
}

TEST(file_is_opened_as_asked) {
    enter_folder();
    write_file("file", "text");
    for (int l = 0; l < 2; l++)
        for (int fd = 0; fd < 8; fd++) {
            opened_with(launchers[l], fd, O_RDONLY, O_RDONLY);
            opened_with(launchers[l], fd, O_WRONLY, O_WRONLY);
            opened_with(launchers[l], fd, O_RDWR | O_APPEND, O_RDWR | O_APPEND);
            opened_with(launchers[l], fd, O_RDONLY | O_NONBLOCK | O_CLOEXEC, O_NONBLOCK);
        }
    check_file("file", "text");
    remove_folder();
}

static mode_t made_with(launcher *launch, mode_t mode, int mask) {
    struct stat file;
    forkless_command *c = probe("exit", NULL);
    CHECK_EQ(forkless_command_file(c, 1, "made", O_WRONLY | O_CREAT | O_EXCL, mode), 0);
    if (mask >= 0)
        CHECK_EQ(forkless_command_umask(c, (mode_t)mask), 0);
    ends(launched(launch, c), FORKLESS_EXITED, 0);
    forkless_command_free(c);
    CHECK_EQ(stat("made", &file), 0);
    CHECK_EQ(unlink("made"), 0);
    return file.st_mode & 07777;
}

TEST(file_is_made_with_mode_and_umask) {
    enter_folder();
    umask(077);
    for (int l = 0; l < 2; l++) {
        CHECK_EQ(made_with(launchers[l], 0666, -1), 0600);
        CHECK_EQ(made_with(launchers[l], 0666, 0027), 0640);
        CHECK_EQ(made_with(launchers[l], 0751, 0), 0751);
    }
    CHECK_EQ(umask(0), 077);
    remove_folder();
}

TEST(file_is_relative_to_the_childs_folder) {
    enter_folder();
    CHECK_EQ(mkdir("sub", 0700), 0);
    int sub = open("sub", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    for (int i = 0; i < 4; i++) {
        forkless_command *c = probe("exit", NULL);
        CHECK_EQ(forkless_command_file(c, 4, "out", O_RDWR | O_CREAT | O_EXCL, 0600), 0);
        CHECK_EQ(i / 2 ? forkless_command_cwd_fd(c, sub) : forkless_command_cwd(c, "sub"), 0);
        ends(launched(launchers[i % 2], c), FORKLESS_EXITED, 0);
        forkless_command_free(c);
        CHECK_EQ(access("out", F_OK), -1);
        CHECK_EQ(unlink("sub/out"), 0);
    }
    remove_folder();
}

TEST(nothing_to_read_and_nowhere_to_write) {
    for (int l = 0; l < 2; l++) {
        struct show s = show_new();
        for (int fd = 0; fd < 3; fd++)
            CHECK_EQ(forkless_command_file(s.command, fd, "/dev/null", O_RDWR, 0), 0);
        show_run(&s, launchers[l], &seen);
        CHECK_EQ(seen.count, 3);
        for (int fd = 0; fd < 3; fd++)
            CHECK(is_at(fd, "/dev/null"));
    }
}

TEST(file_is_appended_to) {
    enter_folder();
    forkless_command *c = probe("cat", NULL);
    CHECK_EQ(forkless_command_memory(c, 0, "line\n", 5), 0);
    CHECK_EQ(forkless_command_file(c, 1, "log", O_WRONLY | O_CREAT | O_APPEND, 0600), 0);
    for (int i = 0; i < 4; i++)
        ends(launched(launchers[i % 2], c), FORKLESS_EXITED, 0);
    check_file("log", "line\nline\nline\nline\n");
    forkless_command_free(c);
    remove_folder();
}

static void file_fails(int child_fd, const char *path, int flags, int code) {
    forkless_command *c = probe("exit", NULL);
    CHECK_EQ(forkless_command_file(c, child_fd, path, flags, 0600), 0);
    for (int l = 0; l < 2; l++) {
        forkless_child *child;
        forkless_error error;
        if (launchers[l](c, &child, &error) == 0)
            forkless_wait(child, FORKLESS_NEVER, NULL, &error);
        forkless_child_free(child);
        CHECK_EQ(error.code, code);
        CHECK_EQ(error.step, FORKLESS_STEP_FILE);
        CHECK_EQ(error.index, child_fd);
        size_t length = strlen(path), room = sizeof error.subject - 1;
        const char *subject = error.subject + (length > room ? 3 : 0);
        CHECK(strcmp(subject, length > room ? path + length - (room - 3) : path) == 0);
    }
    forkless_command_free(c);
    check_no_child();
}

TEST(b28_file_fails) {
    static char path[3000];
    memset(path, 'x', sizeof path - 1);
    for (int i = 0; i < 2999; i += 100)
        path[i] = '/';
    file_fails(0, "/nonexistent/file", O_RDONLY, -ENOENT);
    file_fails(7, "/nonexistent", O_RDONLY, -ENOENT);
    file_fails(1, "/", O_WRONLY, -EISDIR);
    file_fails(2, "/dev/null", O_CREAT | O_EXCL | O_RDWR, -EEXIST);
    file_fails(5, "/dev/null/x", O_RDONLY, -ENOTDIR);
    file_fails(3, path, O_RDONLY, -ENOENT);
    file_fails(100000000, "/dev/null", O_RDONLY, -EBADF);
}

/* With `keeps` the child of spawn does not begin by closing either. */
static void into_full_table(launcher *launch, bool keeps) {
    struct rlimit limit = {700, 700};
    CHECK_EQ(setrlimit(RLIMIT_NOFILE, &limit), 0);
    struct show s = show_new();
    while (dup(0) >= 0)
        ;
    for (int to = 0; to < 9; to += 4) {
        CHECK_EQ(forkless_command_file(s.command, to, "/dev/null", O_RDWR, 0), 0);
        CHECK_EQ(forkless_command_memory(s.command, to + 1, "12345", 5), 0);
    }
    if (keeps)
        CHECK_EQ(forkless_command_fd(s.command, 30, 30), 0);
    show_run(&s, launch, &seen);
    CHECK_EQ(seen.count, keeps ? 8 : 7);
    for (int to = 0; to < 9; to += 4)
        CHECK(is_at(to, "/dev/null") && seen_fd(&seen, to + 1));
    _exit(0);
}

TEST(b11_b38_full_table) {
    for (int way = 0; way < 4; way++) {
        pid_t pid = forked();
        if (pid == 0)
            into_full_table(launchers[way % 2], way / 2);
        int status;
        CHECK_EQ(waitpid(pid, &status, 0), pid);
        CHECK_EQ(status, 0);
    }
}

/* ---- B100: files that take long to open ---- */

static forkless_command *with_fifo(void) {
    enter_folder();
    CHECK_EQ(mkfifo("fifo", 0600), 0);
    forkless_command *c = probe("cat", NULL);
    CHECK_EQ(forkless_command_file(c, 0, "fifo", O_RDONLY, 0), 0);
    CHECK_EQ(forkless_command_file(c, 1, "copy", O_WRONLY | O_CREAT, 0600), 0);
    return c;
}

TEST(b100_start_is_not_held_by_a_fifo) {
    forkless_command *c = with_fifo();
    for (int signal = 0; signal <= SIGTERM; signal += SIGTERM) {
        forkless_status status;
        forkless_child *child = launched(forkless_start, c);
        CHECK_EQ(forkless_wait(child, from_now(signal ? 0 : 20), NULL, NULL), -ETIMEDOUT);
        CHECK_EQ(forkless_kill(child, signal ? signal : SIGKILL, FORKLESS_CHILD), 0);
        CHECK_EQ(forkless_wait(child, FORKLESS_NEVER, &status, NULL), 0);
        CHECK_EQ(status.how, FORKLESS_KILLED);
        CHECK(!status.execed);
        forkless_child_free(child);
    }
    forkless_command_free(c);
    check_no_child();
    remove_folder();
}

static atomic_int spawner;

static void *spawn_in_thread(void *command) {
    spawner = gettid();
    return launched(forkless_spawn, command);
}

TEST(b100_spawn_is_held_until_a_writer_comes) {
    void *child;
    forkless_command *c = with_fifo();
    pthread_t t = thread(spawn_in_thread, c);
    nap(20000);
    CHECK_EQ(pthread_tryjoin_np(t, &child), EBUSY);
    int fd = open("fifo", O_WRONLY | O_CLOEXEC);
    CHECK_EQ(pthread_join(t, &child), 0);
    CHECK_EQ(write(fd, "through", 7), 7);
    close(fd);
    ends(child, FORKLESS_EXITED, 0);
    check_file("copy", "through");
    forkless_command_free(c);
    remove_folder();
}

/* The one child of a thread that has not got it yet. */
static pid_t child_of(pid_t tid) {
    char path[64], text[64] = "";
    snprintf(path, sizeof path, "/proc/self/task/%d/children", tid);
    int fd = open(path, O_RDONLY | O_CLOEXEC);
    ssize_t size = read(fd, text, sizeof text - 1);
    close(fd);
    return size > 0 ? atoi(text) : 0;
}

TEST(b100_spawn_is_held_until_the_child_is_killed) {
    if (access("/proc/thread-self/children", R_OK) < 0)
        skip_test("/proc tells no children");
    void *child;
    pid_t pid;
    forkless_status status;
    forkless_command *c = with_fifo();
    pthread_t t = thread(spawn_in_thread, c);
    while (spawner == 0 || (pid = child_of(spawner)) == 0)
        nap(100);
    nap(20000);
    CHECK_EQ(pthread_tryjoin_np(t, &child), EBUSY);
    CHECK_EQ(kill(pid, SIGKILL), 0);
    CHECK_EQ(pthread_join(t, &child), 0);
    CHECK_EQ(forkless_pid(child), pid);
    CHECK_EQ(forkless_wait(child, FORKLESS_NEVER, &status, NULL), 0);
    CHECK_EQ(status.how, FORKLESS_KILLED);
    CHECK(!status.execed);
    forkless_child_free(child);
    forkless_command_free(c);
    check_no_child();
    remove_folder();
}

/* ---- memory ---- */

static void check_copy(int copy, const char *want, size_t size) {
    struct stat file;
    CHECK_EQ(fstat(copy, &file), 0);
    CHECK_EQ(file.st_size, size);
    char *is = malloc(size + 1);
    CHECK_EQ(pread(copy, is, size + 1, 0), size);
    CHECK(memcmp(is, want, size) == 0);
    free(is);
    CHECK_EQ(ftruncate(copy, 0), 0);
    CHECK_EQ(lseek(copy, 0, SEEK_SET), 0);
}

static void copied(size_t size) {
    char *data = calloc(1, size + 1), *want = calloc(1, size + 1);
    for (size_t i = 0; i < size; i++)
        want[i] = data[i] = (char)(i * 7 + i / 4096);
    int copy = memfd_create("copy", MFD_CLOEXEC);
    forkless_command *c = probe("cat", NULL);
    CHECK_EQ(forkless_command_memory(c, 0, data, size), 0);
    CHECK_EQ(forkless_command_fd(c, 1, copy), 0);
    memset(data, 'X', size);
    free(data);
    for (int i = 0; i < 4; i++) {
        ends(launched(launchers[i % 2], c), FORKLESS_EXITED, 0);
        check_copy(copy, want, size);
    }
    free(want);
    close(copy);
    forkless_command_free(c);
}

TEST(memory_is_read_from_its_start) {
    copied(0);
    copied(1);
    copied(5);
    copied(100000);
    copied(8 << 20);
    forkless_command *c = probe("exit", NULL);
    CHECK_EQ(forkless_command_memory(c, 3, NULL, 0), 0);
    CHECK_EQ(forkless_command_memory(c, 4, NULL, 1), -EINVAL);
    fails(forkless_spawn, c, -EINVAL, FORKLESS_STEP_SETTER, 4);
    forkless_command_free(c);
}

/* What a child reads of it or writes there is nothing to another, before or beside it. */
TEST(memory_is_the_childs_own) {
    int copy = memfd_create("copy", MFD_CLOEXEC);
    for (int l = 0; l < 2; l++) {
        forkless_command *c = command("/bin/sh", "-c", "read -r line; printf XXXXX >&0", NULL);
        CHECK_EQ(forkless_command_memory(c, 0, "one\ntwo\n", 8), 0);
        forkless_child *first = launched(launchers[l], c), *second = launched(launchers[l], c);
        ends(first, FORKLESS_EXITED, 0);
        ends(second, FORKLESS_EXITED, 0);
        forkless_command_free(c);
        c = command("/bin/sh", "-c", "read -r line; printf XX >&0; cat <&3 >&1", NULL);
        CHECK_EQ(forkless_command_memory(c, 0, "one\ntwo\n", 8), 0);
        CHECK_EQ(forkless_command_memory(c, 3, "one\ntwo\n", 8), 0);
        CHECK_EQ(forkless_command_fd(c, 1, copy), 0);
        for (int i = 0; i < 3; i++) {
            ends(launched(launchers[l], c), FORKLESS_EXITED, 0);
            check_copy(copy, "one\ntwo\n", 8);
        }
        forkless_command_free(c);
    }
}

static void memory_fails(long number, int code) {
    int status;
    pid_t pid = forked();
    if (pid == 0) {
        refuse(number, code);
        forkless_command *c = probe("exit", NULL);
        CHECK_EQ(forkless_command_memory(c, 0, "12345", 5), 0);
        for (int l = 0; l < 2; l++)
            fails(launchers[l], c, -code, FORKLESS_STEP_MEMORY, 0);
        check_no_child();
        _exit(0);
    }
    CHECK_EQ(waitpid(pid, &status, 0), pid);
    CHECK_EQ(status, 0);
}

TEST(b15_memory_fails) {
    memory_fails(SYS_memfd_create, ENOMEM);
    memory_fails(SYS_pwrite64, ENOSPC);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(file_is_opened_as_asked),
        cmocka_unit_test(file_is_made_with_mode_and_umask),
        cmocka_unit_test(file_is_relative_to_the_childs_folder),
        cmocka_unit_test(nothing_to_read_and_nowhere_to_write),
        cmocka_unit_test(file_is_appended_to),
        cmocka_unit_test(b28_file_fails),
        cmocka_unit_test(b11_b38_full_table),
        cmocka_unit_test(b100_start_is_not_held_by_a_fifo),
        cmocka_unit_test(b100_spawn_is_held_until_a_writer_comes),
        cmocka_unit_test(b100_spawn_is_held_until_the_child_is_killed),
        cmocka_unit_test(memory_is_read_from_its_start),
        cmocka_unit_test(memory_is_the_childs_own),
        cmocka_unit_test(b15_memory_fails),
    };
    return RUN(tests);
}
