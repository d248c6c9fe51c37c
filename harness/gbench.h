/* google-benchmark behind a C shim: it runs the iterations of one cell, with manual time, in our
 * order. */
#ifndef GBENCH_H
#define GBENCH_H

#ifdef __cplusplus
extern "C" {
#endif

/*
 * Calls `iteration` `count` times and tells google-benchmark that each took the seconds it
 * returned; a negative number ends the run. The number of iterations that were done.
 */
unsigned gbench_run(const char *name, unsigned count, double (*iteration)(void *), void *argument);

#ifdef __cplusplus
}
#endif

#endif
