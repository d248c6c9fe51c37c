/* Preloaded into forkless-bench: posix_spawn takes a millisecond longer, a slow-down for the gate
 * to find. */
#include <dlfcn.h>
#include <spawn.h>
#include <time.h>

static long now_us(void) {
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return t.tv_sec * 1000000L + t.tv_nsec / 1000;
}

int posix_spawn(pid_t *pid, const char *path, const posix_spawn_file_actions_t *actions,
                const posix_spawnattr_t *attributes, char *const argv[], char *const envp[]) {
    static __typeof__(posix_spawn) *next;
    if (!next)
        *(void **)&next = dlsym(RTLD_NEXT, "posix_spawn");
    for (long until = now_us() + 1000; now_us() < until;)
        continue;
    return next(pid, path, actions, attributes, argv, envp);
}
