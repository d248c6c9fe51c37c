/* System calls refused or held by seccomp, in the calling thread and in what it starts. */
#include <errno.h>
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <poll.h>
#include <pthread.h>
#include <signal.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "support.h"

int filter(const struct rule *rules, size_t n) {
    struct sock_filter code[128], *c = code;
    bool listens = false;
    for (const struct rule *r = rules; r < rules + n; r++) {
        uint32_t low = (uint32_t)(offsetof(struct seccomp_data, args) + 8u * (unsigned)r->argument);
        CHECK(c < code + 120);
        *c++ = (struct sock_filter)BPF_STMT(BPF_LD | BPF_W | BPF_ABS,
                                            offsetof(struct seccomp_data, nr));
        *c++ = (struct sock_filter)BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, (uint32_t)r->number, 0, 4);
        *c++ = (struct sock_filter)BPF_STMT(BPF_LD | BPF_W | BPF_ABS, low);
        *c++ = (struct sock_filter)BPF_STMT(BPF_ALU | BPF_AND | BPF_K, r->mask);
        *c++ = (struct sock_filter)BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, r->value, 0, 1);
        *c++ = (struct sock_filter)BPF_STMT(BPF_RET | BPF_K, r->action);
        listens |= r->action == SECCOMP_RET_USER_NOTIF;
    }
    *c++ = (struct sock_filter)BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW);
    struct sock_fprog program = {.len = (unsigned short)(c - code), .filter = code};
    CHECK_EQ(prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0), 0);
    unsigned flags = listens ? SECCOMP_FILTER_FLAG_NEW_LISTENER : 0;
    int rc = (int)syscall(SYS_seccomp, SECCOMP_SET_MODE_FILTER, flags, &program);
    if (rc < 0 && errno == EINVAL)
        skip_test("no seccomp filters here");
    CHECK(rc >= 0);
    return rc;
}

void refuse(long number, int code) {
    filter(&(struct rule){.number = number, .action = SECCOMP_RET_ERRNO | (uint32_t)code}, 1);
}

static void *launch_held(void *argument) {
    struct held *h = argument;
    struct rule rule = {.number = h->number, .action = SECCOMP_RET_USER_NOTIF};
    if (h->number == SYS_rt_sigprocmask) { /* the child's alone: a thread's end only blocks */
        rule.mask = ~0u;
        rule.value = SIG_SETMASK;
    }
    int listener = filter(&rule, 1);
    __atomic_store_n(&h->listener, listener, __ATOMIC_RELEASE);
    h->rc = h->launch(h->command, &h->child, &h->error);
    return NULL;
}

void held_begin(struct held *h) {
    h->listener = -1;
    h->thread = thread(launch_held, h);
    while (__atomic_load_n(&h->listener, __ATOMIC_ACQUIRE) < 0)
        nap(50);
    held_next(h);
}

void held_next(struct held *h) {
    struct seccomp_notif notice;
    memset(&notice, 0, sizeof notice);
    struct pollfd arrival = {.fd = h->listener, .events = POLLIN};
    CHECK_EQ(poll(&arrival, 1, 20000), 1);
    CHECK_EQ(ioctl(h->listener, SECCOMP_IOCTL_NOTIF_RECV, &notice), 0);
    h->id = notice.id;
    h->pid = (pid_t)notice.pid;
    CHECK(h->pid > 0);
}

void held_go(struct held *h, int code) {
    struct seccomp_notif_resp answer = {.id = h->id,
                                        .error = code,
                                        .flags =
                                            code ? 0u : (uint32_t)SECCOMP_USER_NOTIF_FLAG_CONTINUE};
    CHECK_EQ(ioctl(h->listener, SECCOMP_IOCTL_NOTIF_SEND, &answer), 0);
}

void held_join(struct held *h) {
    CHECK_EQ(pthread_join(h->thread, NULL), 0);
}
