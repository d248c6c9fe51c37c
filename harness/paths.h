/*
 * Where the other files of forkless are: in the build and source trees for a program that was not
 * installed, else beside it, under whatever prefix it stands.
 */
#ifndef PATHS_H
#define PATHS_H

#include <stdbool.h>
#include <stddef.h>

/* Each writes an absolute path; false when it does not fit. The file need not be there. */

/* The program forkless-NAME. */
bool path_program(const char *name, char *out, size_t size);
/* One of the targets that ship. */
bool path_target(const char *name, char *out, size_t size);
/* The folder of the small programs that strategies bring along. */
bool path_small(char *out, size_t size);
/* forkless-exec. */
bool path_helper(char *out, size_t size);
/* The manual page of a program, by the program's whole name. */
bool path_page(const char *program, char *out, size_t size);
/* The folder of the matrices. */
bool path_matrices(char *out, size_t size);
/* The file of hints that forkless-trace gives. */
bool path_hints(char *out, size_t size);
/*
 * The folder of local runs: results/local of the source tree, or forkless in $XDG_STATE_HOME
 * (~/.local/state); also false without a home.
 */
bool path_local(char *out, size_t size);

#endif
