/* Why exec failed, beyond its errno. Linked statically: the function is private. */
#include <elf.h>
#include <errno.h>
#include <fcntl.h>
#include <ftw.h>
#include <pthread.h>
#include <sched.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mount.h>
#include <sys/stat.h>
#include <unistd.h>

#include "reason.h"
#include "support.h"

/* ---- a folder to work in; paths are relative to it ---- */

static char folder[] = "/tmp/spawn-test-XXXXXX";

static void enter(void) {
    CHECK(mkdtemp(folder) != NULL);
    CHECK_EQ(chmod(folder, 0755), 0);
    CHECK_EQ(chdir(folder), 0);
}

static int take_away(const char *path, const struct stat *st, int type, struct FTW *at) {
    (void)st, (void)type, (void)at;
    return remove(path);
}

static void leave(void) {
    CHECK_EQ(chdir("/"), 0);
    CHECK_EQ(nftw(folder, take_away, 8, FTW_DEPTH | FTW_PHYS), 0);
}

static void file(const char *path, const void *bytes, size_t size, mode_t mode) {
    unlink(path);
    int fd = open(path, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0700);
    CHECK(fd >= 0);
    CHECK_EQ(write(fd, bytes, size), size);
    CHECK_EQ(fchmod(fd, mode), 0);
    close(fd);
}

static void text(const char *path, const char *line) {
    file(path, line, strlen(line), 0755);
}

/* ---- checks ---- */

/* Of one that need not fail here. */
static void says(const char *path, int code, const char *want) {
    static struct snapshot before;
    char reason[128];
    memset(reason, 'x', sizeof reason);
    snapshot_take(&before);
    errno = 4711;
    fl_reason(path, code, reason, sizeof reason);
    CHECK_EQ(errno, 4711);
    snapshot_check(&before);
    CHECK(memchr(reason, '\0', sizeof reason) != NULL);
    if (strcmp(reason, want) != 0) {
        char both[512];
        snprintf(both, sizeof both, "%.99s: \"%s\", not \"%.200s\"", path, reason, want);
        check_failed(__FILE__, __LINE__, both);
    }
}

/* Of one that fails so. */
static void fails_as(const char *path, int code, const char *want) {
    forkless_command *c = command(path, NULL);
    fails(forkless_spawn, c, code, FORKLESS_STEP_EXEC, -1);
    forkless_command_free(c);
    says(path, code, want);
}

/* ---- the path ---- */

TEST(what_is_missing) {
    enter();
    CHECK_EQ(mkdir("a", 0755), 0);
    CHECK_EQ(symlink("nowhere", "a/dangling"), 0);
    fails_as("none", -ENOENT, "");
    fails_as("a/none", -ENOENT, "");
    fails_as("a/b/c/d", -ENOENT, "the folder a/b is missing");
    fails_as("./a//b//c/", -ENOENT, "the folder ./a//b is missing");
    fails_as("a/b/", -ENOENT, "the folder a/b is missing");
    fails_as("/nonexistent/a/b", -ENOENT, "the folder /nonexistent is missing");
    fails_as("a/dangling", -ENOENT, "it is a symbolic link to nothing");
    fails_as("a/dangling/b", -ENOENT, "a/dangling is a symbolic link to nothing");
    fails_as("a/../a/x/y", -ENOENT, "the folder a/../a/x is missing");
    leave();
}

TEST(what_is_no_folder) {
    enter();
    text("f", "x");
    CHECK_EQ(symlink("f", "link"), 0);
    CHECK_EQ(symlink("f/x", "through"), 0);
    fails_as("f/a", -ENOTDIR, "f is not a folder");
    fails_as("./f/a/b", -ENOTDIR, "./f is not a folder");
    fails_as("f/", -ENOTDIR, "f is not a folder");
    fails_as("link/a", -ENOTDIR, "link is not a folder");
    fails_as("through", -ENOTDIR, "");
    fails_as("/dev/null/x", -ENOTDIR, "/dev/null is not a folder");
    text("s", "#!f/sh\n");
    fails_as("s", -ENOTDIR, "f on the way to its interpreter is not a folder");
    leave();
}

