/* The words that axes are made of, and which values of an axis do not go with those of others. */
#ifndef CONFLICTS_H
#define CONFLICTS_H

#include "cell.h"

/* Each in the order of its numbers in cell.h, up to NULL. */
extern const char *const page_words[];
extern const char *const memory_words[];
extern const char *const between_words[];
extern const char *const pin_words[];
extern const char *const load_words[];
extern const char *const victim_words[];
extern const char *const place_words[];
extern const char *const after_words[];
extern const char *const traced_words[];

/* True with a sentence in `why`, of the axis that each is named for. */
bool strategy_conflicts(const struct cell *, char *why, size_t size);
bool pages_conflict(const struct cell *, char *why, size_t size);
bool memory_conflicts(const struct cell *, char *why, size_t size);
bool between_conflicts(const struct cell *, char *why, size_t size);
bool victim_conflicts(const struct cell *, char *why, size_t size);
bool place_conflicts(const struct cell *, char *why, size_t size);
bool after_conflicts(const struct cell *, char *why, size_t size);
bool target_conflicts(const struct cell *, char *why, size_t size);
bool attribute_conflicts(const struct cell *, char *why, size_t size);
bool spawners_conflict(const struct cell *, char *why, size_t size);
bool commands_conflict(const struct cell *, char *why, size_t size);

#endif
