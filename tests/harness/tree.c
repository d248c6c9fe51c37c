#include "tree.h"

#include <ftw.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "files.h"

static char root[256];

int tree_make(void **unused) {
    const char *folder = getenv("TMPDIR");
    (void)unused;
    snprintf(root, sizeof root, "%s/forkless-tree-XXXXXX", folder ? folder : "/tmp");
    files_root = root;
    return mkdtemp(root) ? 0 : -1;
}

static int remove_one(const char *path, const struct stat *s, int type, struct FTW *at) {
    (void)s;
    (void)type;
    (void)at;
    return remove(path);
}

int tree_remove(void **unused) {
    (void)unused;
    return nftw(root, remove_one, 16, FTW_DEPTH | FTW_PHYS);
}

void tree_file(const char *path, const char *text) {
    char whole[FILES_PATH];
    snprintf(whole, sizeof whole, "%s%s", root, path);
    for (char *at = whole + strlen(root) + 1; (at = strchr(at, '/')); at++) {
        *at = '\0';
        mkdir(whole, 0700);
        *at = '/';
    }
    FILE *f = fopen(whole, "we");
    if (!f || fputs(text, f) < 0 || fclose(f) != 0)
        abort();
}
