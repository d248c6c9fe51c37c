/* main calls outer, that middle, that inner, which stops in libc: the one system call that is
 * stopped at is made by a function without a frame pointer. Built in several ways. */
#include <signal.h>
#include <string.h>

/* What comes after the call keeps it from becoming a jump; the array makes the frames differ. */
#define LINK(name, called)                                                                         \
    __attribute__((noinline)) int name(int depth) {                                                \
        volatile char room[48];                                                                    \
        memset((char *)room, depth, sizeof room);                                                  \
        return called(depth + 1) + room[depth];                                                    \
    }

int inner(int), middle(int), outer(int);

LINK(inner, raise)
LINK(middle, inner)
LINK(outer, middle)

int main(void) {
    return outer(SIGSTOP - 3) == 0;
}
