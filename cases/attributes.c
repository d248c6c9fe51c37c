#include "attributes.h"

#include <errno.h>
#include <fcntl.h>
#include <mntent.h>
#include <sched.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "similar.h"

static int set_search(forkless_command *command) {
    return forkless_command_search(command);
}

static char *const *two_variables(void) {
    static char *const environment[] = {"PATH=/usr/bin:/bin", "LANG=C", NULL};
    return environment;
}

/* As a build tool has them: 10 KiB. */
static char *const *many_variables(void) {
    enum { COUNT = 250, LENGTH = 40 };
    static char texts[COUNT][LENGTH + 1], *environment[COUNT + 1];
    for (int i = 0; i < COUNT; i++) {
        snprintf(texts[i], sizeof texts[i], "VARIABLE_%03d=%027d", i, i);
        environment[i] = texts[i];
    }
    return environment;
}

static int set_env(forkless_command *command) {
    return forkless_command_env(command, two_variables());
}

static int set_env_250(forkless_command *command) {
    return forkless_command_env(command, many_variables());
}

static int set_cwd(forkless_command *command) {
    return forkless_command_cwd(command, "/");
}

static int set_umask(forkless_command *command) {
    return forkless_command_umask(command, 027);
}

static int set_fd(forkless_command *command) {
    return forkless_command_fd(command, 3, STDERR_FILENO);
}

static int set_file(forkless_command *command) {
    return forkless_command_file(command, STDIN_FILENO, "/dev/null", O_RDONLY, 0);
}

static int set_pipe(forkless_command *command) {
    return forkless_command_pipe(command, STDIN_FILENO, FORKLESS_READS);
}

static int set_memory(forkless_command *command) {
    return forkless_command_memory(command, STDIN_FILENO, "hello", 5);
}

static int set_same(forkless_command *command) {
    return forkless_command_same(command, STDERR_FILENO, STDOUT_FILENO);
}

static int set_group(forkless_command *command) {
    return forkless_command_group(command, 0);
}

static int set_session(forkless_command *command) {
    return forkless_command_session(command);
}

static int set_mask(forkless_command *command) {
    sigset_t mask;
    sigemptyset(&mask);
    sigaddset(&mask, SIGUSR1);
    return forkless_command_mask(command, &mask);
}

static int set_signal(forkless_command *command) {
    return forkless_command_signal(command, SIGINT, FORKLESS_IGNORE);
}

static int set_all_signals(forkless_command *command) {
    return forkless_command_signal(command, FORKLESS_ALL_SIGNALS, FORKLESS_DEFAULT);
}

static int set_rlimit(forkless_command *command) {
    const struct rlimit none = {0, 0};
    return forkless_command_rlimit(command, RLIMIT_CORE, &none);
}

static int set_nice(forkless_command *command) {
    return forkless_command_nice(command, 19);
}

static int set_scheduler(forkless_command *command) {
    return forkless_command_scheduler(command, SCHED_BATCH, 0);
}

/* Every CPU that this process may use: no child has to move. */
static int set_affinity(forkless_command *command) {
    cpu_set_t cpus;
    if (sched_getaffinity(0, sizeof cpus, &cpus) < 0)
        return -errno;
    return forkless_command_affinity(command, &cpus, sizeof cpus);
}

static int set_io_priority(forkless_command *command) {
    return forkless_command_io_priority(command, 2, 7);
}

static int set_no_new_privs(forkless_command *command) {
    return forkless_command_no_new_privs(command);
}

static int set_death_signal(forkless_command *command) {
    return forkless_command_death_signal(command, SIGKILL);
}

static int keep(int fd, int rc) {
    if (rc == 0)
        return fd;
    close(fd);
    return rc;
}

static const char *lacks_root(void) {
    return geteuid() == 0 ? NULL : "needs to be root: run it as root";
}

static int set_namespace(forkless_command *command) {
    if (lacks_root())
        return -ENOTSUP;
    int fd = open("/proc/self/ns/uts", O_RDONLY | O_CLOEXEC);
    return fd < 0 ? -errno : keep(fd, forkless_command_namespace(command, fd, CLONE_NEWUTS));
}

