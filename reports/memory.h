#pragma once

/* Both end the program with one sentence when there is no memory. */
void *must(void *allocated);
char *sentence(const char *format, ...) __attribute__((format(printf, 1, 2)));
