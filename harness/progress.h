/* A bar on stderr, when that is a terminal. */
#ifndef PROGRESS_H
#define PROGRESS_H

/* A total of 0 wipes the bar. */
void progress_bar(unsigned done, unsigned total, double seconds);

#endif
