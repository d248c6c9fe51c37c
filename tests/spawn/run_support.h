/* What the tests of runs share. */
#ifndef RUN_SUPPORT_H
#define RUN_SUPPORT_H

#include <stddef.h>

#include "forkless.h"

enum { MIB = 1 << 20 };

forkless_command *shell(const char *script);

/* Runs it, which has to succeed, and frees the command. */
forkless_result ran(forkless_command *c, const forkless_run_options *options);

void has_exited(const forkless_result *, int code);
void has_text(const char *text, size_t size, const char *want);

/* Runs cat with all that; `how` may be UNKNOWN, where somebody else may have waited for it. */
void copied(const char *data, size_t size, enum forkless_how how);

/* Bytes that are not the same anywhere; for free(). */
char *patterned(size_t size);

#endif
