#include "progress.h"

#include <stdio.h>
#include <string.h>
#include <unistd.h>

void progress_bar(unsigned done, unsigned total, double seconds) {
    enum { WIDTH = 40 };
    if (!isatty(STDERR_FILENO))
        return;
    if (total == 0) {
        fputs("\r\033[K", stderr);
        return;
    }
    char bar[WIDTH + 1] = {0};
    memset(bar, '.', WIDTH);
    memset(bar, '#', (size_t)WIDTH * done / total);
    fprintf(stderr, "\r[%s] %u of %u blocks", bar, done, total);
    if (done > 0)
        fprintf(stderr, ", %.0f s left ", seconds / done * (total - done));
}
