/* What the harness expects of every target. */
#ifndef TARGET_H
#define TARGET_H

/* Its exit status: not one that a shell, a crash or a failed exec gives. */
enum { TARGET_STATUS = 42 };

/* A stamping target writes to its standard output, in one write, CLOCK_MONOTONIC in ns at its first
 * instruction. */
typedef unsigned long long target_stamp;

/* What mebibyte writes, in pieces: words of eight bytes, the first the number of its piece, then
 * that of each word in it. */
enum { MEBIBYTE = 1 << 20, MEBIBYTE_PIECE = 64 << 10 };
typedef unsigned long long mebibyte_word;
enum { MEBIBYTE_WORDS = MEBIBYTE_PIECE / sizeof(mebibyte_word) };

#endif
