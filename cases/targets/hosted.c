/* A program with libc around it, linked static or dynamic. */
#include "target.h"

int main(void) {
    return TARGET_STATUS;
}
