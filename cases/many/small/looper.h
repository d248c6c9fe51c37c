/* What a looper is asked for and answers, in one message each. */
#ifndef LOOPER_H
#define LOOPER_H

#include <stdint.h>

struct looper_answer {
    uint32_t ended; /* of the children, as they should */
    int64_t cpu;    /* ns, of the looper and its children, since it began */
};

#endif
