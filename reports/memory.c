#include "memory.h"

#include <err.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>

void *must(void *allocated) {
    if (!allocated)
        errx(EXIT_FAILURE, "out of memory");
    return allocated;
}

char *sentence(const char *format, ...) {
    char *text = NULL;
    va_list arguments;
    va_start(arguments, format);
    int length = vasprintf(&text, format, arguments);
    va_end(arguments);
    return must(length < 0 ? NULL : text);
}
