#include "host.h"

#include <elf.h>
#include <gnu/libc-version.h>
#include <inttypes.h>
#include <link.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/utsname.h>
#include <unistd.h>

#include "config.h"

/* Copies what stands behind `key` and a colon in /proc/cpuinfo; the value must outlive nobody. */
static void cpuinfo(const char *key, char *out, size_t size) {
    char line[4096];
    FILE *f = fopen("/proc/cpuinfo", "re");
    out[0] = '\0';
    while (f && fgets(line, sizeof line, f)) {
        char *colon = strchr(line, ':');
        if (strncmp(line, key, strlen(key)) != 0 || !colon)
            continue;
        line[strcspn(line, "\n")] = '\0';
        snprintf(out, size, "%s", colon + 1 + strspn(colon + 1, " "));
        break;
    }
    if (f)
        fclose(f);
}

json_t *host_describe(void) {
    char cpu[256], flags[4096], libc[64];
    struct utsname kernel;
    cpuinfo("model name", cpu, sizeof cpu);
    cpuinfo("flags", flags, sizeof flags);
    uname(&kernel);
    snprintf(libc, sizeof libc, "glibc %s", gnu_get_libc_version());
    long page = sysconf(_SC_PAGESIZE);
    return json_pack("{s:s,s:I,s:b,s:s,s:s,s:I,s:I}", "cpu", cpu[0] ? cpu : kernel.machine, "cpus",
                     (json_int_t)sysconf(_SC_NPROCESSORS_ONLN), "virtual",
                     strstr(flags, "hypervisor") != NULL, "kernel", kernel.release, "libc", libc,
                     "page_size", (json_int_t)page, "memory",
                     (json_int_t)sysconf(_SC_PHYS_PAGES) * page);
}

static void hex(const unsigned char *bytes, size_t count, char *out, size_t size) {
    for (size_t i = 0; i < count && 2 * i + 2 < size; i++)
        snprintf(out + 2 * i, 3, "%02x", bytes[i]);
}

/* The GNU build-id among the notes of the loaded libforkless. */
static int find_build_id(struct dl_phdr_info *info, size_t size, void *out) {
    (void)size;
    if (!strstr(info->dlpi_name, "libforkless.so"))
        return 0;
    for (unsigned i = 0; i < info->dlpi_phnum; i++) {
        const ElfW(Phdr) *segment = &info->dlpi_phdr[i];
        if (segment->p_type != PT_NOTE)
            continue;
        const char *at = (const char *)(info->dlpi_addr + segment->p_vaddr),
                   *end = at + segment->p_memsz;
        while (at + sizeof(ElfW(Nhdr)) <= end) {
            const ElfW(Nhdr) *note = (const ElfW(Nhdr) *)(const void *)at;
            const char *name = at + sizeof *note, *value = name + (note->n_namesz + 3) / 4 * 4;
            if (note->n_type == NT_GNU_BUILD_ID && memcmp(name, "GNU", 4) == 0)
                hex((const unsigned char *)value, note->n_descsz, out, 65);
            at = value + (note->n_descsz + 3) / 4 * 4;
        }
    }
    return 1;
}

json_t *build_describe(void) {
    char id[65] = "";
    dl_iterate_phdr(find_build_id, id);
    return json_pack("{s:s,s:s,s:s,s:s}", "version", FORKLESS_VERSION, "type", BUILD_TYPE,
                     "compiler", BUILD_COMPILER, "library", id);
}

const char *build_objection(void) {
    if (strcmp(BUILD_SANITIZE, "none") != 0)
        return "a sanitizer build";
    if (strncmp(BUILD_TYPE, "release", 7) != 0)
        return "a " BUILD_TYPE " build";
    return NULL;
}

double load_average(void) {
    double load[1] = {0};
    return getloadavg(load, 1) == 1 ? load[0] : 0;
}
