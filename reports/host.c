#include "host.h"

#include <stdlib.h>
#include <string.h>

bool host_read(struct source *source, const json_t *line, struct host *host) {
    json_t *object;
    return field_object(source, line, "host", &object) &&
           field_text(source, object, "cpu", &host->cpu) &&
           field_whole(source, object, "cpus", 1, &host->cpus) &&
           field_flag(source, object, "virtual", &host->is_virtual) &&
           field_text(source, object, "kernel", &host->kernel) &&
           field_text(source, object, "libc", &host->libc) &&
           field_whole(source, object, "page_size", 1, &host->page_size) &&
           field_optional_text(source, object, "hypervisor", &host->hypervisor);
}

bool same_host(const struct host *a, const struct host *b) {
    return !strcmp(a->cpu, b->cpu) && a->cpus == b->cpus && a->is_virtual == b->is_virtual &&
           !strcmp(a->kernel, b->kernel) && !strcmp(a->libc, b->libc) &&
           a->page_size == b->page_size &&
           (!a->hypervisor || !b->hypervisor || !strcmp(a->hypervisor, b->hypervisor));
}

void host_clear(struct host *host) {
    free(host->cpu);
    free(host->kernel);
    free(host->libc);
    free(host->hypervisor);
}
