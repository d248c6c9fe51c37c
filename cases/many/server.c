/*
 * An experiment: a small process starts the children, which are the caller's all the same. To hand
 * one over is to send one message. The places say the process id of each child from its birth on,
 * so that none is unknown when the server dies.
 */
#include <errno.h>
#include <linux/futex.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "attributes.h"
#include "case.h"
#include "small.h"
#include "small/message.h"

static struct small server;
static struct place *places;
static struct place *unused[PLACES];
static unsigned unused_count;
static char bytes[MESSAGE_BYTES]; /* of every message: only the place differs */
static size_t size;
static int child_fd, parent_fd; /* the one that a command hands down; 0: none */

/* Behind what there is; false where it does not fit. */
static bool append(const void *data, size_t length) {
    if (length > sizeof bytes - size)
        return false;
    memcpy(bytes + size, data, length);
    size += length;
    return true;
}

static int compose(const struct request *request) {
    const struct attribute *attribute = request->attribute;
    char *const *variable = attribute->environment ? attribute->environment() : environ;
    struct message head = {.descriptors = attribute->hands_down};
    int32_t number = child_fd = attribute->hands_down ? 3 : 0;
    parent_fd = STDERR_FILENO;
    for (size = 0; variable[head.variables] && head.variables < MESSAGE_STRINGS;)
        head.variables++;
    bool fits = !variable[head.variables] && append(&head, sizeof head) &&
                append(&number, head.descriptors * sizeof number) &&
                append(request->target, strlen(request->target) + 1);
    for (unsigned i = 0; fits && i < head.variables; i++)
        fits = append(variable[i], strlen(variable[i]) + 1);
    return fits ? 0 : -E2BIG;
}

static int send_with(const void *data, size_t length, const int *fd) {
    _Alignas(struct cmsghdr) char control[CMSG_SPACE(sizeof *fd)] = {0};
    struct iovec piece = {(void *)data, length};
    struct msghdr message = {.msg_iov = &piece, .msg_iovlen = 1};
    if (fd) {
        message.msg_control = control;
        message.msg_controllen = sizeof control;
        struct cmsghdr *head = CMSG_FIRSTHDR(&message);
        *head = (struct cmsghdr){CMSG_LEN(sizeof *fd), SOL_SOCKET, SCM_RIGHTS};
        memcpy(CMSG_DATA(head), fd, sizeof *fd);
    }
    return sendmsg(server.connection, &message, MSG_NOSIGNAL) < 0 ? -errno : 0;
}

/* What the server and we see alike. */
static int share_places(void) {
    int fd = memfd_create("places", MFD_CLOEXEC);
    if (fd < 0)
        return -errno;
    int rc = ftruncate(fd, PLACES * sizeof *places) < 0 ? -errno : 0;
    if (rc == 0) {
        places = mmap(NULL, PLACES * sizeof *places, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
        rc = places == MAP_FAILED ? -errno : send_with(bytes, size, &fd);
    }
    close(fd);
    return rc;
}

static void cleanup(void) {
    small_end(&server);
    if (places && places != MAP_FAILED)
        munmap(places, PLACES * sizeof *places);
    places = NULL;
}

static int prepare(const struct request *request) {
    int rc = request->children <= PLACES ? compose(request) : -E2BIG;
    if (rc == 0)
        rc = small_start(&server, request->programs, "server", NULL, NULL);
    if (rc < 0)
        return rc;
    rc = share_places();
    if (rc < 0) {
        cleanup();
        return rc;
    }
    for (unused_count = 0; unused_count < PLACES; unused_count++)
        unused[unused_count] = &places[unused_count];
    return 0;
}

static int body(struct born *born) {
    struct place *place = unused[--unused_count];
    struct message *head = (struct message *)bytes;
    *place = (struct place){0, 0};
    born->data = place;
    head->place = (uint16_t)(place - places);
    int rc = send_with(bytes, size, child_fd ? &parent_fd : NULL);
    if (rc < 0)
        unused[unused_count++] = place;
    return rc;
}

static pid_t find_pid(const struct born *born) {
    const struct place *place = born->data;
    return __atomic_load_n(&place->pid, __ATOMIC_ACQUIRE);
}

/* -EPIPE: the server has died before. */
static int wait_for_pid(const struct born *born) {
    static const struct timespec now_and_then = {.tv_nsec = 100000000};
    struct place *place = born->data;
    siginfo_t info = {0};
    while (find_pid(born) == 0) {
        syscall(SYS_futex, &place->pid, FUTEX_WAIT, 0, &now_and_then, NULL, 0);
        if (find_pid(born) == 0 &&
            (waitid(P_PID, (id_t)server.pid, &info, WEXITED | WNOHANG | WNOWAIT) < 0 ||
             info.si_pid != 0))
            return -EPIPE;
    }
    return find_pid(born) < 0 ? find_pid(born) : 0;
}

static int finish(struct born *born, struct ended *ended) {
    struct place *place = born->data;
    int rc = wait_for_pid(born);
    unused[unused_count++] = place;
    while (rc == 0 && wait4(place->pid, &ended->status, 0, &ended->usage) < 0)
        rc = errno == EINTR ? 0 : -errno;
    return rc < 0 ? rc : place->exec;
}

static int64_t elsewhere(void) {
    clockid_t clock;
    struct timespec used = {0};
    if (clock_getcpuclockid(server.pid, &clock) == 0)
        clock_gettime(clock, &used);
    return (int64_t)used.tv_sec * 1000000000 + used.tv_nsec;
}

const struct strategy strategy_server = {
    .name = "server",
    .sends = true,
    .prepare = prepare,
    .body = body,
    .pid = find_pid,
    .finish = finish,
    .elsewhere = elsewhere,
    .cleanup = cleanup,
};
