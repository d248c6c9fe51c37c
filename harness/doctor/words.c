#include "words.h"

#include <stdarg.h>
#include <stdio.h>
#include <string.h>

void print_words(const char *lead, const char *format, ...) {
    enum { COLUMNS = 80 };
    char text[2048];
    va_list arguments;
    va_start(arguments, format);
    vsnprintf(text, sizeof text, format, arguments);
    va_end(arguments);
    size_t indent = strlen(lead), column = indent;
    fputs(lead, stdout);
    for (const char *at = text; *at;) {
        size_t spaces = strspn(at, " "), length = strcspn(at + spaces, " ");
        if (column > indent && column + spaces + length > COLUMNS) {
            printf("\n%*s", (int)indent, "");
            column = indent;
            spaces = 0;
        }
        at += strspn(at, " ");
        printf("%*s%.*s", (int)spaces, "", (int)length, at);
        column += spaces + length;
        at += length;
    }
    putchar('\n');
}
