#include "plan.h"

#include <errno.h>
#include <fcntl.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <unistd.h>

#include "actor.h"

struct shared shared;
pthread_rwlock_t environment_lock = PTHREAD_RWLOCK_INITIALIZER;

void plan_set(const struct worker *w, int rc, const char *call) {
    if (rc != 0)
        wrong(w, "%s: %s", call, strerror(-rc));
}

void plan_expect(struct plan *p, const char *format, ...) {
    char *text = p->expectation[p->expectations];
    va_list arguments;
    va_start(arguments, format);
    vsnprintf(text, sizeof *p->expectation, format, arguments);
    va_end(arguments);
    MUST(++p->expectations < 32 && forkless_command_arg(p->command, text) == 0);
}

/* ---- commands that fail ---- */

static struct {
    const char *program;
    struct reason reason;
} const failing[] = {
    {"/nonexistent/program", {-ENOENT, FORKLESS_STEP_EXEC, -1}},
    {"/tmp", {-EACCES, FORKLESS_STEP_EXEC, -1}},
    {"/etc/passwd", {-EACCES, FORKLESS_STEP_EXEC, -1}},
    {"/etc/passwd/program", {-ENOTDIR, FORKLESS_STEP_EXEC, -1}},
    {shared.no_interpreter, {-ENOENT, FORKLESS_STEP_EXEC, -1}},
    {shared.no_format, {-ENOEXEC, FORKLESS_STEP_EXEC, -1}},
    {NULL, {-ENOENT, FORKLESS_STEP_CWD, -1}},
    {NULL, {-ENOTDIR, FORKLESS_STEP_CWD, -1}},
    {NULL, {-EBADF, FORKLESS_STEP_DESCRIPTOR, 25}},
    {NULL, {-ENOENT, FORKLESS_STEP_FILE, 25}},
    {NULL, {-ENOTTY, FORKLESS_STEP_TERMINAL, 25}},
};

static void make_fail(struct worker *w, struct plan *p) {
    forkless_command *c = p->command;
    switch ((int)p->reason.step) {
    case FORKLESS_STEP_CWD:
        SET(w, forkless_command_cwd(c, p->reason.code == -ENOENT ? "/nonexistent" : "/etc/passwd"));
        break;
    case FORKLESS_STEP_DESCRIPTOR:
        SET(w, forkless_command_fd(c, 25, 999999));
        break;
    case FORKLESS_STEP_FILE:
        SET(w, forkless_command_file(c, 25, "/nonexistent/file", O_RDONLY, 0));
        break;
    case FORKLESS_STEP_TERMINAL:
        SET(w, forkless_command_file(c, 25, "/dev/null", O_RDWR, 0));
        SET(w, forkless_command_terminal(c, 25));
        break;
    }
}

/* ---- behaviours ---- */

static const char *const names[] = {
    [EXITS] = "exit",
    [NAPS] = "nap",
    [WRITES] = "write",
    [COPIES] = "copy",
    [CLOSES] = "close",
    [STOPS_ITSELF] = "stop",
    [LIVES] = "live",
    [STUBBORN] = "stubborn",
    [TREE] = "tree",
    [LEAVES] = "leave",
    [DAEMON] = "daemon",
    [ENDLESS] = "endless",
    [SIGNALS_ITSELF] = "signal",
};

static bool has_outputs(const struct plan *p) {
    return p->behaviour == WRITES || p->behaviour == COPIES || p->behaviour == CLOSES ||
           p->behaviour == LEAVES || p->behaviour == DAEMON || p->behaviour == ENDLESS;
}

/* Sizes of all orders: nothing, a word, a pipe's worth, more. */
static size_t some_size(struct random *r) {
    static const unsigned orders[] = {1, 100, 4096, 65536, 70000, 300000};
    return below(r, orders[below(r, 6)]);
}

static void choose_behaviour(struct worker *w, struct plan *p) {
    static const int signals[] = {SIGKILL, SIGALRM};
    struct random *r = &w->random;
    p->behaviour = chance(r, 35) ? EXITS : (enum behaviour)below(r, ENDLESS + 1);
    p->code = (int)below(r, ACTOR_USAGE);
    p->stream = random_next(r);
    p->signal = p->behaviour == SIGNALS_ITSELF ? signals[below(r, 2)] : 0;
    if (p->behaviour == WRITES || p->behaviour == LEAVES || p->behaviour == DAEMON) {
        p->output = some_size(r);
        p->errors = chance(r, 50) ? some_size(r) : 0;
    }
    if (p->behaviour == COPIES)
        p->output = some_size(r);
    p->piped = has_outputs(p) && !p->for_run;
    p->merged = p->piped && chance(r, 30);
}

static void say_behaviour(struct plan *p) {
    const unsigned long numbers[] = {(unsigned long)p->code,
                                     p->behaviour == SIGNALS_ITSELF ? (unsigned long)p->signal
                                     : p->behaviour == NAPS || p->behaviour == CLOSES
                                         ? p->stream % 20
                                         : p->stream,
                                     p->output, p->errors};
    p->arguments[0] = names[p->behaviour];
    for (int i = 0; i < 4; i++) {
        snprintf(p->texts[i], sizeof *p->texts, "%lu", numbers[i]);
        p->arguments[i + 1] = p->texts[i];
    }
    p->arguments[5] = NULL;
}

