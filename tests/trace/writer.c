/* Writes to memory in one way, and prints where that memory is. usage: writer HOW FOLDER */
#include <err.h>
#include <fcntl.h>
#include <pthread.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

enum { PAGE = 4096, PAGES = 997, BY_READ = 31, HUGE = 2 << 20 };

/* Far from all else, so that nothing is joined to it. */
#define PLACE ((char *)UINT64_C(0x100000000000))

static const char *folder;
static volatile int sink;

static char *map(size_t size, int flags, int fd) {
    char *memory = mmap(PLACE, size, PROT_READ | PROT_WRITE, flags | MAP_FIXED_NOREPLACE, fd, 0);
    if (memory != PLACE)
        err(1, "mmap");
    madvise(memory, size, MADV_NOHUGEPAGE);
    return memory;
}

static int make_file(void) {
    char path[4096], page[PAGE];
    snprintf(path, sizeof path, "%s/pages", folder);
    int fd = open(path, O_RDWR | O_CREAT | O_TRUNC, 0600);
    memset(page, 1, sizeof page);
    for (int i = 0; i < PAGES; i++)
        if (write(fd, page, sizeof page) != sizeof page)
            err(1, "write");
    return fd;
}

__attribute__((noinline)) void write_pages(char *memory, int from, int to) {
    for (int i = from; i < to; i++)
        memory[(size_t)i * PAGE] = 2;
    sink = 1; /* no tail call */
}

__attribute__((noinline)) void read_into_pages(char *memory, int from, int to) {
    int zeros = open("/dev/zero", O_RDONLY);
    for (int i = from; i < to; i++)
        if (read(zeros, memory + (size_t)i * PAGE, 16) != 16)
            err(1, "read");
    close(zeros);
}

static void look_at_pages(const char *memory) {
    for (int i = 0; i < PAGES; i++)
        sink = memory[(size_t)i * PAGE];
}

/* In a child, while its parent waits. */
static void in_child(void (*what)(char *), char *memory) {
    int status;
    pid_t pid = fork();
    if (pid == 0) {
        what(memory);
        _exit(0);
    }
    if (pid < 0 || waitpid(pid, &status, 0) != pid || status != 0)
        errx(1, "the child failed");
}

static void write_both_ways(char *memory) {
    read_into_pages(memory, 0, BY_READ);
    write_pages(memory, BY_READ, PAGES);
}

static void write_all(char *memory) {
    write_pages(memory, 0, PAGES);
}

/* The parent's pages are its own again when the child has ended. */
static void copies(void) {
    char *memory = map(PAGES * PAGE, MAP_PRIVATE | MAP_ANONYMOUS, -1);
    memset(memory, 1, PAGES * PAGE);
    in_child(write_both_ways, memory);
}

static void reused(void) {
    copies();
    write_all(PLACE);
}

static void zeros(void) {
    char *memory = map(PAGES * PAGE, MAP_PRIVATE | MAP_ANONYMOUS, -1);
    look_at_pages(memory);
    write_all(memory);
}

static void fresh(void) {
    write_all(map(PAGES * PAGE, MAP_PRIVATE | MAP_ANONYMOUS, -1));
}

/* A file system that wants to know of the first write to a page. */
static void shared(void) {
    char *memory = map(PAGES * PAGE, MAP_SHARED, make_file());
    look_at_pages(memory);
    write_all(memory);
}

static void shared_anonymous(void) {
    char *memory = map(PAGES * PAGE, MAP_SHARED | MAP_ANONYMOUS, -1);
    look_at_pages(memory);
    in_child(write_all, memory);
    write_all(memory);
}

static void file(void) {
    write_all(map(PAGES * PAGE, MAP_PRIVATE, make_file()));
}

static void file_read_first(void) {
    char *memory = map(PAGES * PAGE, MAP_PRIVATE, make_file());
    look_at_pages(memory);
    write_all(memory);
}

/* 512 small pages are told apart in each huge one. */
static void huge(void) {
    char *memory = mmap(PLACE, 2 * HUGE, PROT_READ | PROT_WRITE,
                        MAP_PRIVATE | MAP_ANONYMOUS | MAP_FIXED_NOREPLACE, -1, 0);
    if (memory != PLACE || madvise(memory, 2 * HUGE, MADV_HUGEPAGE))
        exit(77);
    memset(memory, 1, 2 * HUGE);
    in_child(write_all, memory);
}

