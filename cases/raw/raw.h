/* What the strategies that people know have in common. */
#ifndef RAW_H
#define RAW_H

#include "../case.h"

extern char **environ;

/* The target, and its arguments. */
extern char *raw_argv[2];

int raw_prepare(const struct request *);
int raw_finish(struct born *, struct ended *); /* wait4 */

#endif
