#include "symbols.h"

#include <errno.h>
#include <fcntl.h>
#include <gelf.h>
#include <inttypes.h>
#include <libelf.h>
#include <libiberty/demangle.h>
#include <search.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

struct part { /* of a file, at its place */
    uint64_t start, end, offset;
    uint64_t bias; /* an address less it is one of the file */
    uint64_t inode;
    char *path;
};

struct name {
    uint64_t address;
    char *text;
};

struct symbols {
    pid_t pid;
    Dwfl *dwfl;
    struct part *parts;
    size_t used, room;
    uint64_t version;
    void *names; /* a tree of struct name */
};

static char *debug_paths; /* NULL: where distributions put them */
static const Dwfl_Callbacks callbacks = {
    .find_elf = dwfl_linux_proc_find_elf, /* never asked: each file is given with its descriptor */
    .find_debuginfo = dwfl_build_id_find_debuginfo,
    .debuginfo_path = &debug_paths,
};

static uint64_t last_version;

struct symbols *symbols_new(pid_t pid) {
    struct symbols *s = calloc(1, sizeof *s);
    if (!s)
        return NULL;
    s->pid = pid;
    s->version = ++last_version;
    s->dwfl = dwfl_begin(&callbacks);
    if (s->dwfl)
        return s;
    free(s);
    return NULL;
}

static void free_name(void *entry) {
    struct name *name = entry;
    free(name->text);
    free(name);
}

static void forget_names(struct symbols *s) {
    tdestroy(s->names, free_name);
    s->names = NULL;
}

void symbols_free(struct symbols *s) {
    if (!s)
        return;
    forget_names(s);
    for (size_t i = 0; i < s->used; i++)
        free(s->parts[i].path);
    free(s->parts);
    dwfl_end(s->dwfl);
    free(s);
}

Dwfl *symbols_dwfl(struct symbols *s) {
    return s->dwfl;
}

static struct part *find(const struct symbols *s, uint64_t address) {
    for (size_t i = s->used; i-- > 0;)
        if (address >= s->parts[i].start && address < s->parts[i].end)
            return &s->parts[i];
    return NULL;
}

/* How far the file was moved: from the segment that this part of it belongs to. */
static bool bias_of(int fd, const struct mapping *m, uint64_t *bias) {
    elf_version(EV_CURRENT);
    Elf *elf = elf_begin(fd, ELF_C_READ_MMAP, NULL);
    size_t headers = 0;
    bool found = false;
    if (elf)
        elf_getphdrnum(elf, &headers);
    for (size_t i = 0; i < headers && !found; i++) {
        GElf_Phdr header;
        /* The first page of the code may hold the end of the segment before it. */
        if (!gelf_getphdr(elf, (int)i, &header) || header.p_type != PT_LOAD ||
            !(header.p_flags & PF_X) || m->offset + (m->end - m->start) <= header.p_offset ||
            m->offset >= header.p_offset + header.p_filesz)
            continue;
        *bias = m->start - m->offset + header.p_offset - header.p_vaddr;
        found = true;
    }
    elf_end(elf);
    return found;
}

/* One file is one module, however many parts of it are mapped. */
static bool is_module(const struct symbols *s, const struct part *new) {
    for (size_t i = 0; i < s->used; i++)
        if (s->parts[i].inode == new->inode &&
            s->parts[i].bias == new->bias &&strcmp(s->parts[i].path, new->path) == 0)
            return true;
    return false;
}

static void add_module(struct symbols *s, const struct part *part, int fd) {
    /* Keeps the descriptor, unless it fails. */
    dwfl_report_begin_add(s->dwfl);
    if (!dwfl_report_elf(s->dwfl, part->path, part->path, fd, part->bias, true))
        close(fd);
    dwfl_report_end(s->dwfl, NULL, NULL);
}

/* What it covers goes; of what it covers in part, the newer one is found first. */
static void make_place(struct symbols *s, uint64_t start, uint64_t end) {
    size_t kept = 0;
    for (size_t i = 0; i < s->used; i++)
        if (s->parts[i].start >= start && s->parts[i].end <= end)
            free(s->parts[i].path);
        else
            s->parts[kept++] = s->parts[i];
    s->used = kept;
}

