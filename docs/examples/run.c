/* run SECONDS COMMAND [ARGUMENT...]: what the command writes. If it
 * takes longer it is ended, with all that it has started. */
#include <fcntl.h>
#include <forkless.h>
#include <stdio.h>
#include <stdlib.h>

int main(int argc, char **argv) {
    forkless_command *command;
    forkless_error error;
    forkless_result result;
    char sentence[256];

    if (argc < 3 || forkless_command_new(&command, argv[2]) < 0)
        return 2;
    for (int i = 3; i < argc; i++)
        forkless_command_arg(command, argv[i]);
    forkless_command_search(command);
    forkless_command_file(command, 0, "/dev/null", O_RDONLY, 0);

    int64_t ns = (int64_t)(atof(argv[1]) * 1e9);
    forkless_run_options options = {
        .deadline_ns = forkless_deadline_in(ns),
    };
    int rc = forkless_run(command, &options, &result, &error);
    forkless_command_free(command);
    if (rc < 0) {
        forkless_error_print(&error, sentence, sizeof sentence);
        fprintf(stderr, "run: %s\n", sentence);
        forkless_result_free(&result);
        return 1;
    }
    fwrite(result.output, 1, result.output_size, stdout);
    fwrite(result.errors, 1, result.errors_size, stderr);
    if (result.timed_out)
        fprintf(stderr, "run: it took too long\n");
    forkless_status status = result.status;
    forkless_result_free(&result);
    return status.how == FORKLESS_EXITED ? status.code
                                         : 128 + status.code;
}
