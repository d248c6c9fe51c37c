/* uv SECONDS PROGRAM ARGUMENT...: runs the program once for each
 * argument, all at once, with a deadline, in a loop of libuv. */
#include <fcntl.h>
#include <forkless.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <uv.h>

struct tool {
    const char *argument;
    forkless_child *child;
    uv_poll_t poll;
    uv_timer_t timer;
};

static int failed;

static void complain(const struct tool *tool, const char *sentence) {
    fprintf(stderr, "uv: %s: %s\n", tool->argument, sentence);
    failed = 1;
}

static void complain_error(const struct tool *tool,
                           const forkless_error *error) {
    char sentence[256];
    forkless_error_print(error, sentence, sizeof sentence);
    complain(tool, sentence);
}

static void show(const struct tool *tool) {
    forkless_result result = {0};
    forkless_error error;

    if (forkless_run_result(tool->child, &result, &error) < 0)
        complain_error(tool, &error);
    else {
        fwrite(result.output, 1, result.output_size, stdout);
        if (result.timed_out)
            complain(tool, "it took too long");
        else if (result.status.how != FORKLESS_EXITED ||
                 result.status.code != 0)
            complain(tool, "it did not end well");
    }
    forkless_result_free(&result);
}

static void close_handle(uv_handle_t *handle) {
    if (handle->data)
        uv_close(handle, NULL);
}

static void on_timer(uv_timer_t *timer);

/* What is due, and when to come again. */
static void go_on(struct tool *tool) {
    int state = forkless_poll(tool->child);
    if (state == FORKLESS_PENDING || state == FORKLESS_RUNNING) {
        int64_t deadline = forkless_next_deadline(tool->child);
        int64_t left = deadline - (int64_t)uv_hrtime();
        if (deadline != FORKLESS_NEVER)
            uv_timer_start(
                &tool->timer, on_timer,
                left <= 0 ? 0 : (uint64_t)left / 1000000 + 1, 0);
        else
            uv_timer_stop(&tool->timer);
        return;
    }
    show(tool);
    close_handle((uv_handle_t *)&tool->timer);
    /* Out of the loop, and then closed. */
    close_handle((uv_handle_t *)&tool->poll);
    forkless_child_free(tool->child);
}

static void on_timer(uv_timer_t *timer) {
    go_on(timer->data);
}

static void on_poll(uv_poll_t *poll, int status, int events) {
    (void)status, (void)events;
    go_on(poll->data);
}

static int watch(uv_loop_t *loop, struct tool *tool) {
    uv_timer_init(loop, &tool->timer);
    tool->timer.data = tool;
    /* Negative where there are no pidfds: then the timer alone. */
    int fd = forkless_poll_fd(tool->child);
    if (fd < 0)
        return 0;
    int rc = uv_poll_init(loop, &tool->poll, fd);
    if (rc < 0)
        return rc;
    tool->poll.data = tool;
    return uv_poll_start(&tool->poll, UV_READABLE, on_poll);
}

static void start(uv_loop_t *loop, forkless_command *command,
                  struct tool *tool, double seconds) {
    const char *arguments[] = {tool->argument, NULL};
    forkless_override override = {.arguments = arguments};
    forkless_run_options options = {
        .capture = FORKLESS_CAPTURE_MERGED,
        .deadline_ns =
            forkless_deadline_in((int64_t)(seconds * 1e9)),
        .override = &override,
    };
    forkless_error error;

    if (forkless_run_start(command, &options, &tool->child, &error) <
        0) {
        complain_error(tool, &error);
        return;
    }
    int rc = watch(loop, tool);
    if (rc < 0) {
        complain(tool, uv_strerror(rc));
        forkless_kill(tool->child, SIGKILL, FORKLESS_GROUP);
        forkless_wait(tool->child, FORKLESS_NEVER, NULL, NULL);
    }
    go_on(tool);
}

int main(int argc, char **argv) {
    uv_loop_t *loop = uv_default_loop();
    struct tool *tools = calloc((size_t)argc, sizeof *tools);
    forkless_command *command;

    if (argc < 4 || forkless_command_new(&command, argv[2]) < 0)
        return 2;
    if (!loop || !tools)
        return 1;
    forkless_command_search(command);
    forkless_command_file(command, 0, "/dev/null", O_RDONLY, 0);
    for (int i = 3; i < argc; i++) {
        tools[i].argument = argv[i];
        start(loop, command, &tools[i], atof(argv[1]));
    }
    forkless_command_free(command);
    uv_run(loop, UV_RUN_DEFAULT);
    uv_loop_close(loop);
    free(tools);
    return failed;
}
