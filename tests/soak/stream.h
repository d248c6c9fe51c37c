/* What a child writes, so that its reader knows each byte: the highest bit tells the two outputs
 * apart where they are merged. */
#ifndef STREAM_H
#define STREAM_H

#include <stddef.h>
#include <stdint.h>

enum { STREAM_ERRORS = 0x80 };

static inline unsigned char stream_byte(uint64_t seed, uint64_t position, unsigned char stream) {
    uint64_t mixed = (position + 1) * 0x9e3779b97f4a7c15u ^ seed;
    return (unsigned char)((mixed * 0xbf58476d1ce4e5b9u) >> 57 | stream);
}

static inline void stream_fill(unsigned char *to, size_t size, uint64_t seed, uint64_t position,
                               unsigned char stream) {
    for (size_t i = 0; i < size; i++)
        to[i] = stream_byte(seed, position + i, stream);
}

#endif