TEST(links_in_a_circle) {
    enter();
    CHECK_EQ(symlink("b", "a"), 0);
    CHECK_EQ(symlink("a", "b"), 0);
    fails_as("a", -ELOOP, "it leads through too many symbolic links");
    fails_as("a/x", -ELOOP, "it leads through too many symbolic links");
    text("s", "#!a\n");
    fails_as("s", -ELOOP, "its interpreter a leads through too many symbolic links");
    leave();
}

/* ---- permission ---- */

TEST(what_is_not_executable) {
    enter();
    CHECK_EQ(mkdir("d", 0755), 0);
    CHECK_EQ(mkfifo("fifo", 0755), 0);
    file("f", "x", 1, 0644);
    fails_as("d", -EACCES, "it is a folder");
    fails_as("/", -EACCES, "it is a folder");
    fails_as("/dev/null", -EACCES, "it is not a regular file");
    fails_as("fifo", -EACCES, "it is not a regular file");
    fails_as("f", -EACCES, "it is not executable");
    text("s", "#! f\n");
    fails_as("s", -EACCES, "its interpreter f is not executable");
    text("s", "#!d -x\n");
    fails_as("s", -EACCES, "its interpreter d is a folder");
    text("s", "#!fifo");
    fails_as("s", -EACCES, "its interpreter fifo is not a regular file");
    text("t", "#!s");
    fails_as("t", -EACCES, "the interpreter fifo is not a regular file");
    says(PROBE, -EACCES, ""); /* some security module, for instance */
    leave();
}

TEST(what_another_user_may_not) {
    if (getuid() != 0)
        skip_test("not root");
    enter();
    CHECK_EQ(mkdir("closed", 0700), 0);
    CHECK_EQ(mkdir("closed/d", 0755), 0);
    text("closed/f", "x");
    CHECK_EQ(symlink("closed/f", "link"), 0);
    CHECK_EQ(symlink("closed/d", "links"), 0);
    file("mine", "x", 1, 0700);
    file("unreadable", "#!/nonexistent\n", 15, 0711);
    text("s", "#!closed/f\n");
    CHECK_EQ(setresuid(65534, 65534, 0), 0);
    fails_as("closed/f", -EACCES, "the folder closed cannot be searched");
    fails_as("closed/d/f", -EACCES, "the folder closed cannot be searched");
    fails_as("link", -EACCES, "link leads through a folder that cannot be searched");
    fails_as("links/f", -EACCES, "links leads through a folder that cannot be searched");
    fails_as("mine", -EACCES, "it is not executable by this user");
    fails_as("unreadable", -ENOENT, "");
    fails_as("s", -EACCES, "the folder closed on the way to its interpreter cannot be searched");
    CHECK_EQ(setresuid(0, 0, 0), 0);
    CHECK_EQ(chmod(folder, 0700), 0);
    CHECK_EQ(setresuid(65534, 65534, 0), 0);
    fails_as("s", -EACCES, "the folder . cannot be searched");
    CHECK_EQ(setresuid(0, 0, 0), 0);
    leave();
}

TEST(what_is_mounted_noexec) {
    if (unshare(CLONE_NEWNS) < 0)
        skip_test("no mount namespace");
    enter();
    CHECK_EQ(mkdir("m", 0755), 0);
    if (mount("", "/", NULL, MS_REC | MS_PRIVATE, NULL) < 0 ||
        mount("none", "m", "tmpfs", MS_NOEXEC, NULL) < 0) {
        leave();
        skip_test("nothing can be mounted");
    }
    text("m/f", "x");
    text("s", "#!m/f\n");
    fails_as("m/f", -EACCES, "it is on a file system that is mounted noexec");
    fails_as("s", -EACCES, "its interpreter m/f is on a file system that is mounted noexec");
    CHECK_EQ(umount("m"), 0);
    leave();
}

/* ---- scripts ---- */

