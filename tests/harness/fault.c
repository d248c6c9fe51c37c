/* Preloaded into forkless-bench: a block that goes wrong where it makes its ballast, as FAULT_KIND
 * says. */
#include <errno.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <unistd.h>

int madvise(void *start, size_t size, int advice);

int madvise(void *start, size_t size, int advice) {
    const char *kind = getenv("FAULT_KIND");
    enum { POPULATE_WRITE = 23 };
    if (advice != POPULATE_WRITE || !kind)
        return (int)syscall(SYS_madvise, start, size, advice);
    if (strcmp(kind, "crash") == 0)
        raise(SIGSEGV);
    if (strcmp(kind, "hang") == 0)
        for (;;)
            pause();
    if (strcmp(kind, "no-memory") == 0) {
        errno = ENOMEM;
        return -1;
    }
    return 0; /* a lie: nothing is resident */
}
