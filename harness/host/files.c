#include "files.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

const char *files_root = "";

bool files_path(const char *path, char *out, size_t size) {
    if ((size_t)snprintf(out, size, "%s%s", files_root, path) < size)
        return true;
    errno = ENAMETOOLONG;
    return false;
}

FILE *files_open(const char *path) {
    char whole[FILES_PATH];
    return files_path(path, whole, sizeof whole) ? fopen(whole, "re") : NULL;
}

bool files_there(const char *path) {
    char whole[FILES_PATH];
    return files_path(path, whole, sizeof whole) && access(whole, F_OK) == 0;
}

bool files_line(const char *path, char *out, size_t size) {
    FILE *f = files_open(path);
    bool read = f && fgets(out, (int)size, f);
    if (f)
        fclose(f);
    if (read)
        out[strcspn(out, "\n")] = '\0';
    return read;
}

bool text_number(const char *text, uint64_t *out) {
    char *end;
    if (*text < '0' || *text > '9')
        return false;
    errno = 0;
    *out = strtoull(text, &end, 10);
    return errno == 0 && (*end == '\0' || *end == ' ' || *end == '\t' || *end == '\n');
}

bool files_number(const char *path, uint64_t *out) {
    char line[32];
    return files_line(path, line, sizeof line) && text_number(line, out) &&
           line[strspn(line, "0123456789")] == '\0';
}

bool files_value(const char *path, const char *key, char *out, size_t size) {
    size_t length = strlen(key), room = 0;
    char *line = NULL;
    bool found = false;
    FILE *f = files_open(path);
    while (f && !found && getline(&line, &room, f) > 0) {
        if (strncmp(line, key, length) != 0 || !strchr(" \t:", line[length]))
            continue;
        const char *value = line + length + strspn(line + length, " \t:");
        snprintf(out, size, "%.*s", (int)strcspn(value, "\n"), value);
        found = true;
    }
    free(line);
    if (f)
        fclose(f);
    return found;
}

bool files_count(const char *path, const char *key, uint64_t *out) {
    char value[64];
    return files_value(path, key, value, sizeof value) && text_number(value, out);
}
