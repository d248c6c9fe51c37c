#include "escape.h"

#include <ctype.h>
#include <string.h>

void put_escaped(FILE *out, const char *text) {
    static const char *const names[] = {
        ['&'] = "&amp;", ['<'] = "&lt;", ['>'] = "&gt;", ['"'] = "&quot;", ['\''] = "&#39;"};
    for (; *text; text++) {
        unsigned char byte = (unsigned char)*text;
        const char *name = byte < sizeof names / sizeof *names ? names[byte] : NULL;
        if (name)
            fputs(name, out);
        else
            fputc(iscntrl(byte) ? ' ' : byte, out);
    }
}
