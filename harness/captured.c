#include "captured.h"

#include <stdio.h>
#include <string.h>

#include "cell.h"
#include "targets/target.h"

static size_t size_of(const char *name) {
    return strcmp(name, "tiny") == 0       ? sizeof(target_stamp)
           : strcmp(name, "mebibyte") == 0 ? MEBIBYTE
                                           : 0;
}

static bool is_mebibyte(const char *output, char *why, size_t size) {
    for (unsigned i = 0; i < MEBIBYTE / sizeof(mebibyte_word); i++) {
        mebibyte_word word, wanted = i % MEBIBYTE_WORDS ? i % MEBIBYTE_WORDS : i / MEBIBYTE_WORDS;
        memcpy(&word, output + i * sizeof word, sizeof word);
        if (word == wanted)
            continue;
        snprintf(why, size, "what was captured is not what the target wrote, from byte %zu on",
                 i * sizeof word);
        return false;
    }
    return true;
}

bool captured_is_whole(const char *target, const char *output, size_t length, char *why,
                       size_t size) {
    const char *name = target_name(target);
    if (!target_is_known(name))
        return true;
    if (length == size_of(name))
        return length != MEBIBYTE || is_mebibyte(output, why, size);
    snprintf(why, size, "%zu bytes were captured, where the target writes %zu", length,
             size_of(name));
    return false;
}
