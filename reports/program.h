#pragma once

/* What the programs of reports/ have in common as programs. */

enum {
    GOOD = 0,
    INTERNAL = 1,
    USAGE = 2, /* or a bad file */
    CELLS_FAILED = 3,
    UNSUPPORTED_RUN = 4,
    SAID_NO = 5,
    UNCLEAR = 6,
};

/* The code; or INTERNAL, with a sentence, when not all of what was printed got out. */
int finish_output(const char *what, int code);
