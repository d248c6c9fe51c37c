/* Signals to a child, its group, its cgroup, and to no stranger that has one of their numbers. */
#include "kill.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "arch/syscall.h"
#include "cancel.h"
#include "cgroup.h"
#include "handle.h"
#include "helper.h"
#include "kernel.h"
#include "reap.h"

enum { TO_GROUP = 4 /* PIDFD_SIGNAL_PROCESS_GROUP, Linux 6.9 */ };

static int to_child(forkless_child *child, int signal) {
    if (child->reaped) /* by the kernel itself it may not be gone yet for a pidfd */
        return -ESRCH;
    int fd = fl_pidfd(child);
    if (fd == -ESRCH)
        return fd;
    long rc = -ENOSYS;
    if (fd >= 0)
        rc = fl_syscall(SYS_pidfd_send_signal, fd, signal, 0, 0, 0);
    if (fl_kill_is_refusal(rc))
        rc = fl_is_ours(child) ? fl_syscall(SYS_kill, child->pid, signal, 0, 0, 0) : -ESRCH;
    return (int)rc;
}

/* By a pidfd, which knows the group also when its number has been given to another. */
static long to_group_of_pidfd(forkless_child *child, int signal) {
    int fd = fl_pidfd(child);
    return fd < 0 ? -ENOSYS : fl_syscall(SYS_pidfd_send_signal, fd, signal, 0, TO_GROUP, 0);
}

/* The number is the group's as long as the child is there, be it as a zombie. */
static int to_group(forkless_child *child, int signal) {
    if (!child->leads_group)
        return -EINVAL;
    long rc = to_group_of_pidfd(child, signal);
    if (fl_kill_is_refusal(rc))
        rc = !child->reaped && fl_is_ours(child)
                 ? fl_syscall(SYS_kill, -child->pid, signal, 0, 0, 0)
                 : -ESRCH;
    /* Its group is still to be made. */
    return rc == -ESRCH ? to_child(child, signal) : (int)rc;
}

/* The child itself gets it also where it has left, or has still to join by forkless-exec; then it
 * may join, and have children, between the one and the other. */
static int to_cgroup(forkless_child *child, int signal) {
    int folder = child->cgroup_kept;
    if (folder < 0)
        return -EINVAL;
    bool joins = child->helped.used && !child->reaped && !fl_helper_look(child), reached = false;
    int rc = fl_cgroup_signal(folder, signal, child->pid, &reached);
    if (reached || child->reaped)
        return rc;
    int own = to_child(child, signal);
    if (joins && rc == -ESRCH)
        rc = fl_cgroup_signal(folder, signal, child->pid, &reached);
    return rc == -ESRCH ? own : rc;
}

int fl_kill(forkless_child *child, int signal, enum forkless_whom whom) {
    switch (whom) {
    case FORKLESS_GROUP:
        return to_group(child, signal);
    case FORKLESS_CHILD:
        return to_child(child, signal);
    case FORKLESS_CGROUP:
        return to_cgroup(child, signal);
    }
    return -EINVAL;
}

/* Whether this is about a process of the group of which more is left than a zombie. The leading
 * thread of one that is still there can be one. */
static bool is_alive_in(const char *pid, pid_t group) {
    char path[300], line[1024], state;
    snprintf(path, sizeof path, "/proc/%s/stat", pid);
    FILE *file = fopen(path, "re");
    if (!file)
        return false;
    size_t n = fread(line, 1, sizeof line - 1, file);
    fclose(file);
    line[n] = '\0';
    const char *behind_name = strrchr(line, ')');
    int its_group, threads;
    if (!behind_name || sscanf(behind_name,
                               ") %c %*d %d %*d %*d %*d %*u %*u %*u %*u %*u %*u %*u %*d "
                               "%*d %*d %*d %d",
                               &state, &its_group, &threads) != 3)
        return false;
    return its_group == group && ((state != 'Z' && state != 'X') || threads > 1);
}

/* Of our pid namespace, with its numbers. */
static bool is_proc_ours(void) {
    char number[16] = "";
    long n = fl_syscall(SYS_readlinkat, AT_FDCWD, (long)"/proc/self", (long)number,
                        sizeof number - 1, 0);
    return n > 0 && atoi(number) == (int)fl_syscall(SYS_getpid, 0, 0, 0, 0, 0);
}

/* Zombies are not for us to reap, and an init that does not keeps them for ever. True if it cannot
 * be told. */
static bool is_any_alive(pid_t group) {
    DIR *all = is_proc_ours() ? opendir("/proc") : NULL;
    bool alive = false, listed = false;
    for (struct dirent *entry; all && !alive && (entry = readdir(all));)
        if (entry->d_name[0] >= '1' && entry->d_name[0] <= '9') {
            alive = is_alive_in(entry->d_name, group);
            listed = true;
        }
    if (all)
        closedir(all);
    return alive || !listed;
}

bool fl_kill_outlives_reaping(forkless_child *child) {
    return !fl_kill_is_refusal(to_group_of_pidfd(child, 0));
}

bool fl_kill_finds_any(forkless_child *child, enum forkless_whom whom) {
    if (whom == FORKLESS_CHILD)
        return !child->reaped;
    if (whom == FORKLESS_CGROUP)
        return fl_cgroup_signal(child->cgroup_kept, 0, 0, NULL) != -ESRCH;
    long rc = to_group_of_pidfd(child, 0);
    if (fl_kill_is_refusal(rc)) /* to a stranger this does nothing */
        rc = fl_syscall(SYS_kill, -child->pid, 0, 0, 0, 0);
    return rc != -ESRCH && is_any_alive(child->pid);
}

int forkless_kill(forkless_child *child, int signal, enum forkless_whom whom) {
    if (child && !fl_slot_is_ours(child))
        return -ESRCH;
    if (!fl_slot_is_held(child) || signal < 0 || signal > FL_SIGNALS)
        return -EINVAL;
    int saved = errno;
    struct fl_cancel before = fl_handle_lock(child);
    int rc = fl_kill(child, signal, whom);
    fl_handle_unlock(child, before);
    errno = saved;
    return rc;
}
