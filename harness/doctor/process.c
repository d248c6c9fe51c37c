#include "process.h"

#include <dirent.h>
#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "files.h"

static const char *path_of(pid_t pid, const char *file, char *out, size_t size) {
    snprintf(out, size, "/proc/%d/%s", (int)pid, file);
    return out;
}

static bool status_text(pid_t pid, const char *key, char *out, size_t size) {
    char path[64];
    return files_value(path_of(pid, "status", path, sizeof path), key, out, size);
}

static bool status_count(pid_t pid, const char *key, uint64_t *out) {
    char path[64];
    return files_count(path_of(pid, "status", path, sizeof path), key, out);
}

/* One field of /proc/PID/stat, counted from 1; the name before field 3 may hold anything. */
static bool stat_field(pid_t pid, int number, uint64_t *out) {
    char path[64], line[1024];
    if (!files_line(path_of(pid, "stat", path, sizeof path), line, sizeof line))
        return false;
    const char *at = strrchr(line, ')');
    for (int i = 2; at && i < number; i++)
        at = (at = strchr(at, ' ')) ? at + 1 : NULL;
    return at && text_number(at, out);
}

static void make_printable(char *text) {
    for (; *text; text++)
        if ((unsigned char)*text < ' ' || (unsigned char)*text > '~')
            *text = '?';
}

static struct fact count_lines(pid_t pid, const char *file) {
    char path[64], *line = NULL;
    size_t room = 0;
    struct fact fact = {0};
    FILE *f = files_open(path_of(pid, file, path, sizeof path));
    if (!f)
        return (struct fact){.why = errno};
    while (getline(&line, &room, f) > 0)
        fact.value++;
    free(line);
    fclose(f);
    return fact;
}

static struct fact count_descriptors(pid_t pid) {
    char path[64], whole[FILES_PATH];
    struct fact fact = {0};
    path_of(pid, "fd", path, sizeof path);
    DIR *folder = files_path(path, whole, sizeof whole) ? opendir(whole) : NULL;
    if (!folder)
        return (struct fact){.why = errno};
    for (struct dirent *entry; (entry = readdir(folder));)
        fact.value += entry->d_name[0] != '.';
    closedir(folder);
    return fact;
}

static struct fact count_huge(pid_t pid) {
    char path[64];
    uint64_t kib;
    path_of(pid, "smaps_rollup", path, sizeof path);
    FILE *f = files_open(path);
    int why = f ? ENODATA : errno;
    if (f)
        fclose(f);
    if (files_count(path, "AnonHugePages", &kib))
        return (struct fact){.value = kib << 10};
    return (struct fact){.why = why};
}

static bool is_kernel_thread(pid_t pid) {
    enum { FLAGS = 9, KTHREAD = 0x00200000 };
    uint64_t flags;
    return stat_field(pid, FLAGS, &flags) && flags & KTHREAD;
}

static bool read_memory(pid_t pid, struct process *p) {
    uint64_t rss, anonymous, page_tables, swapped;
    if (!status_count(pid, "VmRSS", &rss) || !status_count(pid, "RssAnon", &anonymous) ||
        !status_count(pid, "VmPTE", &page_tables) || !status_count(pid, "Threads", &p->threads))
        return false;
    p->rss = rss << 10;
    p->anonymous = anonymous << 10;
    p->page_tables = page_tables << 10;
    p->swapped = status_count(pid, "VmSwap", &swapped) ? swapped << 10 : 0;
    return true;
}

/* Why it has no memory to speak of. */
static const char *explain(pid_t pid, char state, char *buffer, size_t size) {
    if (state == 'Z' || state == 'X')
        snprintf(buffer, size, "process %d has ended and waits for its parent (a zombie)",
                 (int)pid);
    else if (is_kernel_thread(pid))
        snprintf(buffer, size, "process %d is a thread of the kernel: it has no memory of its own",
                 (int)pid);
    else
        snprintf(buffer, size, "process %d ended while it was read", (int)pid);
    return buffer;
}

/* NULL, or why there is nothing to read. */
static const char *open_status(pid_t pid, char *buffer, size_t size) {
    char path[64];
    FILE *f = files_open(path_of(pid, "status", path, sizeof path));
    if (f) {
        fclose(f);
        return NULL;
    }
    if (errno == ENOENT || errno == ESRCH)
        snprintf(buffer, size, "there is no process %d", (int)pid);
    else
        snprintf(buffer, size, "process %d cannot be looked at: %s", (int)pid, strerror(errno));
    return buffer;
}

const char *process_read(pid_t pid, struct process *out, char *buffer, size_t size) {
    enum { START_TIME = 22 };
    char state[32] = "";
    uint64_t whole, born, now;
    *out = (struct process){.pid = pid};
    if (open_status(pid, buffer, size))
        return buffer;
    if (!stat_field(pid, START_TIME, &born) ||
        !status_text(pid, "Name", out->name, sizeof out->name) ||
        !status_text(pid, "State", state, sizeof state) || !status_count(pid, "Tgid", &whole))
        return explain(pid, *state, buffer, size);
    if (whole != (uint64_t)pid) {
        snprintf(buffer, size, "%d is a thread of process %" PRIu64, (int)pid, whole);
        return buffer;
    }
    if (!read_memory(pid, out))
        return explain(pid, *state, buffer, size);
    make_printable(out->name);
    out->huge = count_huge(pid);
    out->mappings = count_lines(pid, "maps");
    out->descriptors = count_descriptors(pid);
    /* What was read last may be another process's with the same number, or nobody's. */
    if (stat_field(pid, START_TIME, &now) && now == born && status_count(pid, "VmRSS", &whole))
        return NULL;
    snprintf(buffer, size, "process %d ended while it was read", (int)pid);
    return buffer;
}

uint64_t process_small_pages(const struct process *p) {
    uint64_t huge = p->huge.why ? 0 : p->huge.value;
    return p->anonymous > huge ? p->anonymous - huge : 0;
}

static void describe(const struct fact *fact, const char *name, json_t *facts, json_t *unknown) {
    json_object_set_new(facts, name,
                        fact->why ? json_null() : json_integer((json_int_t)fact->value));
    if (fact->why)
        json_object_set_new(unknown, name, json_string(strerror(fact->why)));
}

json_t *process_describe(const struct process *p) {
    json_t *unknown = json_object();
    json_t *facts = json_pack("{s:i,s:s,s:I,s:I,s:I,s:I,s:I}", "pid", (int)p->pid, "name", p->name,
                              "rss", (json_int_t)p->rss, "anonymous", (json_int_t)p->anonymous,
                              "swapped", (json_int_t)p->swapped, "page_tables",
                              (json_int_t)p->page_tables, "threads", (json_int_t)p->threads);
    describe(&p->huge, "huge", facts, unknown);
    describe(&p->mappings, "mappings", facts, unknown);
    describe(&p->descriptors, "descriptors", facts, unknown);
    json_object_set_new(facts, "unknown", unknown);
    return facts;
}
