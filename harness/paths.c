#include "paths.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "config.h"

#define FOLDER 4096

__attribute__((format(printf, 3, 4))) static bool write_path(char *out, size_t size,
                                                             const char *format, ...) {
    va_list arguments;
    va_start(arguments, format);
    int length = vsnprintf(out, size, format, arguments);
    va_end(arguments);
    return length >= 0 && (size_t)length < size;
}

/* Of the program that runs. */
static bool own_folder(char *out, size_t size) {
    ssize_t length = readlink("/proc/self/exe", out, size - 1);
    if (length <= 0)
        return false;
    out[length] = '\0';
    char *slash = strrchr(out, '/');
    *slash = '\0';
    return true;
}

/* The prefix that the folder's programs were installed below, when it looks like that. */
static bool find_prefix(const char *folder, char *out, size_t size) {
    static const char *const tails[] = {"/" BIN_FOLDER, "/" PROGRAM_FOLDER};
    size_t length = strlen(folder);
    for (size_t i = 0; i < sizeof tails / sizeof *tails; i++) {
        size_t tail = strlen(tails[i]);
        if (length >= tail && strcmp(folder + length - tail, tails[i]) == 0)
            return write_path(out, size, "%.*s", (int)(length - tail), folder);
    }
    return false;
}

/* The programs of a build stand in a folder each, below the build's; so may a prefix. */
static bool is_built(const char *folder) {
    char root[FOLDER];
    return strncmp(folder, BUILD_ROOT "/", sizeof BUILD_ROOT) == 0 &&
           !find_prefix(folder, root, sizeof root);
}

static bool locate(const char *built, const char *installed, const char *name, char *out,
                   size_t size) {
    char folder[FOLDER], root[FOLDER];
    if (!own_folder(folder, sizeof folder))
        return false;
    if (is_built(folder))
        return write_path(out, size, "%s%s", built, name);
    return write_path(out, size, "%s/%s%s", find_prefix(folder, root, sizeof root) ? root : PREFIX,
                      installed, name);
}

bool path_program(const char *name, char *out, size_t size) {
    char file[256], built[FOLDER];
    static const struct {
        const char *name, *folder;
    } elsewhere[] = {
        {"compare", "reports"}, {"cow", "trace"},   {"phases", "trace"},
        {"report", "reports"},  {"trace", "trace"},
    };
    const char *folder = "harness";
    for (size_t i = 0; i < sizeof elsewhere / sizeof *elsewhere; i++)
        if (strcmp(name, elsewhere[i].name) == 0)
            folder = elsewhere[i].folder;
    return write_path(file, sizeof file, "forkless-%s", name) &&
           write_path(built, sizeof built, BUILD_ROOT "/%s/", folder) &&
           locate(built, PROGRAM_FOLDER "/", file, out, size);
}

bool path_small(char *out, size_t size) {
    return locate(BUILD_ROOT "/cases/many/", PROGRAM_FOLDER "/", "small", out, size);
}

bool path_target(const char *name, char *out, size_t size) {
    return locate(BUILD_ROOT "/cases/targets/", PROGRAM_FOLDER "/targets/", name, out, size);
}

bool path_helper(char *out, size_t size) {
    return locate(BUILD_ROOT "/spawn/exec/", PROGRAM_FOLDER "/", "forkless-exec", out, size);
}

bool path_page(const char *program, char *out, size_t size) {
    char file[256];
    return write_path(file, sizeof file, "%s.1", program) &&
           locate(BUILD_ROOT "/docs/", MAN_FOLDER "/man1/", file, out, size);
}

bool path_matrices(char *out, size_t size) {
    return locate(SOURCE_ROOT "/cases", DATA_FOLDER, "", out, size);
}

bool path_hints(char *out, size_t size) {
    return locate(SOURCE_ROOT "/trace/", DATA_FOLDER "/", "hints", out, size);
}

bool path_local(char *out, size_t size) {
    char folder[FOLDER];
    if (own_folder(folder, sizeof folder) && is_built(folder))
        return write_path(out, size, "%s", SOURCE_ROOT "/results/local");
    const char *state = getenv("XDG_STATE_HOME"), *home = getenv("HOME");
    if (state && state[0] == '/')
        return write_path(out, size, "%s/forkless", state);
    return home && home[0] == '/' && write_path(out, size, "%s/.local/state/forkless", home);
}