void symbols_map(struct symbols *s, const struct mapping *m) {
    struct part *known = find(s, m->start);
    if (known && known->start == m->start && known->end == m->end && known->inode == m->inode &&
        known->offset == m->offset)
        return;
    if (s->used == s->room) {
        size_t room = s->room ? 2 * s->room : 32;
        struct part *parts = realloc(s->parts, room * sizeof *parts);
        if (!parts)
            return;
        s->parts = parts;
        s->room = room;
    }
    struct part part = {.start = m->start, .end = m->end, .offset = m->offset, .inode = m->inode};
    part.bias = m->start - m->offset;
    part.path = strdup(m->path);
    if (!part.path)
        return;
    forget_names(s);
    s->version = ++last_version;
    make_place(s, m->start, m->end);
    int fd = mapping_open(s->pid, m);
    if (fd >= 0 && bias_of(fd, m, &part.bias) && !is_module(s, &part))
        add_module(s, &part, fd);
    else if (fd >= 0)
        close(fd);
    s->parts[s->used++] = part;
}

struct symbols *symbols_copy(const struct symbols *s, pid_t pid) {
    struct symbols *copy = symbols_new(pid);
    for (size_t i = 0; copy && i < s->used; i++) {
        const struct part *part = &s->parts[i];
        symbols_map(copy, &(struct mapping){.start = part->start,
                                            .end = part->end,
                                            .offset = part->offset,
                                            .inode = part->inode,
                                            .path = part->path});
    }
    return copy;
}

uint64_t symbols_version(const struct symbols *s) {
    return s->version;
}

static void map_code(void *symbols, const struct mapping *m) {
    if (m->executable)
        symbols_map(symbols, m);
}

int symbols_read(struct symbols *s) {
    return mapping_each(s->pid, map_code, s);
}

bool symbols_know(const struct symbols *s, uint64_t address) {
    return find(s, address);
}

const char *symbols_file(const struct symbols *s, uint64_t address) {
    const struct part *part = find(s, address);
    return part && part->path[0] ? mapping_name(part->path) : "?";
}

/* Without its version, or what link-time optimisation added. */
static size_t length_of(const char *name) {
    const char *added = strstr(name, ".lto_priv");
    return added ? (size_t)(added - name) : strcspn(name, "@");
}

static char *make_name(struct symbols *s, uint64_t address) {
    GElf_Off offset;
    GElf_Sym symbol;
    char *text = NULL;
    Dwfl_Module *module = dwfl_addrmodule(s->dwfl, address);
    const char *found =
        module ? dwfl_module_addrinfo(module, address, &offset, &symbol, NULL, NULL, NULL) : NULL;
    if (found && found[0]) {
        char *plain = cplus_demangle(found, DMGL_PARAMS | DMGL_ANSI | DMGL_AUTO); /* Rust, too */
        return plain ? plain : strndup(found, length_of(found));
    }
    const struct part *part = find(s, address);
    if (part && part->path[0]) {
        if (asprintf(&text, "%s+0x%" PRIx64, mapping_name(part->path), address - part->bias) < 0)
            return NULL;
    } else if (asprintf(&text, "0x%" PRIx64, address) < 0) {
        return NULL;
    }
    return text;
}

static int by_address(const void *left, const void *right) {
    const struct name *a = left, *b = right;
    return (a->address > b->address) - (a->address < b->address);
}

const char *symbols_name(struct symbols *s, uint64_t address) {
    struct name key = {.address = address}, **place, *name = NULL;
    struct name *const *known = tfind(&key, &s->names, by_address);
    if (known)
        return (*known)->text;
    name = malloc(sizeof *name);
    if (!name)
        return "?";
    *name = (struct name){.address = address, .text = make_name(s, address)};
    place = name->text ? tsearch(name, &s->names, by_address) : NULL;
    if (place)
        return name->text;
    free_name(name);
    return "?";
}
