/* forkless-trace: who creates processes here, how, and what it costs them. */
#include <argp.h>
#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "kernel.h"
#include "program.h"
#include "spawns.h"
#include "spawns.skel.h"

const char *argp_program_version = "forkless-trace " FORKLESS_VERSION;

static int take(void *context, void *data, size_t size) {
    const struct spawn_created *created = data;
    const struct spawn_then *then = data;
    (void)context;
    (void)size;
    if (created->event == SPAWN_CREATED)
        printf("%" PRIu64 " %s[%d] call %u flags %" PRIx64 " child %d errno %d %" PRIu64
               " ns, rss %" PRIu64 " page tables %" PRIu64 " mappings %u threads %u stack %u\n",
               (uint64_t)created->id, created->name, created->pid, created->call,
               (uint64_t)created->flags, created->child, created->error, (uint64_t)created->took,
               (uint64_t)created->rss, (uint64_t)created->page_tables, created->mappings,
               created->threads, created->stack_length);
    else
        printf("%" PRIu64 " then %s %s status %x errno %d\n", (uint64_t)then->id,
               then->did == DID_EXEC ? "exec" : "exit", then->path, (unsigned)then->status,
               then->error);
    return 0;
}

int main(int argc, char **argv) {
    const struct argp argp = {
        .doc = "Shows each creation of a process on this host.\vExit status: 0 well, 1 internal, "
               "2 usage, 4 not here (no privilege, or the kernel lacks something).",
    };
    argp_err_exit_status = USAGE;
    argv[0] = program_invocation_short_name;
    int code = check_standard_files();
    if (code != OK)
        return code;
    argp_parse(&argp, argc, argv, 0, NULL, NULL);
    if ((code = kernel_check()) != OK)
        return code;
    struct spawns_bpf *bpf = spawns_bpf__open();
    if (!bpf)
        return kernel_refused("open", errno);
    bpf->rodata->view = kernel_pid_namespace();
    bpf->rodata->tracer = (__u32)getpid();
    bpf->rodata->page = (__u32)getpagesize();
    bpf->rodata->whole_host = true;
    int rc = spawns_bpf__load(bpf);
    if (rc < 0)
        return kernel_refused("load", -rc);
    if ((rc = spawns_bpf__attach(bpf)) < 0)
        return kernel_refused("attach", -rc);
    struct ring_buffer *ring = ring_buffer__new(bpf_map__fd(bpf->maps.records), take, NULL, NULL);
    if (!ring)
        return kernel_refused("ring buffer", errno);
    while (ring_buffer__poll(ring, 100) >= 0)
        if (fflush(stdout))
            break;
    return finish_output(OK);
}
