/* What a run writes to its child and reads from it. Private. */
#ifndef FL_STREAM_H
#define FL_STREAM_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct fl_input {
    int fd; /* the caller's end of a pipe, non-blocking; -1: there is none, or it is over */
    const char *data;
    size_t size, written;
};

struct fl_output {
    int fd; /* as above */
    char *data;
    size_t size, room, limit;
    uint64_t dropped;
    bool captured;
};

/* These tell false when it is over: all is written, or nobody reads any more; the other end is
 * closed. They never wait. */
bool fl_input_feed(struct fl_input *);
bool fl_output_read(struct fl_output *);
/* All that is in the pipe now, and not what others add meanwhile. */
bool fl_output_drain(struct fl_output *);

/* What was read, ended by a NUL; NULL: no memory. It is the caller's. */
char *fl_output_take(struct fl_output *);

#endif
