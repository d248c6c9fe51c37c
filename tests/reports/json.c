/* Writes the analysis of the run that it is given. */
#include "json.h"
#include "judge.h"

#include <err.h>

int main(int argc, char **argv) {
    char *error;
    if (argc != 2)
        errx(2, "usage: %s RUN", argv[0]);
    struct run *run = read_judged(argv[1], &error);
    if (!run)
        errx(2, "%s", error);
    write_json(run, stdout);
    run_free(run);
    return 0;
}
