/* One sample of many commands, so many at once. */
#ifndef MANY_H
#define MANY_H

#include "sample.h"

/* As sample_take(). `call` is what the caller was held in all, `longest` what at once. */
int many_take(struct sampler *, struct sample *);

#endif
