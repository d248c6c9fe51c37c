#pragma once

#include "fields.h"
#include "run.h"

/* The `host` of a file, as far as figures depend on it. */

bool host_read(struct source *source, const json_t *line, struct host *host);
bool same_host(const struct host *a, const struct host *b);
void host_clear(struct host *host);