TEST(b39_interpreters_of_scripts) {
    enter();
    text("s", "#!/nonexistent/sh\n");
    fails_as("s", -ENOENT, "its interpreter /nonexistent/sh is missing");
    text("s", "#! \t none  -x y\nz\n");
    fails_as("s", -ENOENT, "its interpreter none is missing");
    text("s", "#!none");
    fails_as("s", -ENOENT, "its interpreter none is missing");
    text("s", "#!/bin/sh\r\necho\r\n");
    fails_as("s", -ENOENT, "it has a #! line that ends with a carriage return");
    text("s", "#!/nonexistent -x\r\n");
    fails_as("s", -ENOENT, "its interpreter /nonexistent is missing");
    text("t", "#!s\n");
    fails_as("t", -ENOENT, "the interpreter /nonexistent is missing");
    text("s", "#!/bin/sh\r\n");
    fails_as("t", -ENOENT, "its interpreter s has a #! line that ends with a carriage return");
    CHECK_EQ(symlink("nowhere", "dangling"), 0);
    text("s", "#!dangling\n");
    fails_as("s", -ENOENT, "its interpreter dangling is a symbolic link to nothing");
    text("s", "#!dangling/x\n");
    fails_as("s", -ENOENT, "its interpreter dangling/x is missing");
    text("s", "#!/bin/sh\n");
    says("s", -ENOENT, "");
    leave();
}

TEST(lines_that_name_no_interpreter) {
    static char line[600];
    enter();
    text("s", "#!\n/bin/sh\n");
    fails_as("s", -ENOEXEC, "it has a #! line without an interpreter");
    text("s", "#! \t \n");
    fails_as("s", -ENOEXEC, "it has a #! line without an interpreter");
    text("s", "#!");
    fails_as("s", -EACCES, "it has a #! line without an interpreter");
    memset(line, 'a', sizeof line - 1);
    memcpy(line, "#!/bin/", 7);
    for (size_t end = 250; end < 262; end++) {
        line[end] = '\n';
        text("s", line);
        if (end < 256) {
            line[end] = '\0';
            char want[300];
            snprintf(want, sizeof want, "its interpreter ...%.97s is missing", line + end - 97);
            fails_as("s", -ENOENT, want);
        } else
            fails_as("s", -ENOEXEC, "it has a #! line that is too long");
        line[end] = 'a';
    }
    memset(line + 2, ' ', sizeof line - 3);
    text("s", line);
    fails_as("s", -ENOEXEC, "it has a #! line without an interpreter");
    leave();
}

TEST(scripts_of_scripts) {
    enter();
    text("s0", "#!none\n");
    for (char i = '1'; i < '8'; i++) {
        char name[] = {'s', i, '\0'}, line[] = {'#', '!', 's', (char)(i - 1), '\n', '\0'};
        text(name, line);
    }
    fails_as("s4", -ENOENT, "the interpreter none is missing");
    fails_as("s5", -ENOENT, "the interpreter none is missing");
    fails_as("s6", -ELOOP, "it leads through too many #! lines");
    fails_as("s7", -ELOOP, "it leads through too many #! lines");
    text("self", "#!self\n");
    fails_as("self", -ELOOP, "it leads through too many #! lines");
    says("s5", -ELOOP, "");
    leave();
}

/* ---- what is no program ---- */

TEST(b48_what_is_no_program) {
    enter();
    file("f", "", 0, 0755);
    fails_as("f", -ENOEXEC, "it is empty");
    text("f", "echo hello\n");
    fails_as("f", -ENOEXEC, "it has no #! line, and no shell steps in");
    text("s", "#!f\n");
    fails_as("s", -ENOEXEC, "its interpreter f has no #! line, and no shell steps in");
    text("f", "\xc3\xa4\t\v\r\n");
    fails_as("f", -ENOEXEC, "it has no #! line, and no shell steps in");
    text("f", "\xef\xbb\xbf#!/bin/sh\n");
    fails_as("f", -ENOEXEC, "it has a byte order mark before its #!");
    file("f", "\1\2\3\0\4", 5, 0755);
    fails_as("f", -ENOEXEC, "it is neither a script nor a program of this system");
    says("fifo", -ENOEXEC, "");
    says("/dev/null", -ENOEXEC, "");
    leave();
}

/* ---- ELF ---- */

#if defined(__aarch64__)
enum { OWN = EM_AARCH64, OWN_32 = EM_ARM, OTHER = EM_X86_64 };
#define OTHER_NAME "x86_64"
#else
enum { OWN = EM_X86_64, OWN_32 = EM_386, OTHER = EM_AARCH64 };
#define OTHER_NAME "aarch64"
#endif

static struct image {
    Elf64_Ehdr head;
    Elf64_Phdr segments[2];
    char name[32];
} image;

