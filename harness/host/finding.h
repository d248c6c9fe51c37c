/* One thing about the host that colours figures or spawning, and the examinations that find them.
 */
#ifndef FINDING_H
#define FINDING_H

#include <stdbool.h>
#include <stdint.h>

#include "cgroup.h"
#include "host.h"

enum level { GOOD, NOTE, WARNING, UNKNOWN };

struct finding {
    enum level level;
    char found[256];
    const char *effect, *next; /* on figures or on spawning; a command. NULL when all is good */
};

__attribute__((format(printf, 2, 3))) void find_good(struct finding *, const char *format, ...);
__attribute__((format(printf, 5, 6))) void find(struct finding *, enum level, const char *effect,
                                                const char *next, const char *format, ...);

/* noise.c: what disturbs right now. `share` is of the CPU time of the sample, below 0: unknown. */
void judge_steal(struct finding *, double share, double since_boot);
void judge_others(struct finding *, double cpus);
void examine_steal(struct finding *);
void examine_others(struct finding *);
void examine_load(struct finding *);
/* Takes the sample that the first two judge; lasts 0.3 s. */
void noise_sample(void);

/* settings.c: what was set for the whole machine. */
void examine_virtual(struct finding *);
void examine_governor(struct finding *);
void examine_turbo(struct finding *);
void examine_thp(struct finding *);
void examine_overcommit(struct finding *);
void examine_swap(struct finding *);
void examine_mitigations(struct finding *);

/* limits.c: what this process may use. */
void examine_memory(struct finding *);
void examine_limits(struct finding *);
void judge_quota(struct finding *, const struct cgroup *, unsigned cpus);
void examine_quota(struct finding *);
void examine_pids(struct finding *);

/* calls.c: which system calls there are, and who looks at them. `code` is what the call failed
 * with, as a positive errno, 0 when it did not. */
void judge_clone3(struct finding *, int code, bool filtered);
void judge_clear_sighand(struct finding *, int code);
void judge_pidfd(struct finding *, int code, bool filtered);
void judge_close_range(struct finding *, int code, bool filtered);
void examine_clone3(struct finding *);
void examine_clear_sighand(struct finding *);
void examine_pidfd(struct finding *);
void examine_close_range(struct finding *);
void examine_seccomp(struct finding *);
void examine_tracing(struct finding *);

#endif
