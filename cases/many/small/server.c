/*
 * server: starts what it is asked to (message.h), by clone3 with VM and VFORK, in a
 * process that is small. CLONE_PARENT makes its children those of its parent, which waits for them.
 * It ends when the connection does.
 */
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <linux/futex.h>
#include <stdbool.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <unistd.h>

#include "arch/syscall.h"
#include "connection.h"
#include "message.h"

enum { CLONE_PARENT_FLAG = 0x8000, CLONE_PARENT_SETTID_FLAG = 0x100000 };

static struct place *places;

/* One command, as it came. */
static struct command {
    struct message head;
    int32_t numbers[MESSAGE_FDS];
    int fds[MESSAGE_FDS];
    char *argv[MESSAGE_STRINGS + 2], *env[MESSAGE_STRINGS + 1];
    struct place *place;
} command;
static _Alignas(8) char bytes[MESSAGE_BYTES];

FL_CHILD_CODE static void child(void *argument) {
    const struct command *c = argument;
    long rc = 0;
    for (unsigned i = 0; i < c->head.descriptors && rc >= 0; i++)
        rc = fl_syscall(SYS_dup3, c->fds[i], c->numbers[i], 0, 0, 0);
    if (rc >= 0)
        rc = fl_syscall(SYS_execve, (long)c->argv[0], (long)c->argv, (long)c->env, 0, 0);
    c->place->exec = (int32_t)rc;
    fl_syscall(SYS_exit_group, 127, 0, 0, 0, 0);
}

static bool start(void) {
    static _Alignas(16) char stack[16 * 1024];
    struct fl_clone_args args = {
        .flags = FL_CLONE_VM | FL_CLONE_VFORK | CLONE_PARENT_FLAG | CLONE_PARENT_SETTID_FLAG,
        .parent_tid = (uintptr_t)&command.place->pid,
        .stack = (uintptr_t)stack,
        .stack_size = sizeof stack,
    };
    long pid = fl_clone3(&args, sizeof args, child, &command);
    if (pid < 0)
        __atomic_store_n(&command.place->pid, (int32_t)pid, __ATOMIC_RELEASE);
    syscall(SYS_futex, &command.place->pid, FUTEX_WAKE, INT_MAX, NULL, NULL, 0);
    return pid > 0;
}

/* The strings from `at` on as an array; behind them, or NULL where the message is too short. */
static char *point(char **array, unsigned count, char *at, const char *end) {
    for (unsigned i = 0; i < count; i++) {
        char *nul = memchr(at, '\0', (size_t)(end - at));
        if (!nul)
            return NULL;
        array[i] = at;
        at = nul + 1;
    }
    array[count] = NULL;
    return at;
}

static bool parse(size_t size) {
    if (size < sizeof command.head)
        return false;
    memcpy(&command.head, bytes, sizeof command.head);
    const struct message *head = &command.head;
    size_t numbers = head->descriptors * sizeof *command.numbers;
    if (head->descriptors > MESSAGE_FDS || head->arguments > MESSAGE_STRINGS ||
        head->variables > MESSAGE_STRINGS || head->place >= PLACES || size < sizeof *head + numbers)
        return false;
    memcpy(command.numbers, bytes + sizeof *head, numbers);
    for (unsigned i = 0; i < head->descriptors; i++)
        if (command.numbers[i] < 0 || command.numbers[i] >= LOWEST_FD)
            return false;
    char *at = bytes + sizeof *head + numbers, *end = bytes + size;
    at = point(command.argv, 1u + head->arguments, at, end);
    command.place = &places[head->place];
    return at && point(command.env, head->variables, at, end) == end;
}

/* Its bytes, 0 at the end of the connection, below 0 on an error. */
static ssize_t receive(unsigned *fds) {
    _Alignas(struct cmsghdr) char control[CMSG_SPACE(sizeof command.fds)];
    struct iovec piece = {bytes, sizeof bytes};
    struct msghdr message = {.msg_iov = &piece,
                             .msg_iovlen = 1,
                             .msg_control = control,
                             .msg_controllen = sizeof control};
    ssize_t size;
    while ((size = recvmsg(CONNECTION, &message, MSG_CMSG_CLOEXEC)) < 0 && errno == EINTR)
        continue;
    *fds = 0;
    struct cmsghdr *head = size > 0 ? CMSG_FIRSTHDR(&message) : NULL;
    if (head && head->cmsg_type == SCM_RIGHTS) {
        *fds = (unsigned)((head->cmsg_len - CMSG_LEN(0)) / sizeof *command.fds);
        memcpy(command.fds, CMSG_DATA(head), *fds * sizeof *command.fds);
    }
    return size;
}

/* So that what is received never has a number that a child wants. */
static bool fill_low_numbers(void) {
    int fd;
    while ((fd = fcntl(CONNECTION, F_DUPFD_CLOEXEC, 0)) >= 0 && fd < LOWEST_FD)
        continue;
    return fd >= 0 && close(fd) == 0;
}

int main(void) {
    unsigned fds;
    ssize_t size = receive(&fds);
    if (size <= 0 || fds != 1)
        return 2;
    if (fcntl(CONNECTION, F_SETFD, FD_CLOEXEC) < 0 || !fill_low_numbers())
        return 1;
    places =
        mmap(NULL, PLACES * sizeof *places, PROT_READ | PROT_WRITE, MAP_SHARED, command.fds[0], 0);
    close(command.fds[0]);
    if (places == MAP_FAILED)
        return 1;
    while ((size = receive(&fds)) > 0) {
        if (!parse((size_t)size) || fds != command.head.descriptors)
            return 2;
        if (!start())
            return 3; /* who waits for any child sees this one */
        for (unsigned i = 0; i < fds; i++)
            close(command.fds[i]);
    }
    return size < 0;
}
