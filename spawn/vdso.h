/* The kernel's own clock, which needs no system call and no libc: for the child. Private. */
#ifndef FL_VDSO_H
#define FL_VDSO_H

#include <time.h>

typedef int fl_clock(clockid_t, struct timespec *);

/* clock_gettime of the vDSO, found at the first call; NULL: there is none, as under valgrind. */
fl_clock *fl_vdso_clock(void);

/* The same in this image; NULL: it is not there, or NULL. */
fl_clock *fl_vdso_find(const void *image);

#endif
