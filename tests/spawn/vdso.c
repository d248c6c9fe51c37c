/*
 * The clock of the vDSO, found in its image: in the real one, in images of our own with either hash
 * table, and in damaged ones. Linked statically, to look inside.
 */
#include <elf.h>
#include <errno.h>
#include <linux/seccomp.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/auxv.h>
#include <sys/mman.h>
#include <sys/syscall.h>

#include "arch/syscall.h"
#include "support.h"
#include "vdso.h"

#ifdef __aarch64__
#define CLOCK "__kernel_clock_gettime"
#else
#define CLOCK "__vdso_clock_gettime"
#endif

enum { PAGE = 4096, ADDRESS = 0x7000, SYMBOLS = 5, FIRST_HASHED = 2, BUCKETS = 2 };
enum hash { SYSV, GNU, BOTH };

/* What the name's symbol is, and where: the others come before it. */
static const char *const names[SYMBOLS] = {"", "local", CLOCK "_x", "__vdso_time", CLOCK};

struct tables {
    Elf64_Dyn dynamic[8];
    Elf64_Sym symbols[SYMBOLS];
    uint32_t sysv[2 + BUCKETS + SYMBOLS];
    struct {
        uint32_t buckets, first, words, shift;
        uint64_t bloom[1];
        uint32_t bucket[BUCKETS], chain[SYMBOLS - FIRST_HASHED];
    } gnu;
    _Alignas(16) unsigned char code[32];
    char strings[128];
};

/* A page, as the kernel maps no less; what is read of it is at its end. */
struct layout {
    Elf64_Ehdr head;
    Elf64_Phdr segments[2];
    char gap[PAGE - sizeof(Elf64_Ehdr) - 2 * sizeof(Elf64_Phdr) - sizeof(struct tables)];
    struct tables t;
};

/* ---- a clock that makes the system call, as that of the vDSO where it cannot read it ---- */

FL_CHILD_CODE static int slow_clock(clockid_t id, struct timespec *time) {
    return (int)fl_syscall(SYS_clock_gettime, id, (long)time, 0, 0, 0);
}

/* A jump to it, from wherever it stands. */
static void jump(unsigned char *code) {
    uintptr_t to = (uintptr_t)slow_clock;
#ifdef __aarch64__
    const uint32_t load_and_branch[] = {0x58000050, 0xd61f0200}; /* ldr x16, .+8; br x16 */
    memcpy(code, load_and_branch, 8);
    memcpy(code + 8, &to, sizeof to);
#else
    memcpy(code, "\xf3\x0f\x1e\xfa\x48\xb8", 6); /* endbr64; movabs to, %rax */
    memcpy(code + 6, &to, sizeof to);
    memcpy(code + 14, "\xff\xe0", 2); /* jmp *%rax */
#endif
}

/* ---- images ---- */

#define AT(member) (ADDRESS + offsetof(struct layout, member))

static void fill_dynamic(Elf64_Dyn *d, enum hash hash) {
    if (hash != SYSV)
        *d++ = (Elf64_Dyn){.d_tag = DT_GNU_HASH, .d_un.d_ptr = AT(t.gnu)};
    if (hash != GNU)
        *d++ = (Elf64_Dyn){.d_tag = DT_HASH, .d_un.d_ptr = AT(t.sysv)};
    *d++ = (Elf64_Dyn){.d_tag = DT_SYMTAB, .d_un.d_ptr = AT(t.symbols)};
    *d++ = (Elf64_Dyn){.d_tag = DT_STRTAB, .d_un.d_ptr = AT(t.strings)};
    *d = (Elf64_Dyn){.d_tag = DT_STRSZ, .d_un.d_val = sizeof(char[128])};
}

static unsigned char info(unsigned bind) {
    return (unsigned char)ELF64_ST_INFO(bind, STT_FUNC);
}

