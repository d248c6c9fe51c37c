#include "replace.h"

#include "memory.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

static bool is_results_file(const char *path) {
    char *error;
    struct run *run = run_read(path, &error);
    if (run)
        run_free(run);
    else
        free(error);
    return run != NULL;
}

bool may_replace(const char *path, const struct run *run, char **error) {
    struct stat there, ours;
    if (stat(path, &there))
        return true;
    bool same =
        stat(run->path, &ours) == 0 && there.st_dev == ours.st_dev && there.st_ino == ours.st_ino;
    if (same)
        *error = sentence("%s: is the run itself, and is not overwritten", path);
    else if (!S_ISREG(there.st_mode))
        *error = sentence("%s: is not a regular file", path);
    else if (is_results_file(path))
        *error = sentence("%s: is a forkless results file, and is not overwritten", path);
    else
        return true;
    return false;
}

static bool write_all(int file, const char *text, size_t length) {
    while (length > 0) {
        ssize_t put = write(file, text, length);
        if (put < 0 && errno == EINTR)
            continue;
        if (put <= 0)
            return false;
        text += put;
        length -= (size_t)put;
    }
    return fsync(file) == 0 || errno == EINVAL;
}

/* The rights that the file has, or that a new one gets. */
static mode_t mode_of(const char *path) {
    struct stat there;
    if (stat(path, &there) == 0)
        return there.st_mode & 07777;
    mode_t mask = umask(0);
    umask(mask);
    return 0666 & ~mask;
}

static bool put_in_place(const char *path, char *beside, const char *text, size_t length) {
    int file = mkostemp(beside, O_CLOEXEC);
    if (file < 0)
        return false;
    bool good = write_all(file, text, length) && fchmod(file, mode_of(path)) == 0;
    good &= close(file) == 0 && good && rename(beside, path) == 0;
    int error = errno;
    if (!good)
        unlink(beside);
    errno = error;
    return good;
}

/* No signal comes between, so that the file beside is not left. */
bool replace_file(const char *path, const char *text, size_t length, char **error) {
    char *real = realpath(path, NULL); /* of a link, what it points to */
    const char *target = real ? real : path;
    char *beside = sentence("%s.XXXXXX", target);
    sigset_t all, before;
    sigfillset(&all);
    sigprocmask(SIG_BLOCK, &all, &before);
    bool good = put_in_place(target, beside, text, length);
    int why = errno;
    sigprocmask(SIG_SETMASK, &before, NULL);
    if (!good)
        *error = sentence("%s: cannot be written: %s", path, strerror(why));
    free(beside);
    free(real);
    return good;
}
