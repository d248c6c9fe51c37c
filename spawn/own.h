/* Descriptors that the library opens for itself: close-on-exec, 3 or above. Private. */
#ifndef FL_OWN_H
#define FL_OWN_H

/* Closes what is not negative. */
void fl_close(long fd);

/* The descriptor moved above the first three, whatever of them the host has closed; or an error,
 * and it is closed. An error is passed on. */
long fl_above_stderr(long fd);

/* A pipe, or -errno. */
int fl_own_pipe(int ends[2], int flags);

#endif