static void image_new(const char *name) {
    image = (struct image){
        .head = {.e_ident = {0x7f, 'E', 'L', 'F', ELFCLASS64, ELFDATA2LSB, EV_CURRENT},
                 .e_type = ET_DYN,
                 .e_machine = OWN,
                 .e_version = EV_CURRENT,
                 .e_phoff = offsetof(struct image, segments),
                 .e_ehsize = sizeof(Elf64_Ehdr),
                 .e_phentsize = sizeof(Elf64_Phdr),
                 .e_phnum = 2},
        .segments = {{.p_type = PT_NOTE},
                     {.p_type = PT_INTERP,
                      .p_offset = offsetof(struct image, name),
                      .p_filesz = strlen(name) + 1}},
    };
    strcpy(image.name, name);
}

static void image_file(void) {
    file("elf", &image, sizeof image, 0755);
}

TEST(b39_interpreters_of_programs) {
    enter();
    image_new("/nonexistent/ld.so.2");
    image_file();
    text("s", "#!elf\n");
    fails_as("elf", -ENOENT, "its interpreter /nonexistent/ld.so.2 is missing");
    fails_as("s", -ENOENT, "the interpreter /nonexistent/ld.so.2 is missing");
    says("elf", -ENOEXEC, "it has ELF headers that are damaged");
    image_new("/");
    image_file();
    fails_as("elf", -EACCES, "its interpreter / is a folder");
    file("ld", "x", 1, 0644);
    image_new("ld");
    image_file();
    fails_as("elf", -EACCES, "its interpreter ld is not executable");
    image.segments[1].p_filesz--; /* without its 0 */
    image_file();
    fails_as("elf", -ENOEXEC, "it has ELF headers that are damaged");
    says("elf", -ENOENT, "");
    image_new("ld");
    image.head.e_phnum = 0;
    image_file();
    fails_as("elf", -ENOEXEC, "it has ELF headers that are damaged");
    leave();
}

TEST(b39_a_real_program) {
    static char program[1 << 20];
    int fd = open("/bin/true", O_RDONLY | O_CLOEXEC);
    ssize_t size = read(fd, program, sizeof program);
    CHECK(size > 0);
    close(fd);
    char *name = memmem(program, (size_t)size, "/lib", 4), want[300];
    if (!name)
        skip_test("/bin/true needs no interpreter");
    enter();
    memcpy(name, "/non", 4);
    file("elf", program, (size_t)size, 0755);
    snprintf(want, sizeof want, "its interpreter %.80s is missing", name);
    fails_as("elf", -ENOENT, want);
    leave();
}

TEST(programs_of_32_bits) {
    static struct {
        Elf32_Ehdr head;
        Elf32_Phdr segment;
        char name[16];
    } small = {
        .head = {.e_ident = {0x7f, 'E', 'L', 'F', ELFCLASS32, ELFDATA2LSB, EV_CURRENT},
                 .e_type = ET_EXEC,
                 .e_machine = OWN_32,
                 .e_version = EV_CURRENT,
                 .e_phoff = sizeof(Elf32_Ehdr),
                 .e_phentsize = sizeof(Elf32_Phdr),
                 .e_phnum = 1},
        .segment = {.p_type = PT_INTERP,
                    .p_offset = sizeof(Elf32_Ehdr) + sizeof(Elf32_Phdr),
                    .p_filesz = 10},
        .name = "/lib/none",
    };
    enter();
    file("elf", &small, sizeof small, 0755);
    says("elf", -ENOENT, "its interpreter /lib/none is missing");
    says("elf", -ENOEXEC, "it is a 32-bit program, which this kernel does not run");
    small.head.e_machine = OWN;
    file("elf", &small, sizeof small, 0755);
    says("elf", -ENOEXEC, "it is a 32-bit program, which this kernel does not run");
    small.head.e_machine = EM_PPC;
    file("elf", &small, sizeof small, 0755);
    says("elf", -ENOENT, "");
    says("elf", -ENOEXEC, "it is for another processor");
    leave();
}

