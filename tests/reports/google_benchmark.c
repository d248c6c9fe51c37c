/* The run named by the first argument, as google-benchmark writes it. */
#include "google_benchmark.h"
#include "judge.h"

#include <err.h>

int main(int argc, char **argv) {
    char *error = "no run";
    struct run *run = argc == 2 ? read_judged(argv[1], &error) : NULL;
    if (!run)
        errx(2, "%s", error);
    write_google_benchmark(run, stdout);
    run_free(run);
    return fclose(stdout) != 0;
}
