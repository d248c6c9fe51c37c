#include "cgroups.h"

#include <fcntl.h>
#include <stdio.h>
#include <sys/stat.h>
#include <unistd.h>

#include "support.h"

int cgroup_made(char path[CGROUP_PATH]) {
    static const char *const places[] = {"/sys/fs/cgroup", "/sys/fs/cgroup/unified"};
    for (int i = 0; i < 2; i++) {
        char file[64];
        snprintf(file, sizeof file, "%s/cgroup.controllers", places[i]);
        if (access(file, F_OK) < 0)
            continue;
        snprintf(path, CGROUP_PATH, "%s/forkless-test-%d", places[i], getpid());
        if (mkdir(path, 0755) < 0)
            continue;
        int fd = open(path, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
        CHECK(fd >= 0);
        return fd;
    }
    skip_test("no cgroup v2 that may be written");
}

void cgroup_removed(const char *path) {
    for (int i = 0; i < 3000 && rmdir(path) < 0; i++)
        nap(5000);
    CHECK_EQ(access(path, F_OK), -1);
}
