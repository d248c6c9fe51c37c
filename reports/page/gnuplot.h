#pragma once

/*
 * What gnuplot prints for a script, malloced. NULL when it is not there, failed, was killed or took
 * too long; *why is then one malloced phrase.
 */
char *gnuplot_run(const char *script, char **why);
