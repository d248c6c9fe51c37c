#include "children.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "worker.h"

/* ---- children ---- */

static size_t read_file(const char *path, char *text, size_t size) {
    size_t used = 0;
    int fd = open(path, O_RDONLY | O_CLOEXEC);
    for (ssize_t n; fd >= 0 && used < size - 1 && (n = read(fd, text + used, size - 1 - used)) > 0;)
        used += (size_t)n;
    if (fd >= 0)
        close(fd);
    text[used] = '\0';
    return used;
}

size_t children_of(pid_t thread, pid_t *pids, size_t size) {
    char path[64], text[8192], *at = text;
    size_t n = 0;
    snprintf(path, sizeof path, "/proc/self/task/%d/children", thread);
    read_file(path, text, sizeof text);
    for (long pid; n < size && (pid = strtol(at, &at, 10)) > 0;)
        pids[n++] = (pid_t)pid;
    return n;
}

static int for_each_child(void (*body)(pid_t)) {
    int found = 0;
    pid_t pids[1024];
    DIR *threads = opendir("/proc/self/task");
    for (struct dirent *e; threads && (e = readdir(threads));) {
        size_t n = e->d_name[0] == '.' ? 0 : children_of(atoi(e->d_name), pids, 1024);
        for (size_t i = 0; i < n; i++)
            body(pids[i]);
        found += (int)n;
    }
    if (threads)
        closedir(threads);
    return found;
}

static void print(pid_t pid) {
    char path[64], stat[256], arguments[512];
    snprintf(path, sizeof path, "/proc/%d/stat", pid);
    read_file(path, stat, sizeof stat);
    snprintf(path, sizeof path, "/proc/%d/cmdline", pid);
    size_t n = read_file(path, arguments, sizeof arguments);
    for (size_t i = 0; i < n; i++)
        if (arguments[i] == '\0')
            arguments[i] = ' ';
    fprintf(stderr, "soak: child %.*s: %s\n", (int)strcspn(stat, "\n"), stat, arguments);
}

int children_print(void) {
    return for_each_child(print);
}

static void end(pid_t pid) {
    kill(pid, SIGKILL);
    kill(-pid, SIGKILL);
}

void children_end_all(void) {
    for_each_child(end);
    cgroups_remove();
}

/* ---- cgroups ---- */

static struct {
    char root[160];
    int count;
} made;

static void name_of(int i, char *path, size_t size) {
    snprintf(path, size, "%s/forkless-soak-%d-%d", made.root, getpid(), i);
}

static bool find_mount(void) {
    char line[512], kind[64];
    FILE *mounts = fopen("/proc/mounts", "re");
    bool found = false;
    while (!found && mounts && fgets(line, sizeof line, mounts))
        found =
            sscanf(line, "%*s %159s %63s", made.root, kind) == 2 && strcmp(kind, "cgroup2") == 0;
    if (mounts)
        fclose(mounts);
    return found;
}

bool cgroups_make(struct worker *workers, int count, const char **reason) {
    if (!find_mount()) {
        *reason = "no cgroup2 is mounted";
        return false;
    }
    for (int i = 0; i < count; i++) {
        struct worker *w = &workers[i];
        name_of(i, w->cgroup_path, sizeof w->cgroup_path);
        if (mkdir(w->cgroup_path, 0755) < 0) {
            *reason = strerror(errno);
            return false;
        }
        made.count = i + 1;
        w->cgroup = open(w->cgroup_path, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
        snprintf(w->cgroup_name, sizeof w->cgroup_name, "/forkless-soak-%d-%d", getpid(), i);
        MUST(w->cgroup >= 0);
    }
    return true;
}

static void kill_in(const char *folder) {
    char path[320];
    snprintf(path, sizeof path, "%s/cgroup.kill", folder);
    int fd = open(path, O_WRONLY | O_CLOEXEC);
    if (fd >= 0) {
        dprintf(fd, "1");
        close(fd);
    }
}

void cgroups_remove(void) {
    char path[256];
    for (int i = 0; i < made.count; i++) {
        name_of(i, path, sizeof path);
        kill_in(path);
        for (int attempt = 0; rmdir(path) < 0 && errno == EBUSY && attempt < 1000; attempt++)
            nap_us(1000);
    }
    made.count = 0;
}
