/* Every combination of what forkless-exec does with what the child does before, in any order of
 * setters; user namespaces; callers that may not. */
#include <errno.h>
#include <fcntl.h>
#include <grp.h>
#include <linux/securebits.h>
#include <sched.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "support.h"

enum { NOBODY = 65534, OTHER = 12345 };

static struct seen seen;

/* ---- all of them ---- */

enum attribute {
    UID,
    GID,
    GROUPS,
    CAPABILITIES,
    SECUREBITS,
    SCORE,
    CORE_LIMIT,
    CWD,
    UMASK,
    NICE,
    NO_NEW_PRIVS,
    DEATH_SIGNAL,
    SESSION,
    DESCRIPTOR,
    MASK,
    ATTRIBUTES
};

static const char *const with[ATTRIBUTES] = {
    [UID] = "Uid: 12345 12345 12345 12345 ",
    [GID] = "Gid: 12345 12345 12345 12345 ",
    [GROUPS] = "Groups: 3 9 ",
    [CAPABILITIES] = "CapPrm: 0000000000000420 ",
    [SECUREBITS] = "securebits 3",
    [SCORE] = "score 321 ",
    [CORE_LIMIT] = "limit 4 0 4096",
    [CWD] = "cwd /proc",
    [UMASK] = "umask 27",
    [NICE] = "nice 7",
    [NO_NEW_PRIVS] = "no_new_privs 1",
    [DEATH_SIGNAL] = "death_signal 10",
    [SESSION] = "session own",
    [MASK] = "blocked 2000",
};

static const char *const without[ATTRIBUTES] = {
    [UID] = "Uid: 0 0 0 0 ",
    [GID] = "Gid: 0 0 0 0 ",
    [GROUPS] = "Groups: 0 7 ",
    [SECUREBITS] = "securebits 0",
    [SCORE] = "score 0 ",
    [NICE] = "nice 0",
    [NO_NEW_PRIVS] = "no_new_privs 0",
    [DEATH_SIGNAL] = "death_signal 0",
    [MASK] = "blocked 0",
};

static void set(forkless_command *c, enum attribute a) {
    const gid_t groups[] = {3, 9};
    const struct rlimit core = {0, 4096};
    sigset_t mask;
    sigemptyset(&mask);
    sigaddset(&mask, 14);
    int rc = -1;
    switch (a) {
    case UID:
        rc = forkless_command_uid(c, OTHER);
        break;
    case GID:
        rc = forkless_command_gid(c, OTHER);
        break;
    case GROUPS:
        rc = forkless_command_groups(c, 2, groups);
        break;
    case CAPABILITIES:
        rc = forkless_command_capabilities(c, 0x420);
        break;
    case SECUREBITS:
        rc = forkless_command_securebits(c, SECBIT_NOROOT | SECBIT_NOROOT_LOCKED);
        break;
    case SCORE:
        rc = forkless_command_oom_score(c, 321);
        break;
    case CORE_LIMIT:
        rc = forkless_command_rlimit(c, RLIMIT_CORE, &core);
        break;
    case CWD:
        rc = forkless_command_cwd(c, "/proc");
        break;
    case UMASK:
        rc = forkless_command_umask(c, 027);
        break;
    case NICE:
        rc = forkless_command_nice(c, 7);
        break;
    case NO_NEW_PRIVS:
        rc = forkless_command_no_new_privs(c);
        break;
    case DEATH_SIGNAL:
        rc = forkless_command_death_signal(c, SIGUSR1);
        break;
    case SESSION:
        rc = forkless_command_session(c);
        break;
    case DESCRIPTOR:
        rc = forkless_command_fd(c, 4, 0);
        break;
    case MASK:
        rc = forkless_command_mask(c, &mask);
        break;
    case ATTRIBUTES:
        break;
    }
    CHECK_EQ(rc, 0);
}

static void check_all(unsigned chosen) {
    for (int a = 0; a < ATTRIBUTES; a++) {
        const char *want = chosen >> a & 1 ? with[a] : without[a];
        /* User 0 gets all of them again at its exec, and an exec that gives some takes the signal.
         */
        bool again = chosen >> CAPABILITIES & 1 &&
                     !(chosen & (1u << UID | 1u << SECUREBITS | 1u << NO_NEW_PRIVS));
        if (again && (a == CAPABILITIES || a == DEATH_SIGNAL))
            continue;
        if (want && !seen_line(&seen, want)) {
            fprintf(stderr, "%x\n%s\n", chosen, seen.text);
            check_failed(__FILE__, __LINE__, want);
        }
    }
    CHECK_EQ(seen_fd(&seen, 4) != NULL, chosen >> DESCRIPTOR & 1);
    CHECK_EQ(seen.count, 3 + (int)(chosen >> DESCRIPTOR & 1));
}

