/* What a run and a trace call the times between two moments of a child, in their order;
 * results/README.md says what each is. */
#ifndef INTERVAL_NAMES_H
#define INTERVAL_NAMES_H

#define INTERVAL_NAMES "create", "wake", "enter", "set_up", "exec", "load", "run", "reap", "waited"

#endif
