/*
 * looper TARGET: makes as many children as it is asked for (uint32_t), by vfork and exec, one after
 * the other, and answers (looper.h). What a process that has nothing else in it can start. It ends
 * when the connection does.
 */
#include <fcntl.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include "../../targets/target.h"
#include "connection.h"
#include "looper.h"

static uint32_t loop_once(char **argv) {
    int status;
    pid_t pid = vfork();
    if (pid == 0) {
        execve(argv[0], argv, environ);
        _exit(127);
    }
    return pid > 0 && waitpid(pid, &status, 0) == pid && WIFEXITED(status) &&
           WEXITSTATUS(status) == TARGET_STATUS;
}

static int64_t cpu_of(int who) {
    struct rusage usage;
    getrusage(who, &usage);
    return ((int64_t)usage.ru_utime.tv_sec + usage.ru_stime.tv_sec) * 1000000000 +
           ((int64_t)usage.ru_utime.tv_usec + usage.ru_stime.tv_usec) * 1000;
}

int main(int argc, char **argv) {
    uint32_t count;
    if (argc != 2)
        return 2;
    char *target[] = {argv[1], NULL};
    fcntl(CONNECTION, F_SETFD, FD_CLOEXEC);
    while (read(CONNECTION, &count, sizeof count) == sizeof count) {
        struct looper_answer answer = {0};
        for (; count > 0; count--)
            answer.ended += loop_once(target);
        answer.cpu = cpu_of(RUSAGE_SELF) + cpu_of(RUSAGE_CHILDREN);
        if (write(CONNECTION, &answer, sizeof answer) != sizeof answer)
            return 1;
    }
    return 0;
}
