/* Looks as execve(2) does: at each part of the path, then at the file, then at its interpreter.
 * Needs less than 2 KiB of stack, so no path is copied. */
#ifndef _GNU_SOURCE
#define _GNU_SOURCE
#endif
#include "reason.h"

#include <elf.h>
#include <errno.h>
#include <fcntl.h>
#include <stdbool.h>
#include <stdint.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/statvfs.h>
#include <unistd.h>

#include "cancel.h"

#if defined(__aarch64__)
enum { OWN_MACHINE = EM_AARCH64, OWN_32_BIT = EM_ARM };
#else
enum { OWN_MACHINE = EM_X86_64, OWN_32_BIT = EM_386 };
#endif
#if __BYTE_ORDER__ == __ORDER_LITTLE_ENDIAN__
enum { OWN_ORDER = ELFDATA2LSB };
#else
enum { OWN_ORDER = ELFDATA2MSB };
#endif

enum {
    HEAD = 256,          /* what the kernel reads of a file, since 5.1 */
    MOST_SCRIPTS = 5,    /* "#!" lines that it follows */
    MOST_HEADERS = 4096, /* bytes of program headers that it takes */
};

struct look {
    char *reason;
    size_t size;
    int code;
    const char *path; /* what is looked at: the program, then its interpreter, in `name` */
    int depth;        /* how many interpreters that is away */
    bool linker;      /* the interpreter of an ELF file, which needs no further one */
    int fd;
    size_t length;       /* of what there is in `head`; behind it are zeros */
    char head[HEAD + 1]; /* ends with 0 */
    char name[HEAD];
};

/* ---- words ---- */

static void append(struct look *l, size_t *at, const char *text, size_t length) {
    size_t room = l->size - 1 - *at;
    if (length > room)
        length = room;
    memcpy(l->reason + *at, text, length);
    l->reason[ *at += length] = '\0';
}

/* `length` bytes of `name` between the words; the name is what gets cut. */
static void say(struct look *l, const char *before, const char *name, size_t length,
                const char *between, const char *after) {
    size_t words = strlen(before) + strlen(between) + strlen(after), at = 0;
    size_t room = words < l->size ? l->size - 1 - words : 0;
    append(l, &at, before, strlen(before));
    if (length > room && room >= 3) {
        append(l, &at, "...", 3);
        const char *end = name + length;
        for (name = end - (room - 3); name < end && ((unsigned char)*name & 0xc0) == 0x80; name++)
            ; /* no half of an UTF-8 character */
        length = (size_t)(end - name);
    } else if (length > room)
        length = 0;
    append(l, &at, name, length);
    append(l, &at, between, strlen(between));
    append(l, &at, after, strlen(after));
}

/* About the whole file that is looked at. */
static void say_it(struct look *l, const char *what) {
    static const char *const who[] = {"it", "its interpreter ", "the interpreter "};
    size_t length = l->depth > 0 ? strlen(l->path) : 0;
    say(l, who[l->depth < 2 ? l->depth : 2], l->path, length, " ", what);
}

/* About the first `length` bytes of its path. */
static void say_part(struct look *l, const char *before, size_t length, const char *what) {
    const char *part = l->path;
    if (length == 0) {
        part = *l->path == '/' ? "/" : ".";
        length = 1;
    }
    say(l, before, part, length, l->depth > 0 ? " on the way to its interpreter " : " ", what);
}

/* ---- the path ---- */

/* The folder `dir`, `before` bytes of the path, has not let through to `part`, which ends at `end`.
 */
static void say_blocked(struct look *l, int dir, const char *part, size_t before, size_t end) {
    char first;
    int code = errno;
    bool last = l->path[end] == '\0', link = readlinkat(dir, part, &first, 1) >= 0;
    if (code == ENOENT && link && last)
        say_it(l, "is a symbolic link to nothing");
    else if (code == ENOENT && l->depth > 0)
        say_it(l, "is missing");
    else if (code == ENOENT && link)
        say_part(l, "", end, "is a symbolic link to nothing");
    else if (code == ENOENT && !last)
        say_part(l, "the folder ", end, "is missing");
    else if (code == ENOTDIR && !last)
        say_part(l, "", end, "is not a folder");
    else if (code == EACCES && link)
        say_part(l, "", end, "leads through a folder that cannot be searched");
    else if (code == EACCES && errno == EACCES)
        say_part(l, "the folder ", before, "cannot be searched");
}

