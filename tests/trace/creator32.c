/* A 32-bit program without any libc: three forks, one vfork; each child ends at once. And
 * setpgid(2), which there has the number of fork in 64-bit programs. */
/* Inline: a vfork's child would overwrite its caller's way back. */
static inline __attribute__((always_inline)) long call(long number, long first, long second) {
    long result;
    __asm__ volatile("int $0x80"
                     : "=a"(result)
                     : "a"(number), "b"(first), "c"(second), "d"(0)
                     : "memory");
    return result;
}

enum { EXIT = 1, FORK = 2, WAITPID = 7, SETPGID = 57, VFORK = 190 };

__attribute__((noreturn)) static void end(long status) {
    for (;;)
        call(EXIT, status, 0);
}

__attribute__((noreturn)) void _start(void);

void _start(void) {
    for (int i = 0; i < 3; i++) {
        call(SETPGID, 0, 0);
        if (call(FORK, 0, 0) == 0)
            end(7);
        call(WAITPID, -1, 0);
    }
    if (call(VFORK, 0, 0) == 0)
        end(7);
    call(WAITPID, -1, 0);
    end(0);
}