TEST(programs_for_others) {
    enter();
    image_new("/nonexistent");
    image.head.e_machine = OTHER;
    image_file();
    says("elf", -ENOEXEC, "it is for another processor (" OTHER_NAME ")"); /* qemu may take it */
    says("elf", -ENOENT, "");
    image.head.e_machine = 0x7ace;
    image_file();
    fails_as("elf", -ENOEXEC, "it is for another processor");
    image.head.e_ident[EI_DATA] = ELFDATA2MSB;
    image.head.e_machine = (EM_S390 & 0xff) << 8;
    image_file();
    says("elf", -ENOEXEC, "it is for another processor (s390)");
    says("elf", -ENOENT, "");
    image_new("/nonexistent");
    image.head.e_type = ET_REL;
    image_file();
    fails_as("elf", -ENOEXEC, "it is an ELF file, but not a program");
    file("elf", &image, 20, 0755);
    says("elf", -ENOEXEC, "it is an ELF file that is cut short");
    says("elf", -ENOENT, "");
    leave();
}

/* ---- the rest ---- */

TEST(open_for_writing) {
    enter();
    text("f", "x");
    text("s", "#!/bin/sh\n");
    int f = open("f", O_WRONLY | O_CLOEXEC), s = open("s", O_WRONLY | O_CLOEXEC);
    fails_as("f", -ETXTBSY, "it is open for writing");
    fails_as("s", -ETXTBSY, "it or its interpreter is open for writing");
    close(f);
    close(s);
    leave();
}

TEST(too_large) {
    static const char want[] = "the arguments and the environment are too large for the kernel, or "
                               "one string is longer than 32 pages";
    static char large[131073];
    memset(large, 'a', sizeof large - 1);
    forkless_command *c = command("/bin/true", large, NULL);
    fails(forkless_spawn, c, -E2BIG, FORKLESS_STEP_EXEC, -1);
    forkless_command_free(c);
    large[131071] = '\0';
    c = command("/bin/true", large, NULL);
    ends(launched(forkless_spawn, c), FORKLESS_EXITED, 0);
    forkless_command_free(c);
    says("/bin/true", -E2BIG, want);
    says("", -E2BIG, want);
}

TEST(nothing_to_say) {
    static char deep[5000];
    memset(deep, 'a', sizeof deep - 1);
    for (int code = -140; code < 3; code++) {
        switch (-code) {
        case ENOENT:
        case ENOTDIR:
        case EACCES:
        case ENOEXEC:
        case ELOOP:
        case E2BIG:
        case ETXTBSY:
            break;
        default:
            says("/nonexistent/x", code, "");
        }
        if (code != -E2BIG) {
            says("", code, "");
            says(deep, code, "");
        }
    }
    fails_as(deep, -ENAMETOOLONG, "");
    char reason[4] = "xyz";
    fl_reason(NULL, -ENOENT, reason, sizeof reason);
    CHECK(reason[0] == '\0');
    fl_reason("/nonexistent/x", -ENOENT, NULL, 0);
}

/* ---- names that do not fit ---- */

static void is_cut(const char *path, size_t size, const char *want) {
    char reason[300];
    memset(reason, 'x', sizeof reason);
    fl_reason(path, -ENOENT, reason, size);
    CHECK_EQ(strlen(reason), strlen(want));
    CHECK(strcmp(reason, want) == 0);
    CHECK(size <= strlen(want) || reason[size] == 'x');
}

TEST(a_long_name_keeps_its_end) {
    is_cut("/nonexistent/x", 35, "the folder /nonexistent is missing");
    is_cut("/nonexistent/x", 34, "the folder ...existent is missing");
    is_cut("/nonexistent/x", 26, "the folder ... is missing");
    is_cut("/nonexistent/x", 25, "the folder  is missing");
    is_cut("/nonexistent/x", 5, "the ");
    is_cut("/nonexistent/x", 1, "");
    /* A character of two bytes is kept, or not at all. */
    is_cut("/nonexistent\xc3\xa4z/x", 29, "the folder ...\xc3\xa4z is missing");
    is_cut("/nonexistent\xc3\xa4z/x", 28, "the folder ...z is missing");
    is_cut("/no\033[1m/x", 128, "the folder /no\033[1m is missing");
}

/* ---- little stack ---- */

enum { STACK = 1 << 16, MARGIN = 512, PAINT = 0x5a };
static unsigned char stack[STACK] __attribute__((aligned(64)));
static const char *deep_path;
static int deep_code;

static __attribute__((noinline)) void *depth_used(void *used) {
    char reason[128];
    unsigned char *here = __builtin_frame_address(0), *at = stack;
    fl_reason(deep_path, deep_code, reason, sizeof reason); /* the linker's own need */
    memset(stack, PAINT, (size_t)(here - stack) - MARGIN);
    fl_reason(deep_path, deep_code, reason, sizeof reason);
    while (*at == PAINT)
        at++;
    *(size_t *)used = (size_t)(here - at);
    return NULL;
}