static void walk(struct look *l) {
    char part[256];
    size_t at = 0, before = 0;
    int dir = AT_FDCWD;
    if (*l->path == '/')
        dir = open("/", O_PATH | O_DIRECTORY | O_CLOEXEC);
    for (;;) {
        at += strspn(l->path + at, "/");
        size_t length = strcspn(l->path + at, "/");
        if (length == 0 || length >= sizeof part)
            break;
        memcpy(part, l->path + at, length);
        part[length] = '\0';
        at += length;
        int next = openat(dir, part, O_PATH | O_CLOEXEC | (l->path[at] ? O_DIRECTORY : 0));
        if (next < 0) {
            say_blocked(l, dir, part, before, at);
            break;
        }
        if (dir >= 0)
            close(dir);
        dir = next;
        before = at;
    }
    if (dir >= 0)
        close(dir);
}

/* ---- the file ---- */

/* With EACCES; false: it is none of these. */
static bool say_forbidden(struct look *l, mode_t mode) {
    struct statvfs mounted;
    if (S_ISDIR(mode))
        say_it(l, "is a folder");
    else if (!S_ISREG(mode))
        say_it(l, "is not a regular file");
    else if ((mode & 0111) == 0)
        say_it(l, "is not executable");
    else if (statvfs(l->path, &mounted) == 0 && (mounted.f_flag & ST_NOEXEC))
        say_it(l, "is on a file system that is mounted noexec");
    /* access() asks for the real user. */
    else if (getuid() == geteuid() && getgid() == getegid() && access(l->path, X_OK) < 0 &&
             errno == EACCES)
        say_it(l, "is not executable by this user");
    else
        return false;
    return true;
}

/* A script's interpreter is what to look at next; false: there is none. */
static bool script(struct look *l) {
    char *at = l->head + 2;
    at += strspn(at, " \t");
    size_t length = strcspn(at, " \t\n");
    if (length == 0) {
        say_it(l, "has a #! line without an interpreter");
        return false;
    }
    if (at + length == l->head + HEAD) {
        say_it(l, "has a #! line that is too long");
        return false;
    }
    at[length] = '\0';
    if (l->code == -ENOENT && at[length - 1] == '\r' && access(at, F_OK) < 0 && errno == ENOENT) {
        say_it(l, "has a #! line that ends with a carriage return");
        return false;
    }
    if (l->code == -ETXTBSY)
        say(l, "it or its interpreter", "", 0, " ", "is open for writing");
    memcpy(l->name, at, length + 1);
    l->path = l->name;
    return l->code != -ETXTBSY;
}

static void say_no_program(struct look *l) {
    const char *head = l->head;
    if (memcmp(head, "\xef\xbb\xbf#!", 5) == 0) {
        say_it(l, "has a byte order mark before its #!");
        return;
    }
    bool text = true;
    for (size_t i = 0; i < l->length; i++)
        text &= (unsigned char)head[i] >= ' ' || (head[i] >= '\a' && head[i] <= '\r');
    say_it(l, l->length == 0 ? "is empty"
              : text         ? "has no #! line, and no shell steps in"
                             : "is neither a script nor a program of this system");
}

/* ---- ELF ---- */

static const char *foreign(int machine) {
    switch (machine) {
    case EM_386:
        return "is for another processor (i386)";
    case EM_X86_64:
        return "is for another processor (x86_64)";
    case EM_ARM:
        return "is for another processor (arm)";
    case EM_AARCH64:
        return "is for another processor (aarch64)";
    case EM_PPC64:
        return "is for another processor (ppc64)";
    case EM_S390:
        return "is for another processor (s390)";
    case EM_RISCV:
        return "is for another processor (riscv)";
    }
    return "is for another processor";
}

struct segment {
    uint32_t type;
    uint64_t offset, size;
};

static bool read_segment(int fd, bool wide, uint64_t offset, struct segment *out) {
    union {
        Elf64_Phdr wide;
        Elf32_Phdr narrow;
    } h;
    size_t size = wide ? sizeof h.wide : sizeof h.narrow;
    if (pread(fd, &h, size, (off_t)offset) != (ssize_t)size)
        return false;
    if (wide)
        *out = (struct segment){h.wide.p_type, h.wide.p_offset, h.wide.p_filesz};
    else
        *out = (struct segment){h.narrow.p_type, h.narrow.p_offset, h.narrow.p_filesz};
    return true;
}