static pthread_barrier_t barrier;

static void *write_beside(void *memory) {
    for (int i = 0; i < PAGES; i++) {
        pthread_barrier_wait(&barrier);
        ((volatile char *)memory)[(size_t)i * PAGE] = 3;
    }
    return NULL;
}

static void write_in_two_threads(char *memory) {
    pthread_t other;
    pthread_barrier_init(&barrier, NULL, 2);
    if (pthread_create(&other, NULL, write_beside, memory))
        errx(1, "no thread");
    write_beside(memory);
    pthread_join(other, NULL);
}

static void threads(void) {
    char *memory = map(PAGES * PAGE, MAP_PRIVATE | MAP_ANONYMOUS, -1);
    memset(memory, 1, PAGES * PAGE);
    in_child(write_in_two_threads, memory);
}

/* Both halves of each page of the family: the last one to write has it for itself. */
static void write_and_fork(char *memory) {
    in_child(write_all, memory);
    write_all(memory);
}

static void grandchild(void) {
    char *memory = map(PAGES * PAGE, MAP_PRIVATE | MAP_ANONYMOUS, -1);
    memset(memory, 1, PAGES * PAGE);
    in_child(write_and_fork, memory);
}

/* Children that are there already, and write when FOLDER/go is there. */
static void write_when_told(char *memory) {
    char path[4096];
    snprintf(path, sizeof path, "%s/go", folder);
    while (access(path, F_OK))
        usleep(5000);
    write_pages(memory, 0, PAGES);
}

static void preforked(void) {
    char *memory = map(PAGES * PAGE, MAP_PRIVATE | MAP_ANONYMOUS, -1);
    memset(memory, 1, PAGES * PAGE);
    for (int i = 0; i < 2; i++)
        if (fork() == 0) {
            write_when_told(memory);
            _exit(0);
        }
    puts("ready");
    fflush(stdout);
    while (wait(NULL) > 0)
        ;
}

/* More than fit into the ring of a tracer that is stopped. */
static void many(void) {
    enum { MANY = 20000 };
    char *memory = map((size_t)MANY * PAGE, MAP_PRIVATE | MAP_ANONYMOUS, -1);
    memset(memory, 1, (size_t)MANY * PAGE);
    pid_t pid = fork();
    if (pid == 0) {
        char deep[3 * PAGE];
        memset(deep, 1, sizeof deep);
        __asm__ volatile("" : : "r"(deep) : "memory");
        write_pages(memory, 0, MANY);
        _exit(deep[MANY % PAGE] != 1);
    }
    waitpid(pid, NULL, 0);
}

/* Over and over the same page, whose frames come and go. */
static void again(void) {
    char *memory = map(PAGE, MAP_PRIVATE | MAP_ANONYMOUS, -1);
    for (int i = 0; i < 97; i++) {
        int ends[2], status;
        char byte = 0;
        *memory = (char)i;
        if (pipe(ends))
            err(1, "pipe");
        pid_t pid = fork();
        if (pid == 0) {
            close(ends[1]);
            _exit(read(ends[0], &byte, 1) != 0);
        }
        *memory = 2;
        close(ends[0]);
        close(ends[1]);
        if (pid < 0 || waitpid(pid, &status, 0) != pid || status != 0)
            errx(1, "the child failed");
    }
}

static const struct {
    const char *name;
    void (*run)(void);
} ways[] = {{"copies", copies},
            {"reused", reused},
            {"zeros", zeros},
            {"fresh", fresh},
            {"shared", shared},
            {"shared_anonymous", shared_anonymous},
            {"file", file},
            {"file_read_first", file_read_first},
            {"huge", huge},
            {"threads", threads},
            {"grandchild", grandchild},
            {"preforked", preforked},
            {"many", many},
            {"again", again}};

int main(int argc, char **argv) {
    if (argc < 3)
        errx(2, "usage: writer HOW FOLDER");
    folder = argv[2];
    for (size_t i = 0; i < sizeof ways / sizeof *ways; i++)
        if (strcmp(argv[1], ways[i].name) == 0) {
            ways[i].run();
            return 0;
        }
    errx(2, "'%s' is no way to write", argv[1]);
}