/* Where cgroup v2 is mounted. */
static bool find_cgroups(char *path, size_t size) {
    struct mntent *mount;
    bool found = false;
    FILE *mounts = setmntent("/proc/self/mounts", "re");
    while (mounts && !found && (mount = getmntent(mounts))) {
        found = strcmp(mount->mnt_type, "cgroup2") == 0;
        snprintf(path, size, "%s", mount->mnt_dir);
    }
    if (mounts)
        endmntent(mounts);
    return found;
}

/* The folder of the cgroup where this process is already; -1 where there is none. */
static int open_cgroup(void) {
    char path[4096], line[2048], own[2048] = "";
    FILE *file = fopen("/proc/self/cgroup", "re");
    while (file && fgets(line, sizeof line, file))
        sscanf(line, "0::%2047[^\n]", own);
    if (file)
        fclose(file);
    if (!own[0] || !find_cgroups(path, sizeof path - sizeof own))
        return -1;
    strcat(path, own);
    return open(path, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
}

static const char *lacks_cgroup(void) {
    int fd = lacks_root() ? -1 : open_cgroup();
    if (fd < 0)
        return lacks_root() ? lacks_root()
                            : "needs its own cgroup of version 2 to be in sight: "
                              "sudo mount -t cgroup2 none /mnt";
    close(fd);
    return NULL;
}

static int set_cgroup(forkless_command *command) {
    int fd = open_cgroup();
    return fd < 0 ? -ENOTSUP : keep(fd, forkless_command_cgroup(command, fd));
}

/* The user that it is already, by forkless-exec all the same. */
static int set_uid(forkless_command *command) {
    return forkless_command_uid(command, geteuid());
}

static int set_all(forkless_command *command) {
    static int (*const each[])(forkless_command *) = {
        set_env,      set_cwd,         set_umask,        set_session,      set_fd,   set_file,
        set_same,     set_mask,        set_signal,       set_rlimit,       set_nice, set_scheduler,
        set_affinity, set_io_priority, set_no_new_privs, set_death_signal,
    };
    int rc = 0;
    for (size_t i = 0; i < sizeof each / sizeof *each && rc == 0; i++)
        rc = each[i](command);
    return rc;
}

const struct attribute attributes[] = {
    {.name = "none"},
    {.name = "search", .set = set_search},
    {.name = "env", .set = set_env, .environment = two_variables},
    {.name = "env_250", .set = set_env_250, .environment = many_variables},
    {.name = "cwd", .set = set_cwd},
    {.name = "umask", .set = set_umask},
    {.name = "fd", .set = set_fd, .hands_down = true},
    {.name = "file", .set = set_file, .input = true},
    {.name = "pipe", .set = set_pipe, .input = true, .keeps = true},
    {.name = "memory", .set = set_memory, .input = true},
    {.name = "same", .set = set_same},
    {.name = "group", .set = set_group},
    {.name = "session", .set = set_session},
    {.name = "mask", .set = set_mask},
    {.name = "signal", .set = set_signal},
    {.name = "all_signals", .set = set_all_signals},
    {.name = "rlimit", .set = set_rlimit},
    {.name = "nice", .set = set_nice},
    {.name = "scheduler", .set = set_scheduler},
    {.name = "affinity", .set = set_affinity},
    {.name = "io_priority", .set = set_io_priority},
    {.name = "no_new_privs", .set = set_no_new_privs},
    {.name = "death_signal", .set = set_death_signal, .holds = true},
    {.name = "namespace", .set = set_namespace, .lacks = lacks_root},
    {.name = "cgroup", .set = set_cgroup, .lacks = lacks_cgroup, .holds = true},
    {.name = "uid", .set = set_uid, .helped = true},
    {.name = "all", .set = set_all, .input = true, .holds = true},
};
const size_t attribute_count = sizeof attributes / sizeof *attributes;

const struct attribute *attribute_find(const char *name) {
    for (size_t i = 0; i < attribute_count; i++)
        if (strcmp(attributes[i].name, name) == 0)
            return &attributes[i];
    return NULL;
}

const char *attribute_similar(const char *name) {
    const char *names[sizeof attributes / sizeof *attributes];
    for (size_t i = 0; i < attribute_count; i++)
        names[i] = attributes[i].name;
    return similar(name, names, attribute_count);
}
