/* glib SECONDS PROGRAM ARGUMENT...: runs the program once for each
 * argument, all at once, with a deadline, in GLib's main loop. */
#include <fcntl.h>
#include <forkless.h>
#include <glib.h>
#include <stdio.h>
#include <stdlib.h>

typedef struct {
    GSource source;
    const char *argument;
    forkless_child *child;
} Tool;

static GMainLoop *loop;
static int running, failed;

static void complain(const char *argument, const char *sentence) {
    fprintf(stderr, "glib: %s: %s\n", argument, sentence);
    failed = 1;
}

static void complain_error(const char *argument,
                           const forkless_error *error) {
    char sentence[256];
    forkless_error_print(error, sentence, sizeof sentence);
    complain(argument, sentence);
}

static void show(const Tool *tool) {
    forkless_result result = {0};
    forkless_error error;

    if (forkless_run_result(tool->child, &result, &error) < 0)
        complain_error(tool->argument, &error);
    else {
        fwrite(result.output, 1, result.output_size, stdout);
        if (result.timed_out)
            complain(tool->argument, "it took too long");
        else if (result.status.how != FORKLESS_EXITED ||
                 result.status.code != 0)
            complain(tool->argument, "it did not end well");
    }
    forkless_result_free(&result);
}

/* GLib's clock is CLOCK_MONOTONIC too, in microseconds. */
static void set_ready_time(Tool *tool) {
    int64_t deadline = forkless_next_deadline(tool->child);
    g_source_set_ready_time(
        &tool->source,
        deadline == FORKLESS_NEVER ? -1 : deadline / 1000 + 1);
}

static gboolean dispatch(GSource *source, GSourceFunc callback,
                         gpointer data) {
    (void)callback, (void)data;
    Tool *tool = (Tool *)source;
    int state = forkless_poll(tool->child);
    if (state == FORKLESS_PENDING || state == FORKLESS_RUNNING) {
        set_ready_time(tool);
        return G_SOURCE_CONTINUE;
    }
    show(tool);
    if (--running == 0)
        g_main_loop_quit(loop);
    return G_SOURCE_REMOVE;
}

/* The descriptor is out of the loop by now. */
static void finalize(GSource *source) {
    forkless_child_free(((Tool *)source)->child);
}

static GSourceFuncs functions = {.dispatch = dispatch,
                                 .finalize = finalize};

static void start(const forkless_command *command,
                  const char *argument, double seconds) {
    const char *arguments[] = {argument, NULL};
    forkless_override override = {.arguments = arguments};
    forkless_run_options options = {
        .capture = FORKLESS_CAPTURE_MERGED,
        .deadline_ns =
            forkless_deadline_in((int64_t)(seconds * 1e9)),
        .override = &override,
    };
    forkless_child *child;
    forkless_error error;

    if (forkless_run_start(command, &options, &child, &error) < 0) {
        complain_error(argument, &error);
        return;
    }
    Tool *tool = (Tool *)g_source_new(&functions, sizeof *tool);
    tool->argument = argument;
    tool->child = child;
    /* Negative where there are no pidfds: then the time alone. */
    int fd = forkless_poll_fd(child);
    if (fd >= 0)
        g_source_add_unix_fd(&tool->source, fd, G_IO_IN);
    set_ready_time(tool);
    g_source_attach(&tool->source, NULL);
    g_source_unref(&tool->source);
    running++;
}

int main(int argc, char **argv) {
    forkless_command *command;

    if (argc < 4 || forkless_command_new(&command, argv[2]) < 0)
        return 2;
    forkless_command_search(command);
    forkless_command_file(command, 0, "/dev/null", O_RDONLY, 0);
    loop = g_main_loop_new(NULL, FALSE);
    for (int i = 3; i < argc; i++)
        start(command, argv[i], atof(argv[1]));
    forkless_command_free(command);
    if (running > 0)
        g_main_loop_run(loop);
    g_main_loop_unref(loop);
    return failed;
}