static void one_mix(unsigned chosen, launcher *launch) {
    struct show s = show_by_stdout();
    int order[ATTRIBUTES];
    for (int a = 0; a < ATTRIBUTES; a++) {
        int k = rand() % (a + 1);
        order[a] = order[k];
        order[k] = a;
    }
    for (int i = 0; i < ATTRIBUTES; i++)
        if (chosen >> order[i] & 1)
            set(s.command, (enum attribute)order[i]);
    forkless_child *child = launched(launch, s.command);
    CHECK_EQ(forkless_helped(child), (chosen & 0x3f) != 0);
    ends(child, FORKLESS_EXITED, 0);
    show_read(&s, &seen);
    check_all(chosen);
}

TEST(b91_every_combination) {
    const gid_t groups[] = {0, 7};
    if (geteuid() != 0)
        skip_test("not root");
    with_helper();
    CHECK_EQ(setgroups(2, groups), 0);
    CHECK_EQ(dup2(1, 0), 0);
    srand(1);
    for (int a = 0; a < ATTRIBUTES; a++)
        for (int b = 0; b <= a; b++)
            one_mix(1u << a | 1u << b, launchers[b % 2]);
    one_mix((1u << ATTRIBUTES) - 1, forkless_spawn);
    for (int i = 0; i < count(8000); i++)
        one_mix((unsigned)rand() % (1u << ATTRIBUTES), launchers[i % 2]);
    check_no_child();
}

/* ---- callers that may not: the step is told, nothing is half done ---- */

static void become_nobody(void) {
    if (geteuid() == 0) {
        CHECK_EQ(setgroups(0, NULL), 0);
        CHECK_EQ(setresgid(NOBODY, NOBODY, NOBODY), 0);
        CHECK_EQ(setresuid(NOBODY, NOBODY, NOBODY), 0);
    }
}

static void may_not(forkless_command *c, int code, enum forkless_step step) {
    CHECK_EQ(forkless_command_cwd(c, "/"), 0);
    for (int l = 0; l < 2; l++)
        fails(launchers[l], c, code, step, -1);
    forkless_command_free(c);
}

/* One of several changes is not allowed: the others were, and the target does not run. */
static _Noreturn void one_of_several(void) {
    const gid_t groups[] = {0};
    with_helper();
    become_nobody();
    forkless_command *c = probe("touch", seen.text, NULL);
    CHECK_EQ(forkless_command_oom_score(c, 500), 0);
    CHECK_EQ(forkless_command_groups(c, 1, groups), 0);
    CHECK_EQ(forkless_command_uid(c, getuid()), 0);
    may_not(c, -EPERM, FORKLESS_STEP_GROUPS);
    c = probe("touch", seen.text, NULL);
    CHECK_EQ(forkless_command_gid(c, getgid()), 0);
    CHECK_EQ(forkless_command_uid(c, 0), 0);
    may_not(c, -EPERM, FORKLESS_STEP_UID);
    c = probe("touch", seen.text, NULL);
    CHECK_EQ(forkless_command_gid(c, 0), 0);
    CHECK_EQ(forkless_command_uid(c, 0), 0);
    may_not(c, -EPERM, FORKLESS_STEP_GID);
    c = probe("touch", seen.text, NULL);
    CHECK_EQ(forkless_command_capabilities(c, 1), 0);
    may_not(c, -EPERM, FORKLESS_STEP_CAPABILITIES);
    c = probe("touch", seen.text, NULL);
    CHECK_EQ(forkless_command_securebits(c, SECBIT_NOROOT), 0);
    may_not(c, -EPERM, FORKLESS_STEP_SECUREBITS);
    c = probe("touch", seen.text, NULL);
    CHECK_EQ(forkless_command_oom_score(c, -500), 0);
    may_not(c, -EACCES, FORKLESS_STEP_OOM_SCORE);
    CHECK_EQ(access(seen.text, F_OK), -1);
    check_no_child();
    _exit(0);
}

TEST(no_permission) {
    char marker[] = "/tmp/spawn-test-XXXXXX";
    CHECK(mkdtemp(marker));
    CHECK_EQ(chmod(marker, 0777), 0);
    strcat(strcpy(seen.text, marker), "/x");
    pid_t pid = forked();
    if (pid == 0)
        one_of_several();
    int status;
    CHECK_EQ(waitpid(pid, &status, 0), pid);
    CHECK_EQ(status, 0);
    CHECK_EQ(rmdir(marker), 0);
}

/* What everybody may. */
TEST(own_ids) {
    with_helper();
    become_nobody();
    for (int l = 0; l < 2; l++) {
        struct show s = show_by_stdout();
        CHECK_EQ(forkless_command_uid(s.command, getuid()), 0);
        CHECK_EQ(forkless_command_gid(s.command, getgid()), 0);
        CHECK_EQ(forkless_command_capabilities(s.command, 0), 0);
        CHECK_EQ(forkless_command_oom_score(s.command, 900), 0);
        CHECK_EQ(forkless_command_no_new_privs(s.command), 0);
        show_run(&s, launchers[l], &seen);
        CHECK(seen_line(&seen, "score 900 "));
        CHECK(seen_line(&seen, "CapEff: 0000000000000000 "));
    }
}

