#include "build.h"

#include <elf.h>
#include <link.h>
#include <stdio.h>
#include <string.h>

#include "config.h"

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
