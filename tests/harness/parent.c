/* A process of known size: parent MIB THREADS DESCRIPTORS MAPPINGS; says "ready" and the number of
 * a zombie, its child, and pauses. Threads, descriptors (beside 0, 1 and 2) and mappings come on
 * top of what any process has. */
#include <fcntl.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <signal.h>
#include <unistd.h>

__attribute__((noreturn)) static void *rest(void *unused) {
    (void)unused;
    for (;;)
        pause();
}

/* Every other page, so that no two become one mapping. */
static int map_pages(size_t count) {
    char *area = mmap(NULL, (2 * count + 1) * 4096, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    for (size_t i = 0; area != MAP_FAILED && i < count / 2; i++)
        if (mprotect(area + (2 * i + 1) * 4096, 4096, PROT_READ) < 0)
            return -1;
    return area == MAP_FAILED ? -1 : 0;
}

static pid_t make_zombie(void) {
    siginfo_t info;
    pid_t child = fork();
    if (child == 0)
        _exit(0);
    waitid(P_PID, (id_t)child, &info, WEXITED | WNOWAIT);
    return child;
}

int main(int argc, char **argv) {
    size_t n[4] = {0};
    pthread_t thread;
    prctl(PR_SET_PDEATHSIG, SIGKILL);
    closefrom(3);
    pid_t zombie = make_zombie();
    for (int i = 1; i < argc && i <= 4; i++)
        n[i - 1] = strtoul(argv[i], NULL, 10);
    for (size_t i = 0; i < n[1]; i++)
        if (pthread_create(&thread, NULL, rest, NULL) != 0)
            return 1;
    for (size_t i = 0; i < n[2]; i++)
        if (open("/dev/null", O_RDONLY) < 0)
            return 1;
    size_t bytes = n[0] << 20;
    char *memory =
        mmap(NULL, bytes + 1, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    if (memory == MAP_FAILED || map_pages(n[3]) < 0)
        return 1;
    madvise(memory, bytes + 1, MADV_NOHUGEPAGE);
    memset(memory, 1, bytes);
    printf("ready %d\n", (int)zombie);
    fflush(stdout);
    rest(NULL);
}
