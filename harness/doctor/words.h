/* Text in 80 columns. */
#ifndef WORDS_H
#define WORDS_H

/* Prints `text` behind `lead`, and further lines of it below where it began. */
__attribute__((format(printf, 2, 3))) void print_words(const char *lead, const char *format, ...);

#endif