/* ---- user namespaces ---- */

static void write_to(pid_t pid, const char *name, const char *text) {
    char path[64];
    snprintf(path, sizeof path, "/proc/%d/%s", pid, name);
    int fd = open(path, O_WRONLY | O_CLOEXEC);
    CHECK(fd >= 0);
    CHECK_EQ(write(fd, text, strlen(text)), strlen(text));
    close(fd);
}

/* A process that holds new namespaces, in which user 0 is the caller. */
static pid_t holder(int flags, bool map) {
    int ready[2];
    char byte, line[32];
    CHECK_EQ(pipe(ready), 0);
    pid_t pid = forked();
    if (pid == 0) {
        byte = unshare(flags) == 0 ? 'y' : 'n';
        CHECK_EQ(prctl(PR_SET_PDEATHSIG, SIGKILL), 0);
        CHECK_EQ(write(ready[1], &byte, 1), 1);
        for (;;)
            pause();
    }
    CHECK_EQ(read(ready[0], &byte, 1), 1);
    if (byte != 'y')
        skip_test("no user namespaces");
    if (map) {
        write_to(pid, "setgroups", "deny");
        snprintf(line, sizeof line, "0 %d 1", (int)getuid());
        write_to(pid, "uid_map", line);
        snprintf(line, sizeof line, "0 %d 1", (int)getgid());
        write_to(pid, "gid_map", line);
    }
    close(ready[0]);
    close(ready[1]);
    return pid;
}

static int namespace_of(pid_t pid, const char *name) {
    char path[64];
    snprintf(path, sizeof path, "/proc/%d/ns/%s", pid, name);
    int fd = open(path, O_RDONLY | O_CLOEXEC);
    CHECK(fd >= 0);
    return fd;
}

static void end_holder(pid_t pid) {
    CHECK_EQ(kill(pid, SIGKILL), 0);
    CHECK_EQ(waitpid(pid, NULL, 0), pid);
}

/* As it is inside: ids are its own, others are entered by the rights that it lends. */
static void in_namespace(void) {
    const gid_t groups[] = {0};
    pid_t pid = holder(CLONE_NEWUSER | CLONE_NEWUTS | CLONE_NEWNET, true);
    int user = namespace_of(pid, "user"), uts = namespace_of(pid, "uts");
    for (int l = 0; l < 2; l++) {
        struct show s = show_by_stdout();
        CHECK_EQ(forkless_command_namespace(s.command, uts, CLONE_NEWUTS), 0);
        CHECK_EQ(forkless_command_namespace(s.command, user, CLONE_NEWUSER), 0);
        CHECK_EQ(forkless_command_uid(s.command, 0), 0);
        CHECK_EQ(forkless_command_gid(s.command, 0), 0);
        CHECK_EQ(forkless_command_cwd(s.command, "/"), 0);
        forkless_child *child = launched(launchers[l], s.command);
        CHECK(forkless_helped(child));
        ends(child, FORKLESS_EXITED, 0);
        show_read(&s, &seen);
        CHECK(seen_line(&seen, "Uid: 0 0 0 0 "));
        CHECK(seen_line(&seen, "Gid: 0 0 0 0 "));
        forkless_command *c = probe("exit", NULL);
        CHECK_EQ(forkless_command_namespace(c, user, CLONE_NEWUSER), 0);
        CHECK_EQ(forkless_command_groups(c, 1, groups), 0);
        fails(launchers[l], c, -EPERM, FORKLESS_STEP_GROUPS, -1); /* setgroups: deny */
        forkless_command_free(c);
        c = probe("exit", NULL);
        CHECK_EQ(forkless_command_namespace(c, user, CLONE_NEWUSER), 0);
        CHECK_EQ(forkless_command_uid(c, OTHER), 0); /* which nobody is there */
        fails(launchers[l], c, -EINVAL, FORKLESS_STEP_UID, -1);
        forkless_command_free(c);
        c = probe("exit", NULL);
        CHECK_EQ(forkless_command_namespace(c, uts, CLONE_NEWUSER), 0);
        fails(launchers[l], c, -EINVAL, FORKLESS_STEP_NAMESPACE, uts);
        forkless_command_free(c);
        c = probe("exit", NULL);
        CHECK_EQ(forkless_command_namespace(c, 555, CLONE_NEWUSER), 0);
        fails(launchers[l], c, -EBADF, FORKLESS_STEP_NAMESPACE, 555);
        forkless_command_free(c);
    }
    end_holder(pid);
}

TEST(user_namespace) {
    with_helper();
    in_namespace();
}

TEST(user_namespace_of_nobody) {
    with_helper();
    become_nobody();
    CHECK_EQ(prctl(PR_SET_DUMPABLE, 1), 0);
    in_namespace();
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(b91_every_combination),
        cmocka_unit_test(no_permission),
        cmocka_unit_test(own_ids),
        cmocka_unit_test(user_namespace),
        cmocka_unit_test(user_namespace_of_nobody),
    };
    return RUN(tests);
}