static void add_pipes(struct worker *w, struct plan *p) {
    if (p->behaviour == COPIES)
        SET(w, forkless_command_pipe(p->command, 0, FORKLESS_READS));
    SET(w, forkless_command_pipe(p->command, 1, FORKLESS_WRITES));
    if (p->merged)
        SET(w, forkless_command_same(p->command, 2, 1));
    else
        SET(w, forkless_command_pipe(p->command, 2, FORKLESS_WRITES));
}

static void add_lease(struct worker *w, struct plan *p) {
    int pair[2];
    MUST(socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, pair) == 0);
    p->lease = pair[0];
    p->theirs = pair[1];
    SET(w, forkless_command_fd(p->command, LEASE_FD, pair[1]));
    p->descriptors++;
}

static void new_command(struct worker *w, struct plan *p, const char *program) {
    pthread_rwlock_rdlock(&environment_lock);
    SET(w, forkless_command_new(&p->command, program));
    pthread_rwlock_unlock(&environment_lock);
}

void plan_make(struct worker *w, struct plan *p, bool for_run) {
    memset(p, 0, sizeof *p);
    p->for_run = for_run;
    p->lease = p->theirs = -1;
    p->descriptors = 3;
    const char *program = shared.actor;
    if (chance(&w->random, 12)) {
        unsigned i = below(&w->random, sizeof failing / sizeof *failing);
        p->reason = failing[i].reason;
        program = failing[i].program ? failing[i].program : program;
    }
    choose_behaviour(w, p);
    new_command(w, p, program);
    plan_attributes(w, p, 6);
    if (p->piped)
        add_pipes(w, p);
    if (p->behaviour >= LIVES)
        add_lease(w, p);
    if (p->reason.code)
        make_fail(w, p);
    plan_expect(p, "descriptors=%d", p->descriptors);
    SET(w, forkless_command_arg(p->command, "--"));
    say_behaviour(p);
    p->override = chance(&w->random, 25);
    for (int i = 0; i < 5 && !p->override; i++)
        SET(w, forkless_command_arg(p->command, p->arguments[i]));
    worker_says(w, "%s%s%s%s%s", names[p->behaviour], p->reason.code ? " failing at " : "",
                p->reason.code ? forkless_step_name(p->reason.step) : "",
                p->helped ? " helped" : "", p->in_cgroup ? " in cgroup" : "");
}

/* ---- what is there for all ---- */

static void write_file(char *path, size_t size, const char *name, const char *text) {
    snprintf(path, size, "%s/%s", shared.folder, name);
    int fd = open(path, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0755);
    MUST(fd >= 0 && write(fd, text, strlen(text)) == (ssize_t)strlen(text));
    close(fd);
}

/* Whether another user can execute the program, which depends on the folders above it. */
static bool can_have_users(void) {
    forkless_command *c;
    forkless_child *child = NULL;
    forkless_status status = {.code = -1};
    MUST(forkless_command_new(&c, shared.actor) == 0);
    MUST(forkless_command_uid(c, 65534) == 0 && forkless_command_arg(c, "--") == 0);
    MUST(forkless_command_arg(c, "exit") == 0 && forkless_command_arg(c, "0") == 0);
    if (forkless_spawn(c, &child, NULL) == 0)
        forkless_wait(child, FORKLESS_NEVER, &status, NULL);
    forkless_child_free(child);
    forkless_command_free(c);
    return status.how == FORKLESS_EXITED && status.code == 0;
}

const char *plan_prepare(const char *actor, bool *have_users) {
    const char *temporary = getenv("TMPDIR");
    shared.actor = actor;
    snprintf(shared.folder, sizeof shared.folder, "%s/forkless-soak-XXXXXX",
             temporary ? temporary : "/tmp");
    MUST(mkdtemp(shared.folder) && chmod(shared.folder, 0755) == 0);
    write_file(shared.no_interpreter, sizeof shared.no_interpreter, "no-interpreter",
               "#!/nonexistent/interpreter\n");
    write_file(shared.no_format, sizeof shared.no_format, "no-format", "what is this?\n");
    shared.actor_fd = open(actor, O_RDONLY | O_CLOEXEC);
    shared.zero = open("/dev/zero", O_RDONLY | O_CLOEXEC);
    shared.root = open("/", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    MUST(shared.actor_fd >= 0 && shared.zero >= 0 && shared.root >= 0);
    for (int s = 1; s <= SIGRTMAX; s++) {
        struct sigaction action;
        if (s != SIGPIPE && sigaction(s, NULL, &action) == 0 && action.sa_handler == SIG_IGN)
            shared.ignored |= 1ul << (s - 1);
    }
    shared.users = *have_users = geteuid() == 0 && can_have_users();
    return geteuid() == 0 ? "the program cannot be reached by others" : "not root";
}
