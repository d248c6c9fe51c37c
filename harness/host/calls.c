#include <errno.h>
#include <inttypes.h>
#include <linux/capability.h>
#include <linux/sched.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "files.h"
#include "finding.h"

#ifndef SYS_clone3
#define SYS_clone3 435
#endif
#ifndef SYS_pidfd_open
#define SYS_pidfd_open 434
#endif
#ifndef SYS_close_range
#define SYS_close_range 436
#endif

static const char filter_next[] =
    "docker run --security-opt seccomp=unconfined ...  # or a newer profile";

static int code_of(long rc) {
    return rc < 0 ? errno : 0;
}

/* How many filters look at our system calls; 1 where the kernel only says that some do. */
static bool filters(uint64_t *count) {
    uint64_t mode;
    if (!files_count("/proc/self/status", "Seccomp", &mode))
        return false;
    if (mode == 0 || !files_count("/proc/self/status", "Seccomp_filters", count))
        *count = mode != 0;
    return true;
}

static bool is_filtered(void) {
    uint64_t count;
    return filters(&count) && count > 0;
}

/* The kernel has no such call; a filter may say the same, or EPERM, which the kernel does not. */
static void find_refused(struct finding *f, enum level level, const char *effect,
                         const char *needed, int code, bool filtered) {
    if (filtered || code == EPERM)
        find(f, level, effect, filter_next, "refused with %s, by a seccomp filter it seems",
             strerrorname_np(code));
    else
        find(f, level, effect, needed, "this kernel does not have it (%s)", strerrorname_np(code));
}

void judge_clone3(struct finding *f, int code, bool filtered) {
    static const char effect[] =
        "forkless_start holds its caller until the exec, as forkless_spawn and vfork do";
    if (code == EINVAL)
        find_good(f, "there");
    else if (code == ENOSYS || code == EPERM)
        find_refused(f, WARNING, effect,
                     "uname -r  # clone3 came with Linux 5.3, CLEAR_SIGHAND 5.5", code, filtered);
    else
        find(f, UNKNOWN, effect, "uname -r", "an unexpected answer: %s", strerror(code));
}

/* It refuses every structure of this size. */
void examine_clone3(struct finding *f) {
    static char arguments[8];
    judge_clone3(f, code_of(syscall(SYS_clone3, arguments, sizeof arguments)), is_filtered());
}

void judge_clear_sighand(struct finding *f, int code) {
    static const char effect[] = "without it forkless_start holds its caller until the exec";
    static const char next[] = "uname -r  # CLONE_CLEAR_SIGHAND came with Linux 5.5";
    if (code == EFAULT)
        find_good(f, "there");
    else if (code == E2BIG || code == EINVAL)
        find(f, WARNING, effect, next, "this kernel's clone3 does not know it");
    else
        find(f, UNKNOWN, effect, next, "clone3 is refused, so it cannot be told");
}

/*
 * CLONE_CLEAR_SIGHAND came in one version with `set_tid`: a kernel that knows both reads this list,
 * which is nowhere, before it makes anything; an older one sees something behind the end of the
 * structure that it knows.
 */
void examine_clear_sighand(struct finding *f) {
    static struct clone_args arguments = {.set_tid = 1, .set_tid_size = 1};
    enum { UP_TO_SET_TID = 80 };
    judge_clear_sighand(f, code_of(syscall(SYS_clone3, &arguments, UP_TO_SET_TID)));
}

void judge_pidfd(struct finding *f, int code, bool filtered) {
    static const char effect[] = "no event loop can poll a child, and forkless_pidfd() fails";
    if (code == 0)
        find_good(f, "there");
    else if (code == ENOSYS || code == EPERM)
        find_refused(f, NOTE, effect, "uname -r  # pidfd_open came with Linux 5.3", code, filtered);
    else
        find(f, UNKNOWN, effect, "ulimit -n", "an unexpected answer: %s", strerror(code));
}