static void fill_image(struct layout *l, enum hash hash) {
    memset(l, 0, sizeof *l);
    memcpy(l->head.e_ident, ELFMAG, SELFMAG);
    l->head.e_ident[EI_CLASS] = ELFCLASS64;
    l->head.e_phoff = offsetof(struct layout, segments);
    l->head.e_phentsize = sizeof *l->segments;
    l->head.e_phnum = 2;
    l->segments[0] = (Elf64_Phdr){.p_type = PT_LOAD, .p_vaddr = ADDRESS, .p_filesz = sizeof *l};
    l->segments[1] = (Elf64_Phdr){.p_type = PT_DYNAMIC,
                                  .p_offset = offsetof(struct layout, t.dynamic),
                                  .p_vaddr = AT(t.dynamic),
                                  .p_memsz = sizeof l->t.dynamic};
    fill_dynamic(l->t.dynamic, hash);
    uint32_t name = 0;
    for (uint32_t i = 0; i < SYMBOLS; i++) {
        l->t.symbols[i].st_name = name;
        l->t.symbols[i].st_info = info(i < FIRST_HASHED ? STB_LOCAL : STB_GLOBAL);
        l->t.symbols[i].st_shndx = i ? 1 : SHN_UNDEF;
        l->t.symbols[i].st_value = AT(t.code);
        strcpy(l->t.strings + name, names[i]);
        name += (uint32_t)strlen(names[i]) + 1;
    }
    l->t.sysv[0] = BUCKETS;
    l->t.sysv[1] = SYMBOLS;
    l->t.gnu.buckets = BUCKETS;
    l->t.gnu.first = FIRST_HASHED;
    l->t.gnu.words = 1;
    l->t.gnu.bucket[0] = FIRST_HASHED;
    l->t.gnu.bucket[1] = SYMBOLS - 2; /* two chains, of one symbol and of two */
    l->t.gnu.chain[0] = l->t.gnu.chain[2] = 1;
    jump(l->t.code);
}

