#include "stream.h"

#include <errno.h>
#include <signal.h>
#include <stdlib.h>
#include <sys/ioctl.h>

#include "arch/syscall.h"
#include "clock.h"
#include "kernel.h"

enum {
    FIRST_ROOM = 96 * 1024, /* less than what libc maps afresh each time */
    LEAST_ROOM = 64 * 1024, /* a pipe's */
    SCRATCH = 4096,
    MOST_IN_PIPE = 1024 * 1024, /* as long as nobody has raised /proc/sys/fs/pipe-max-size */
};

/* ---- input ---- */

static const uint64_t sigpipe = UINT64_C(1) << (SIGPIPE - 1);

/* A SIGPIPE of ours is taken back; one that was there before is the caller's. */
static long write_quietly(const struct fl_input *in) {
    uint64_t before = 0, pending = 0;
    long blocked =
        fl_syscall(SYS_rt_sigprocmask, SIG_BLOCK, (long)&sigpipe, (long)&before, FL_MASK_SIZE, 0);
    if (before & sigpipe)
        fl_syscall(SYS_rt_sigpending, (long)&pending, FL_MASK_SIZE, 0, 0, 0);
    long n = fl_syscall(SYS_write, in->fd, (long)(in->data + in->written),
                        (long)(in->size - in->written), 0, 0);
    if (n == -EPIPE && !(pending & sigpipe)) {
        struct timespec none = fl_timespec(0);
        fl_syscall(SYS_rt_sigtimedwait, (long)&sigpipe, 0, (long)&none, FL_MASK_SIZE, 0);
    }
    if (blocked >= 0) /* or a filter has refused it */
        fl_syscall(SYS_rt_sigprocmask, SIG_SETMASK, (long)&before, 0, FL_MASK_SIZE, 0);
    return n;
}

bool fl_input_feed(struct fl_input *in) {
    if (in->written < in->size) {
        long n = write_quietly(in);
        if (n < 0)
            return n == -EAGAIN || n == -EINTR;
        in->written += (size_t)n;
    }
    return in->written < in->size;
}

/* ---- output ---- */

/* Room for more, and for a NUL behind it. Without memory it is the limit that is reached. */
static void make_room(struct fl_output *out) {
    size_t free = out->room ? out->room - 1 - out->size : 0;
    if (free >= LEAST_ROOM || free == out->limit - out->size)
        return;
    size_t room = out->room ? 2 * out->room : FIRST_ROOM;
    if (room - 1 > out->limit)
        room = out->limit + 1;
    char *data = realloc(out->data, room);
    if (data) {
        out->data = data;
        out->room = room;
    } else if (free == 0)
        out->limit = out->size;
}

/* Up to `most` bytes, and how many there were: 0 at the end, or -errno. */
static long read_some(struct fl_output *out, size_t most) {
    make_room(out);
    if (out->size < out->limit) {
        size_t free = out->room - 1 - out->size;
        long n = fl_syscall(SYS_read, out->fd, (long)(out->data + out->size),
                            (long)(most < free ? most : free), 0, 0);
        if (n > 0)
            out->size += (size_t)n;
        return n;
    }
    char scratch[SCRATCH];
    long n = fl_syscall(SYS_read, out->fd, (long)scratch,
                        (long)(most < sizeof scratch ? most : sizeof scratch), 0, 0);
    if (n > 0)
        out->dropped += (uint64_t)n;
    return n;
}

static bool is_over(long n) {
    return n == 0 || (n < 0 && n != -EAGAIN && n != -EINTR);
}

bool fl_output_read(struct fl_output *out) {
    return !is_over(read_some(out, SIZE_MAX));
}

bool fl_output_drain(struct fl_output *out) {
    int present = 0;
    long n = fl_syscall(SYS_ioctl, out->fd, FIONREAD, (long)&present, 0, 0);
    if (n < 0) /* a filter */
        present = MOST_IN_PIPE;
    for (; present > 0; present -= (int)n) {
        n = read_some(out, (size_t)present);
        if (n == -EINTR)
            n = 0;
        else if (n <= 0)
            return !is_over(n);
    }
    return !is_over(read_some(out, 1));
}

/* What is large is not cut: glibc learns from the size of a block that is freed which ones to keep,
 * and would fetch the pages of each larger one anew. */
char *fl_output_take(struct fl_output *out) {
    bool large = out->size >= LEAST_ROOM;
    char *data = large ? out->data : realloc(out->data, out->size + 1);
    if (!data)
        data = out->data;
    if (data)
        data[out->size] = '\0';
    out->data = NULL;
    return data;
}
