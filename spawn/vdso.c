/*
 * Finds a symbol in the ELF image that the kernel maps into every process. It is read in place, as
 * linked, and nothing of it is believed that leads out of its first segment.
 */
#include "vdso.h"

#include <elf.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>
#include <sys/auxv.h>

#ifdef __aarch64__
#define NAME "__kernel_clock_gettime"
#else
#define NAME "__vdso_clock_gettime"
#endif

enum { HEADERS = 4096 }; /* what is mapped of any image */

struct image {
    const char *start;
    uint64_t address, size; /* as linked, of the first segment */
    const Elf64_Sym *symbols;
    const char *strings;
    uint64_t strings_size;
    uint32_t count; /* of symbols */
};

/* What stands at this address as linked; NULL: it is not all in the image. */
static const void *at(const struct image *image, uint64_t address, uint64_t size, size_t align) {
    uint64_t offset = address - image->address; /* huge, if it is below */
    if (offset > image->size || size > image->size - offset)
        return NULL;
    return offset % align == 0 ? image->start + offset : NULL;
}

static const Elf64_Phdr *program_headers(const char *start, unsigned *count) {
    const Elf64_Ehdr *head = (const void *)start;
    if (memcmp(head->e_ident, ELFMAG, SELFMAG) != 0 || head->e_ident[EI_CLASS] != ELFCLASS64 ||
        head->e_phentsize != sizeof(Elf64_Phdr) || head->e_phoff % _Alignof(Elf64_Phdr) != 0 ||
        head->e_phoff > HEADERS || head->e_phnum > (HEADERS - head->e_phoff) / sizeof(Elf64_Phdr))
        return NULL;
    *count = head->e_phnum;
    return (const void *)(start + head->e_phoff);
}

/* The table has no count of its symbols: the last one is at the end of the last chain. */
static uint32_t count_by_gnu_hash(const struct image *image, uint64_t address) {
    const uint32_t *head = at(image, address, 4 * sizeof *head, sizeof *head);
    if (!head)
        return 0;
    uint64_t buckets_at = address + 4 * sizeof *head + (uint64_t)head[2] * sizeof(uint64_t);
    uint64_t chains_at = buckets_at + (uint64_t)head[0] * sizeof *head;
    const uint32_t *buckets = at(image, buckets_at, (uint64_t)head[0] * sizeof *head, sizeof *head);
    uint32_t last = 0, first = head[1];
    for (uint32_t i = 0; buckets && i < head[0]; i++)
        if (buckets[i] > last)
            last = buckets[i];
    if (last < first || last == 0)
        return 0;
    for (const uint32_t *chain;; last++) {
        chain = at(image, chains_at + (uint64_t)(last - first) * sizeof *chain, sizeof *chain,
                   sizeof *chain);
        if (!chain)
            return 0;
        if (*chain & 1)
            return last + 1;
    }
}

static uint32_t count_by_hash(const struct image *image, uint64_t address) {
    const uint32_t *head = at(image, address, 2 * sizeof *head, sizeof *head);
    return head ? head[1] : 0;
}

static bool read_dynamic(struct image *image, const Elf64_Phdr *segment) {
    const Elf64_Dyn *d = at(image, segment->p_vaddr, segment->p_memsz, _Alignof(Elf64_Dyn));
    uint64_t symbols = 0, strings = 0;
    for (uint64_t n = d ? segment->p_memsz / sizeof *d : 0; n && d->d_tag != DT_NULL; n--, d++)
        switch (d->d_tag) {
        case DT_SYMTAB:
            symbols = d->d_un.d_ptr;
            break;
        case DT_STRTAB:
            strings = d->d_un.d_ptr;
            break;
        case DT_STRSZ:
            image->strings_size = d->d_un.d_val;
            break;
        case DT_HASH:
            image->count = count_by_hash(image, d->d_un.d_ptr);
            break;
        case DT_GNU_HASH: /* DT_HASH, where there is one, says more */
            if (image->count == 0)
                image->count = count_by_gnu_hash(image, d->d_un.d_ptr);
            break;
        }
    image->symbols =
        at(image, symbols, (uint64_t)image->count * sizeof *image->symbols, _Alignof(Elf64_Sym));
    image->strings = at(image, strings, image->strings_size, 1);
    return image->symbols && image->strings;
}

static bool is_named(const struct image *image, uint32_t name) {
    return name < image->strings_size && image->strings_size - name >= sizeof NAME &&
           memcmp(image->strings + name, NAME, sizeof NAME) == 0;
}

static bool read_image(struct image *image) {
    unsigned count = 0;
    const Elf64_Phdr *segments = program_headers(image->start, &count), *dynamic = NULL;
    bool loaded = false;
    for (unsigned i = 0; i < count; i++)
        if (segments[i].p_type == PT_DYNAMIC)
            dynamic = &segments[i];
        else if (segments[i].p_type == PT_LOAD && segments[i].p_offset == 0 && !loaded) {
            loaded = true;
            image->address = segments[i].p_vaddr;
            image->size = segments[i].p_filesz;
        }
    return loaded && dynamic && read_dynamic(image, dynamic);
}

fl_clock *fl_vdso_find(const void *start) {
    struct image image = {.start = start};
    if (!start || !read_image(&image))
        return NULL;
    for (uint32_t i = 0; i < image.count; i++) {
        const Elf64_Sym *s = &image.symbols[i];
        unsigned bind = ELF64_ST_BIND(s->st_info);
        if (s->st_shndx != SHN_UNDEF && (bind == STB_GLOBAL || bind == STB_WEAK) &&
            is_named(&image, s->st_name))
            return (fl_clock *)(uintptr_t)at(&image, s->st_value, 1, 1);
    }
    return NULL;
}

fl_clock *fl_vdso_clock(void) {
    enum { UNKNOWN, NONE }; /* else where it is; whichever thread looks finds the same */
    static _Atomic uintptr_t known;
    uintptr_t found = atomic_load_explicit(&known, memory_order_relaxed);
    if (found == UNKNOWN) {
        found = (uintptr_t)fl_vdso_find((const void *)getauxval(AT_SYSINFO_EHDR));
        atomic_store_explicit(&known, found ? found : NONE, memory_order_relaxed);
    }
    return found > NONE ? (fl_clock *)found : NULL;
}
