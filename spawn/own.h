/* Descriptors that the library opens for itself: close-on-exec, 3 or above. Private. */
#ifndef FL_OWN_H
#define FL_OWN_H

#include <stdatomic.h>
#include <stdbool.h>
#include <sys/types.h>

/* Closes what is not negative. */
void fl_close(long fd);

/* The descriptor moved above the first three, whatever of them the host has closed; or an error,
 * and it is closed. An error is passed on. */
long fl_above_stderr(long fd);

/* A pipe, or -errno. */
int fl_own_pipe(int ends[2], int flags);

/* One that stays open. A host that closes all there is makes its number free for others. */
struct fl_own {
    int fd;
    dev_t device;
    ino_t inode;
    struct fl_own *older;
};

/* Opened at the first use and when it has been closed by others; from any thread. -errno, that of
 * `open` or -ENOMEM. */
int fl_own_get(_Atomic(struct fl_own *) *, int (*open)(void *), void *argument);
/* -1: it was never opened. */
int fl_own_number(_Atomic(struct fl_own *) *);
void fl_own_drop(_Atomic(struct fl_own *) *);

#endif
