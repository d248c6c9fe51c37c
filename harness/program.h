/* What forkless-bench and forkless-doctor have in common as programs. */
#ifndef PROGRAM_H
#define PROGRAM_H

enum {
    OK = 0,
    INTERNAL = 1,
    USAGE = 2, /* or a bad file */
    CELLS_FAILED = 3,
    UNSUPPORTED = 4,
    INTERRUPTED = 130
};

/* One sentence behind the program's name, on stderr; gives the code back. */
__attribute__((format(printf, 2, 3))) int complain(int code, const char *format, ...);

/* A number below 3 that is free would be given to one of our own files: fills them. OK, or a
 * complaint that standard output is closed. */
int check_standard_files(void);

/* What standard output is, for complaints: the name of a file; it stays the caller's. */
void name_output(const char *name);

/* The code, or a complaint when what was printed did not all get out. */
int finish_output(int code);

#endif
