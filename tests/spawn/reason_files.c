#include "reason_files.h"

#include <errno.h>
#include <fcntl.h>
#include <ftw.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "reason.h"
#include "support.h"

static char folder[] = "/tmp/spawn-test-XXXXXX";

void enter(void) {
    CHECK(mkdtemp(folder) != NULL);
    CHECK_EQ(chmod(folder, 0755), 0);
    CHECK_EQ(chdir(folder), 0);
}

static int take_away(const char *path, const struct stat *st, int type, struct FTW *at) {
    (void)st, (void)type, (void)at;
    return remove(path);
}

void leave(void) {
    CHECK_EQ(chdir("/"), 0);
    CHECK_EQ(nftw(folder, take_away, 8, FTW_DEPTH | FTW_PHYS), 0);
}

void file(const char *path, const void *bytes, size_t size, mode_t mode) {
    unlink(path);
    int fd = open(path, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0700);
    CHECK(fd >= 0);
    CHECK_EQ(write(fd, bytes, size), size);
    CHECK_EQ(fchmod(fd, mode), 0);
    close(fd);
}

void text(const char *path, const char *line) {
    file(path, line, strlen(line), 0755);
}

void says(const char *path, int code, const char *want) {
    static struct snapshot before;
    char reason[128];
    memset(reason, 'x', sizeof reason);
    snapshot_take(&before);
    errno = 4711;
    fl_reason(path, code, reason, sizeof reason);
    CHECK_EQ(errno, 4711);
    snapshot_check(&before);
    CHECK(memchr(reason, '\0', sizeof reason) != NULL);
    if (strcmp(reason, want) != 0) {
        char both[512];
        snprintf(both, sizeof both, "%.99s: \"%s\", not \"%.200s\"", path, reason, want);
        check_failed(__FILE__, __LINE__, both);
    }
}

void fails_as(const char *path, int code, const char *want) {
    forkless_command *c = command(path, NULL);
    fails(forkless_spawn, c, code, FORKLESS_STEP_EXEC, -1);
    forkless_command_free(c);
    says(path, code, want);
}
