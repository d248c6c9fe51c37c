/* Another program of forkless, run to its end. */
#ifndef TOOL_H
#define TOOL_H

#include <stdbool.h>

struct tool {
    const char *name;             /* the program forkless-NAME, */
    const char *const *arguments; /* ended by NULL */
    int signals;                  /* readable when somebody wants to end all this */

    /* What came of it. */
    int status;     /* its exit status; -1: it could not be run, or was killed, */
    char last[256]; /* as this says; else the last line that it wrote to its standard error */
    char *output;   /* all of its standard output, to be freed */
    bool interrupted;
};

void tool_run(struct tool *);

#endif
