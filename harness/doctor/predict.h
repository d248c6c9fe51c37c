/* What spawns would cost a parent on this host, from a run that measured some here. */
#ifndef PREDICT_H
#define PREDICT_H

#include <jansson.h>
#include <stdbool.h>
#include <stdint.h>

struct prediction {
    char *table;       /* to be freed; NULL: there is none, */
    char reason[512];  /* and why, */
    bool unsupported;  /* because this build or host cannot measure it, */
    bool interrupted;  /* or because somebody pressed Ctrl-C */
    char source[4400]; /* on what it rests: "a calibration just now" */
};

/*
 * For a parent with `bytes` of anonymous memory in 4 KiB pages. Takes the newest local run of this
 * very `host` that can say, else measures for a few seconds. Nothing of that is left behind.
 * Signals that would end the program are taken while it lasts.
 */
void predict(uint64_t bytes, const json_t *host, struct prediction *);

#endif