static void needs_little(const char *path, int code) {
    pthread_attr_t attributes;
    pthread_t t;
    size_t used;
    deep_path = path;
    deep_code = code;
    CHECK_EQ(pthread_attr_init(&attributes), 0);
    CHECK_EQ(pthread_attr_setstack(&attributes, stack, STACK), 0);
    CHECK_EQ(pthread_create(&t, &attributes, depth_used, &used), 0);
    CHECK_EQ(pthread_join(t, NULL), 0);
    CHECK(used < 2048);
}

TEST(needs_less_than_two_kib_of_stack) {
    if (sanitized())
        skip_test("sanitizers need more");
    enter();
    image_new("/nonexistent/ld.so");
    image_file();
    text("s", "#!elf\n");
    needs_little("s", -ENOENT);
    needs_little("elf", -ENOEXEC);
    needs_little("a/b/c", -ENOENT);
    needs_little(PROBE, -EACCES);
    leave();
}

/* ---- hostile files ---- */

static const int codes[] = {-ENOENT, -EACCES, -ENOEXEC, -ENOTDIR, -ELOOP, -ETXTBSY};

/* Bytes of it changed at random, its end cut off now and then. */
static void mutate(const void *bytes, size_t size, size_t changeable) {
    char changed[512], reason[160];
    CHECK(size <= sizeof changed);
    int fd = open("f", O_RDWR | O_CREAT | O_CLOEXEC, 0755);
    CHECK(fd >= 0);
    srand(1);
    for (int i = 0; i < count(20000); i++) {
        memcpy(changed, bytes, size);
        for (int k = rand() % 6; k >= 0; k--)
            changed[(size_t)rand() % changeable] =
                (char)(rand() % 2 ? rand() : "\0\xff\x7f\x80\1 \n/"[rand() % 8]);
        size_t length = rand() % 8 ? size : (size_t)rand() % size, room = (size_t)rand() % 140 + 1;
        CHECK_EQ(pwrite(fd, changed, length, 0), length);
        CHECK_EQ(ftruncate(fd, (off_t)length), 0);
        memset(reason, 'x', sizeof reason);
        for (size_t k = 0; k < sizeof codes / sizeof *codes; k++)
            fl_reason("f", codes[k], reason, room);
        CHECK(memchr(reason, '\0', room) != NULL);
        CHECK(reason[room] == 'x');
    }
    close(fd);
}

TEST(changed_headers) {
    enter();
    image_new("/nonexistent/ld.so");
    mutate(&image, sizeof image, sizeof image);
    mutate(&image, sizeof image, sizeof image.head);
    leave();
}

TEST(changed_lines) {
    static char line[400];
    enter();
    memset(line, ' ', sizeof line);
    memcpy(line, "#! /nonexistent/interpreter -x\n", 31);
    mutate(line, sizeof line, 40);
    memset(line + 2, 'a', sizeof line - 2);
    mutate(line, sizeof line, 300);
    leave();
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(what_is_missing),
        cmocka_unit_test(what_is_no_folder),
        cmocka_unit_test(links_in_a_circle),
        cmocka_unit_test(what_is_not_executable),
        cmocka_unit_test(what_another_user_may_not),
        cmocka_unit_test(what_is_mounted_noexec),
        cmocka_unit_test(b39_interpreters_of_scripts),
        cmocka_unit_test(b39_interpreters_of_programs),
        cmocka_unit_test(b39_a_real_program),
        cmocka_unit_test(lines_that_name_no_interpreter),
        cmocka_unit_test(scripts_of_scripts),
        cmocka_unit_test(b48_what_is_no_program),
        cmocka_unit_test(programs_of_32_bits),
        cmocka_unit_test(programs_for_others),
        cmocka_unit_test(open_for_writing),
        cmocka_unit_test(too_large),
        cmocka_unit_test(nothing_to_say),
        cmocka_unit_test(a_long_name_keeps_its_end),
        cmocka_unit_test(needs_less_than_two_kib_of_stack),
        cmocka_unit_test(changed_headers),
        cmocka_unit_test(changed_lines),
    };
    return RUN(tests);
}
