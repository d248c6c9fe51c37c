#include "program.h"

#include <errno.h>
#include <fcntl.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

int complain(int code, const char *format, ...) {
    va_list arguments;
    va_start(arguments, format);
    fprintf(stderr, "%s: ", program_invocation_short_name);
    vfprintf(stderr, format, arguments);
    fputc('\n', stderr);
    va_end(arguments);
    return code;
}

int check_standard_files(void) {
    bool closed = fcntl(STDOUT_FILENO, F_GETFD) < 0;
    int fd;
    do
        fd = open("/dev/null", O_RDWR);
    while (fd >= 0 && fd <= STDERR_FILENO);
    close(fd);
    return closed ? complain(INTERNAL, "standard output is closed") : OK;
}

static const char *output = "standard output";

void name_output(const char *name) {
    output = name;
}

int finish_output(int code) {
    if (fflush(stdout) == 0 && !ferror(stdout))
        return code;
    return complain(INTERNAL, "%s cannot be written: %s", output, strerror(errno));
}
