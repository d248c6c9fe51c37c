#include "others.h"

#include <dirent.h>
#include <fcntl.h>
#include <sched.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/wait.h>
#include <unistd.h>

#include "support.h"

atomic_bool done;

void *allocate(void *unused) {
    while (!done) {
        void *blocks[16];
        for (size_t i = 0; i < 16; i++)
            blocks[i] = malloc((size_t)64 << (i % 12));
        for (size_t i = 0; i < 16; i++)
            free(blocks[i]);
        sched_yield();
    }
    return unused;
}

void *change_environment(void *unused) {
    for (unsigned i = 0; !done; i++) {
        char name[16];
        snprintf(name, sizeof name, "NAME%u", i % 50);
        setenv(name, "value", 1);
        unsetenv(name);
        sched_yield();
    }
    return unused;
}

void *fork_and_system(void *unused) {
    while (!done) {
        pid_t pid = forked();
        if (pid == 0) {
            nap(1000);
            _exit(0);
        }
        CHECK_EQ(waitpid(pid, NULL, 0), pid);
        CHECK_EQ(system("exit 0"), 0);
        nap(1000);
    }
    return unused;
}

static void kill_children_of(const char *task) {
    char path[300], text[4096];
    snprintf(path, sizeof path, "/proc/self/task/%s/children", task);
    int fd = open(path, O_RDONLY | O_CLOEXEC);
    ssize_t size = read(fd, text, sizeof text - 1);
    close(fd);
    text[size > 0 ? size : 0] = '\0';
    char *at = text;
    for (long pid; (pid = strtol(at, &at, 10)) > 0;)
        kill((pid_t)pid, SIGKILL);
}

void *kill_children(void *microseconds) {
    while (!done) {
        DIR *tasks = opendir("/proc/self/task");
        for (struct dirent *e; (e = readdir(tasks));)
            if (e->d_name[0] != '.')
                kill_children_of(e->d_name);
        closedir(tasks);
        if (microseconds)
            nap(*(const int *)microseconds);
    }
    return microseconds;
}