/* The interpreter that it names is what to look at next; false: none, or not to be found. */
static bool interpreter(struct look *l) {
    union {
        Elf64_Ehdr wide;
        Elf32_Ehdr narrow;
    } h;
    memcpy(&h, l->head, sizeof h);
    bool wide = l->head[EI_CLASS] == ELFCLASS64;
    uint64_t offset = wide ? h.wide.e_phoff : h.narrow.e_phoff;
    size_t size = wide ? h.wide.e_phentsize : h.narrow.e_phentsize;
    size_t n = wide ? h.wide.e_phnum : h.narrow.e_phnum;
    if (size != (wide ? sizeof(Elf64_Phdr) : sizeof(Elf32_Phdr)) || n > MOST_HEADERS / size ||
        offset > INT64_MAX - MOST_HEADERS)
        return false;
    for (size_t i = 0; i < n; i++) {
        struct segment s;
        if (!read_segment(l->fd, wide, offset + i * size, &s))
            return false;
        if (s.type != PT_INTERP)
            continue;
        if (s.size < 2 || s.size > sizeof l->name || s.offset > INT64_MAX - sizeof l->name ||
            pread(l->fd, l->name, s.size, (off_t)s.offset) != (ssize_t)s.size ||
            l->name[s.size - 1] != '\0')
            return false;
        l->path = l->name;
        return l->linker = true;
    }
    return false;
}

static bool elf(struct look *l) {
    const unsigned char *head = (const unsigned char *)l->head;
    int low = head[EI_DATA] == ELFDATA2MSB; /* where the low byte of a half-word is */
    int type = head[16 + low] | head[17 - low] << 8, machine = head[18 + low] | head[19 - low] << 8;
    bool wide = head[EI_CLASS] == ELFCLASS64;
    bool own = head[EI_DATA] == OWN_ORDER && (machine == OWN_MACHINE || machine == OWN_32_BIT);
    if (l->code != -ENOEXEC)
        return own && interpreter(l);
    if (l->length < sizeof(Elf32_Ehdr))
        say_it(l, "is an ELF file that is cut short");
    else if (!own)
        say_it(l, foreign(machine));
    else if (!wide || machine == OWN_32_BIT)
        say_it(l, "is a 32-bit program, which this kernel does not run");
    else if (type != ET_EXEC && type != ET_DYN)
        say_it(l, "is an ELF file, but not a program");
    else
        say_it(l, "has ELF headers that are damaged");
    return false;
}

/* ---- all of it ---- */

static bool read_head(struct look *l) {
    struct stat now;
    l->fd = open(l->path, O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOCTTY);
    if (l->fd < 0 || fstat(l->fd, &now) < 0 || !S_ISREG(now.st_mode))
        return false;
    memset(l->head, 0, sizeof l->head);
    ssize_t length = pread(l->fd, l->head, HEAD, 0);
    l->length = length > 0 ? (size_t)length : 0;
    return length >= 0;
}

static bool look_inside(struct look *l) {
    bool further = false;
    if (read_head(l)) {
        if (l->head[0] == '#' && l->head[1] == '!')
            further = script(l);
        else if (memcmp(l->head, ELFMAG, SELFMAG) == 0)
            further = elf(l);
        else if (l->code == -ENOEXEC)
            say_no_program(l);
    }
    if (l->fd >= 0)
        close(l->fd);
    return further;
}

/* Whether its interpreter is to be looked at next. */
static bool look(struct look *l) {
    struct stat now;
    if (stat(l->path, &now) < 0) {
        if (errno == -l->code && errno == ELOOP)
            say_it(l, "leads through too many symbolic links");
        else if (errno == -l->code)
            walk(l);
        return false;
    }
    if (l->code == -EACCES && say_forbidden(l, now.st_mode))
        return false;
    if (l->code == -ETXTBSY && l->linker)
        say(l, "it or its interpreter", "", 0, " ", "is open for writing");
    else if (l->code == -ETXTBSY)
        say_it(l, "is open for writing");
    bool beyond = l->depth > MOST_SCRIPTS && !l->linker;
    if (l->code == -ELOOP && beyond)
        say(l, "it", "", 0, " ", "leads through too many #! lines");
    /* What is not executable has not failed with another error; reading it might even change it, as
     * /proc/kmsg. */
    if (l->linker || beyond || !S_ISREG(now.st_mode) || (now.st_mode & 0111) == 0)
        return false;
    if (now.st_size == 0) {
        if (l->code == -ENOEXEC)
            say_it(l, "is empty");
        return false;
    }
    return look_inside(l);
}

void fl_reason(const char *path, int code, char *reason, size_t size) {
    if (size == 0)
        return;
    *reason = '\0';
    int saved = errno;
    struct fl_cancel before = fl_cancel_hold();
    struct look l = {.reason = reason, .size = size, .code = code, .path = path, .fd = -1};
    switch (code) {
    case -E2BIG:
        say(&l, "the arguments and the environment", "", 0, " ",
            "are too large for the kernel, or one string is longer than 32 pages");
        break;
    case -EACCES:
    case -ELOOP:
    case -ENOENT:
    case -ENOEXEC:
    case -ENOTDIR:
    case -ETXTBSY:
        if (path)
            while (look(&l))
                l.depth++;
    }
    fl_cancel_release(before);
    errno = saved;
}
