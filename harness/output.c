#include "output.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>

#include "choose.h"
#include "paths.h"

/* As mkdir -p; what is wrong shows when the file is made. */
static void make_folders(const char *path) {
    char part[PATH_SIZE];
    snprintf(part, sizeof part, "%s", path);
    for (char *at = part + 1; (at = strchr(at, '/')); at++) {
        *at = '\0';
        mkdir(part, 0777);
        *at = '/';
    }
    mkdir(part, 0777);
}

static int create_local(struct record *record, const char *matrix, char *path, size_t size) {
    char folder[PATH_SIZE / 2], stamp[32];
    time_t now = time(NULL);
    struct tm local;
    if (!path_local(folder, sizeof folder))
        return -ENOENT;
    make_folders(folder);
    strftime(stamp, sizeof stamp, "%Y-%m-%d-%H%M", localtime_r(&now, &local));
    snprintf(path, size, "%s/%s-%s.jsonl", folder, stamp, matrix);
    int rc = record_create(record, path);
    for (int n = 2; rc == -EEXIST; n++) {
        snprintf(path, size, "%s/%s-%s-%d.jsonl", folder, stamp, matrix, n);
        rc = record_create(record, path);
    }
    return rc;
}

bool output_create(struct record *record, const char *wanted, const char *matrix, char *path,
                   size_t path_size, char *why, size_t size) {
    path[0] = '\0';
    int rc = -ENAMETOOLONG;
    if (!wanted)
        rc = create_local(record, matrix, path, path_size);
    else if ((size_t)snprintf(path, path_size, "%s", wanted) < path_size)
        rc = record_create(record, path);
    if (rc == 0)
        return true;
    struct stat file;
    const char *hint = "";
    if (!wanted)
        hint = "; name another place with -o FILE";
    else if (rc == -EEXIST && stat(path, &file) == 0 && S_ISREG(file.st_mode))
        hint = "; --resume goes on with a run";
    if (!path[0] && !wanted)
        snprintf(why, size, "there is no home for local runs: name the results file with -o FILE");
    else
        snprintf(why, size, "%s cannot be made: %s%s", path[0] ? path : "''", strerror(-rc), hint);
    return false;
}
