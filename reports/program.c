#include "program.h"

#include <err.h>
#include <errno.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>

int finish_output(const char *what, int code) {
    bool lost = ferror(stdout);
    errno = 0;
    if (lost) /* why is forgotten by now: once more */
        fputc('\n', stdout);
    if (!fclose(stdout) && !lost)
        return code;
    warnx("cannot write the %s: %s", what, errno ? strerror(errno) : "output error");
    return INTERNAL;
}
