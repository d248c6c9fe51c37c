/* Why the exec of a program failed, from its headers; headers and lines that nobody should trust.
 */
#include <elf.h>
#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "reason.h"
#include "reason_files.h"
#include "support.h"

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
        cmocka_unit_test(b39_interpreters_of_programs),
        cmocka_unit_test(b39_a_real_program),
        cmocka_unit_test(programs_of_32_bits),
        cmocka_unit_test(programs_for_others),
        cmocka_unit_test(needs_less_than_two_kib_of_stack),
        cmocka_unit_test(changed_headers),
        cmocka_unit_test(changed_lines),
    };
    return RUN(tests);
}