/* Between pages without access. */
static struct layout *new_image(enum hash hash) {
    char *pages = mmap(NULL, 3 * PAGE, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    CHECK(pages != MAP_FAILED);
    CHECK_EQ(mprotect(pages + PAGE, PAGE, PROT_READ | PROT_WRITE | PROT_EXEC), 0);
    struct layout *l = (struct layout *)(void *)(pages + PAGE);
    fill_image(l, hash);
    return l;
}

static void tells_the_time(fl_clock *clock) {
    struct timespec time = {0};
    CHECK(clock);
    CHECK_EQ(clock(CLOCK_MONOTONIC, &time), 0);
    CHECK(time.tv_sec > 0 || time.tv_nsec > 0);
}

TEST(the_real_one) {
    const void *image = (const void *)getauxval(AT_SYSINFO_EHDR);
    if (!image)
        skip_test("there is no vDSO here");
    tells_the_time(fl_vdso_find(image));
}

TEST(either_hash_table) {
    for (enum hash hash = SYSV; hash <= BOTH; hash++) {
        struct layout *l = new_image(hash);
        fl_clock *clock = fl_vdso_find(l);
        CHECK((const unsigned char *)(uintptr_t)clock == l->t.code);
        tells_the_time(clock);
    }
}

TEST(no_image) {
    CHECK(!fl_vdso_find(NULL));
}

TEST(what_is_no_symbol_of_it) {
    struct layout *l = new_image(BOTH);
    Elf64_Sym *s = &l->t.symbols[SYMBOLS - 1], good = *s;
    s->st_shndx = SHN_UNDEF;
    CHECK(!fl_vdso_find(l));
    *s = good;
    s->st_info = info(STB_LOCAL);
    CHECK(!fl_vdso_find(l));
    *s = good;
    s->st_value = ADDRESS + sizeof *l + 1;
    CHECK(!fl_vdso_find(l));
    s->st_value = ADDRESS - 1;
    CHECK(!fl_vdso_find(l));
    *s = good;
    l->t.strings[s->st_name] = 'x';
    CHECK(!fl_vdso_find(l));
}

/* The gap, and how large the image is, which is known from nowhere else. */
static bool is_left_alone(size_t i) {
    size_t size = offsetof(struct layout, segments), gap = offsetof(struct layout, gap);
    return (i >= size && i < size + sizeof(Elf64_Phdr)) ||
           (i >= gap && i < offsetof(struct layout, t));
}

/* Each byte in turn, then many at once. What is found is in the image; what it is is not asked. */
TEST(damaged_images) {
    static const unsigned char values[] = {0, 1, 2, 7, 8, 0x3f, 0x40, 0x7f, 0x80, 0xfe, 0xff};
    unsigned random = 1;
    for (enum hash hash = SYSV; hash <= BOTH; hash++) {
        struct layout *l = new_image(hash), good = *l;
        unsigned char *bytes = (unsigned char *)l;
        for (size_t i = 0; i < sizeof *l; i++)
            for (size_t k = 0; k < sizeof values + 20; k++) {
                if (is_left_alone(i))
                    continue;
                bytes[i] = k < sizeof values ? values[k] : bytes[i];
                for (size_t more = sizeof values; more < k; more++) {
                    size_t at = (random = random * 1664525 + 1013904223) >> 8;
                    at %= sizeof *l;
                    if (!is_left_alone(at))
                        bytes[at] = (unsigned char)(random >> 3);
                }
                fl_clock *clock = fl_vdso_find(l);
                const unsigned char *found = (const unsigned char *)(uintptr_t)clock;
                CHECK(!found || (found >= bytes && found < bytes + sizeof *l));
                *l = good;
            }
    }
}

TEST(cut_images) {
    for (enum hash hash = SYSV; hash <= BOTH; hash++) {
        struct layout *l = new_image(hash);
        uint64_t whole = l->segments[0].p_filesz;
        for (uint64_t size = 0; size < sizeof *l; size++) {
            l->segments[0].p_filesz = size;
            CHECK(!fl_vdso_find(l));
        }
        l->segments[0].p_filesz = whole;
        CHECK(fl_vdso_find(l));
    }
}

/* ---- what the library finds ---- */

static const struct layout *image; /* NULL: the real one */
static bool hidden;

unsigned long __real_getauxval(unsigned long type);
unsigned long __wrap_getauxval(unsigned long type);
unsigned long __wrap_getauxval(unsigned long type) {
    if (type != AT_SYSINFO_EHDR)
        return __real_getauxval(type);
    return hidden ? 0 : image ? (unsigned long)image : __real_getauxval(type);
}

/* A child that runs to its end; whether it could tell the time. */
static void check_stamps(bool known) {
    forkless_command *c = probe("exit", "7", NULL);
    for (int l = 0; l < 2; l++) {
        forkless_stamps s;
        forkless_child *child = launched(launchers[l], c);
        CHECK_EQ(forkless_wait(child, FORKLESS_NEVER, NULL, NULL), 0);
        CHECK_EQ(forkless_child_stamps(child, &s), 0);
        CHECK_EQ(s.set_up != 0, known);
        CHECK_EQ(s.exec_called != 0, known);
        CHECK(s.execed >= s.created && s.created >= s.asked && s.asked > 0);
        ends(child, FORKLESS_EXITED, 7);
    }
    forkless_command_free(c);
}

TEST(without_a_vdso) {
    hidden = true;
    check_stamps(false);
}

TEST(a_clock_that_makes_the_call) {
    image = new_image(GNU);
    check_stamps(true);
}

TEST(a_filter_that_refuses_the_call) {
    image = new_image(SYSV);
    refuse(SYS_clock_gettime, EPERM);
    check_stamps(false);
}

/* Without handlers the child cannot do what its parent's may. It is not lost. */
TEST(a_filter_that_sends_a_signal) {
    forkless_status status;
    forkless_stamps s;
    image = new_image(BOTH);
    forkless_command *c = probe("exit", "7", NULL);
    filter(&(struct rule){.number = SYS_clock_gettime, .action = SECCOMP_RET_TRAP}, 1);
    for (int l = 0; l < 2; l++) {
        forkless_child *child = launched(launchers[l], c);
        CHECK_EQ(forkless_wait(child, FORKLESS_NEVER, &status, NULL), 0);
        CHECK_EQ(status.how, FORKLESS_KILLED);
        CHECK_EQ(status.code, SIGSYS);
        CHECK(!status.execed);
        CHECK_EQ(forkless_child_stamps(child, &s), 0);
        CHECK(s.set_up == 0 && s.exec_called == 0 && s.execed == 0 && s.exited != 0);
        forkless_child_free(child);
    }
    forkless_command_free(c);
    check_no_child();
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(the_real_one),
        cmocka_unit_test(either_hash_table),
        cmocka_unit_test(no_image),
        cmocka_unit_test(what_is_no_symbol_of_it),
        cmocka_unit_test(damaged_images),
        cmocka_unit_test(cut_images),
        cmocka_unit_test(without_a_vdso),
        cmocka_unit_test(a_clock_that_makes_the_call),
        cmocka_unit_test(a_filter_that_refuses_the_call),
        cmocka_unit_test(a_filter_that_sends_a_signal),
    };
    return RUN(tests);
}
