/* Files whose exec fails, and what is to be said of them: for the tests of reason. */
#ifndef REASON_FILES_H
#define REASON_FILES_H

#include <stddef.h>
#include <sys/types.h>

/* Into a folder of one's own, and out of it again; all paths are relative to it. */
void enter(void);
void leave(void);

void file(const char *path, const void *bytes, size_t size, mode_t mode);
void text(const char *path, const char *line);

/* What is said of a file whose exec fails so, and of one that need not fail here. */
void fails_as(const char *path, int code, const char *want);
void says(const char *path, int code, const char *want);

#endif
