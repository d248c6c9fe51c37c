#include "kernel.h"

#include <bpf/bpf.h>
#include <bpf/libbpf.h>
#include <errno.h>
#include <linux/capability.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "program.h"

#define TYPES "/sys/kernel/btf/vmlinux"

/* The first line in which libbpf said why something failed; those that follow repeat it. */
static char first_words[256];

static int listen_to(enum libbpf_print_level level, const char *format, va_list arguments) {
    char text[sizeof first_words];
    if (level != LIBBPF_WARN || first_words[0])
        return 0;
    vsnprintf(text, sizeof text, format, arguments);
    text[strcspn(text, "\n")] = '\0';
    memcpy(first_words, text, sizeof text);
    return 0;
}

/* Nobody else may load tracing programs. */
static bool has_privilege(void) {
    struct __user_cap_header_struct header = {.version = _LINUX_CAPABILITY_VERSION_3};
    struct __user_cap_data_struct data[2] = {0};
    if (syscall(SYS_capget, &header, data) < 0)
        return false;
    uint64_t effective = (uint64_t)data[1].effective << 32 | data[0].effective;
    uint64_t both = UINT64_C(1) << CAP_BPF | UINT64_C(1) << CAP_PERFMON;
    return effective & UINT64_C(1) << CAP_SYS_ADMIN || (effective & both) == both;
}

int kernel_check(void) {
    libbpf_set_print(listen_to);
    if (!has_privilege())
        return complain(UNSUPPORTED, "tracing needs CAP_BPF and CAP_PERFMON: run it as root");
    if (access(TYPES, R_OK) < 0)
        return complain(UNSUPPORTED,
                        "%s cannot be read (%s): the kernel has to be built with "
                        "CONFIG_DEBUG_INFO_BTF",
                        TYPES, strerror(errno));
    int map = bpf_map_create(BPF_MAP_TYPE_RINGBUF, "probe", 0, 0, (__u32)getpagesize(), NULL);
    if (map < 0 && errno == EINVAL)
        return complain(UNSUPPORTED, "this kernel has no BPF ring buffer: Linux 5.18 or newer is "
                                     "needed");
    if (map < 0)
        return kernel_refused("bpf(2)", errno);
    close(map);
    return OK;
}

int kernel_refused(const char *step, int error) {
    const char *hint = "";
    if (error == EPERM)
        hint = "; a seccomp filter, a security module or kernel lockdown may forbid it";
    else if (error == ENOSYS)
        hint = "; the kernel has to be built with CONFIG_BPF_SYSCALL";
    return complain(UNSUPPORTED, "the kernel refuses to trace: %s: %s%s%s%s%s", step,
                    strerror(error), hint, first_words[0] ? " (" : "", first_words,
                    first_words[0] ? ")" : "");
}

unsigned kernel_pid_namespace(void) {
    struct stat file;
    return stat("/proc/self/ns/pid", &file) == 0 ? (unsigned)file.st_ino : 0;
}

uint64_t kernel_misses(const struct bpf_object *object) {
    struct bpf_program *program;
    uint64_t misses = 0;
    bpf_object__for_each_program(program, object) {
        struct bpf_prog_info info = {0};
        __u32 size = sizeof info;
        if (bpf_obj_get_info_by_fd(bpf_program__fd(program), &info, &size) == 0)
            misses += info.recursion_misses;
    }
    return misses;
}