void examine_pidfd(struct finding *f) {
    long fd = syscall(SYS_pidfd_open, getpid(), 0);
    judge_pidfd(f, code_of(fd), is_filtered());
    if (fd >= 0)
        close((int)fd);
}

void judge_close_range(struct finding *f, int code, bool filtered) {
    static const char effect[] = "each open descriptor costs a spawn one more system call";
    if (code == 0)
        find_good(f, "there");
    else if (code == ENOSYS || code == EPERM || code == EINVAL)
        find_refused(f, NOTE, effect, "uname -r  # close_range as we use it came with Linux 5.11",
                     code, filtered && code != EINVAL);
    else
        find(f, UNKNOWN, effect, "uname -r", "an unexpected answer: %s", strerror(code));
}

/* No descriptor has that number. */
void examine_close_range(struct finding *f) {
    enum { CLOEXEC = 1 << 2 };
    judge_close_range(f, code_of(syscall(SYS_close_range, ~0u, ~0u, CLOEXEC)), is_filtered());
}

void examine_seccomp(struct finding *f) {
    static const char effect[] = "it runs at each system call, of which a spawn makes many";
    static const char next[] = "grep Seccomp /proc/self/status";
    uint64_t count;
    if (!filters(&count))
        find(f, UNKNOWN, effect, next, "/proc/self/status does not say");
    else if (count == 0)
        find_good(f, "no filter on this process");
    else
        find(f, NOTE, effect, next, "%" PRIu64 " filter%s on this process", count,
             count > 1 ? "s" : "");
}

/* Effective capabilities, as a mask. */
static bool capabilities(uint64_t *mask) {
    char text[32], *end;
    if (!files_value("/proc/self/status", "CapEff", text, sizeof text) || !*text)
        return false;
    *mask = strtoull(text, &end, 16);
    return *end == '\0';
}

/* "perf_event_paranoid 2, unprivileged_bpf_disabled 2", of those that there are. */
static void print_switches(char *out, size_t size) {
    uint64_t n;
    char text[16];
    out[0] = '\0';
    if (files_line("/proc/sys/kernel/perf_event_paranoid", text, sizeof text)) /* may be -1 */
        snprintf(out, size, "; perf_event_paranoid %s", text);
    size_t used = strlen(out);
    if (files_number("/proc/sys/kernel/unprivileged_bpf_disabled", &n))
        snprintf(out + used, size - used, ", unprivileged_bpf_disabled %d", (int)n);
}

bool host_may_trace(void) {
    const uint64_t both = UINT64_C(1) << CAP_BPF | UINT64_C(1) << CAP_PERFMON;
    uint64_t mask;
    return !capabilities(&mask) || (mask & both) == both || mask & UINT64_C(1) << CAP_SYS_ADMIN;
}

void examine_tracing(struct finding *f) {
    static const char effect[] = "eBPF tools cannot look into the kernel from here";
    uint64_t mask;
    char switches[96];
    print_switches(switches, sizeof switches);
    if (!capabilities(&mask))
        find(f, UNKNOWN, effect, "grep CapEff /proc/self/status", "/proc/self/status does not say");
    else if (!host_may_trace())
        find(f, NOTE, effect, "sudo forkless doctor  # what root may",
             "neither CAP_BPF with CAP_PERFMON nor CAP_SYS_ADMIN%s", switches);
    else if (!files_there("/sys/kernel/btf/vmlinux"))
        find(f, NOTE, effect, "zgrep CONFIG_DEBUG_INFO_BTF /proc/config.gz",
             "the kernel does not describe its types (no BTF)");
    else if (!files_there("/sys/kernel/tracing/events"))
        find(f, NOTE, effect, "sudo mount -t tracefs tracefs /sys/kernel/tracing",
             "tracefs is not mounted");
    else
        find_good(f, "privileges, BTF and tracefs are there");
}
