#include "axes.h"

#include <stdio.h>
#include <string.h>

#include "conflicts.h"
#include "similar.h"
#include "units.h"

#define COUNT(array) (sizeof(array) / sizeof *(array))
#define FIELD(field) .offset = offsetof(struct cell, field)

static void *field_of(const struct axis *axis, struct cell *cell) {
    return (char *)cell + axis->offset;
}

static const void *value_of(const struct axis *axis, const struct cell *cell) {
    return (const char *)cell + axis->offset;
}

static bool parse_size(const struct axis *axis, struct cell *cell, const char *text, char *why,
                       size_t size) {
    if (size_parse(text, field_of(axis, cell)))
        return true;
    snprintf(why, size, "'%s' is not a size such as 0, 256MiB or 1GiB", text);
    return false;
}

static void print_size(const struct axis *axis, const struct cell *cell, char *out, size_t size) {
    size_name(*(const uint64_t *)value_of(axis, cell), out, size);
}

static const struct axis_kind a_size = {true, parse_size, print_size};

static bool parse_time(const struct axis *axis, struct cell *cell, const char *text, char *why,
                       size_t size) {
    if (time_parse(text, field_of(axis, cell)))
        return true;
    snprintf(why, size, "'%s' is not a time such as 0, 20us or 1ms", text);
    return false;
}

static void print_time(const struct axis *axis, const struct cell *cell, char *out, size_t size) {
    time_name(*(const uint64_t *)value_of(axis, cell), out, size);
}

static const struct axis_kind a_time = {true, parse_time, print_time};

static bool parse_count(const struct axis *axis, struct cell *cell, const char *text, char *why,
                        size_t size) {
    uint64_t *n = field_of(axis, cell);
    if (count_parse(text, axis->least, axis->most, n))
        return true;
    snprintf(why, size, "'%s' is not a whole number from %u to %u", text, axis->least, axis->most);
    return false;
}

static void print_count(const struct axis *axis, const struct cell *cell, char *out, size_t size) {
    snprintf(out, size, "%" PRIu64, *(const uint64_t *)value_of(axis, cell));
}

static const struct axis_kind a_count = {true, parse_count, print_count};

static bool parse_word(const struct axis *axis, struct cell *cell, const char *text, char *why,
                       size_t size) {
    uint64_t *word = field_of(axis, cell);
    size_t count = 0;
    for (; axis->words[count]; count++)
        if (strcmp(axis->words[count], text) == 0) {
            *word = count;
            return true;
        }
    const char *meant = similar(text, axis->words, count);
    if (meant) {
        snprintf(why, size, "'%s' is none; did you mean %s?", text, meant);
        return false;
    }
    size_t used = (size_t)snprintf(why, size, "'%s' is not one of", text);
    for (size_t i = 0; i < count && used < size; i++)
        used += (size_t)snprintf(why + used, size - used, "%s %s", i ? "," : "", axis->words[i]);
    return false;
}

static void print_word(const struct axis *axis, const struct cell *cell, char *out, size_t size) {
    snprintf(out, size, "%s", axis->words[*(const uint64_t *)value_of(axis, cell)]);
}

static const struct axis_kind a_word = {false, parse_word, print_word};

static bool parse_strategy(const struct axis *axis, struct cell *cell, const char *text, char *why,
                           size_t size) {
    (void)axis;
    cell->strategy = strategy_find(text);
    if (cell->strategy)
        return true;
    const char *meant = similar(text, strategy_names, strategy_count);
    if (meant)
        snprintf(why, size, "there is no strategy '%s'; did you mean %s?", text, meant);
    else
        snprintf(why, size, "there is no strategy '%s', but fork, vfork, posix_spawn, clone3, ...",
                 text);
    return false;
}

static void print_strategy(const struct axis *axis, const struct cell *cell, char *out,
                           size_t size) {
    (void)axis;
    snprintf(out, size, "%s", cell->strategy ? cell->strategy->name : "");
}

static const struct axis_kind a_strategy = {false, parse_strategy, print_strategy};

static bool parse_attribute(const struct axis *axis, struct cell *cell, const char *text, char *why,
                            size_t size) {
    (void)axis;
    cell->attribute = attribute_find(text);
    if (cell->attribute)
        return true;
    const char *meant = attribute_similar(text);
    if (meant)
        snprintf(why, size, "there is no attribute '%s'; did you mean %s?", text, meant);
    else
        snprintf(why, size, "there is no attribute '%s'; --list names those that there are", text);
    return false;
}

static void print_attribute(const struct axis *axis, const struct cell *cell, char *out,
                            size_t size) {
    (void)axis;
    snprintf(out, size, "%s", cell->attribute->name);
}

static const struct axis_kind an_attribute = {false, parse_attribute, print_attribute};

static const char *each_attribute(size_t i) {
    return i + 1 < attribute_count ? attributes[i + 1].name : NULL;
}

static bool parse_target(const struct axis *axis, struct cell *cell, const char *text, char *why,
                         size_t size) {
    (void)axis;
    cell->target = text;
    return target_check(text, why, size);
}

static void print_target(const struct axis *axis, const struct cell *cell, char *out, size_t size) {
    (void)axis;
    snprintf(out, size, "%s", target_name(cell->target));
}

static const struct axis_kind a_target = {false, parse_target, print_target};

const struct axis axes[] = {
    {.name = "strategy",
     .means = "In place of the matrix's: fork,vfork,posix_spawn,clone3,forkless_spawn,...",
     .kind = &a_strategy,
     .conflicts = strategy_conflicts,
     .always = true,
     FIELD(strategy)},
    {.name = "rss",
     .means = "Sizes of the parent, such as 0,256MiB,1GiB",
     .kind = &a_size,
     .of_ballast = true,
     .always = true,
     FIELD(ballast.rss)},
    {.name = "pages",
     .means = "Of what kind that memory is: 4k, thp, hugetlb, shared, heap, simulated",
     .kind = &a_word,
     .words = page_words,
     .of_ballast = true,
     .conflicts = pages_conflict,
     FIELD(ballast.pages)},
    {.name = "mappings",
     .means = "Small mappings that the parent has besides: 0,50000",
     .kind = &a_count,
     .most = MAPPINGS_MAX,
     .of_ballast = true,
     FIELD(ballast.mappings)},
    {.name = "memory",
     .means = "What the parent does with its memory: idle, rewritten (between spawns), dontfork "
              "(left out of copies)",
     .kind = &a_word,
     .words = memory_words,
     .conflicts = memory_conflicts,
     FIELD(memory)},
    {.name = "threads",
     .means = "Threads of the parent that sleep: 0,64",
     .kind = &a_count,
     .most = THREADS_MAX,
     FIELD(threads)},
    {.name = "gap",
     .means = "The parent's own time before each spawn: 0,20us,1ms",
     .kind = &a_time,
     .always = true,
     FIELD(gap_ns)},
    {.name = "between",
     .means = "What the parent does in that time: work, touch (writes 32 MiB), sleep",
     .kind = &a_word,
     .words = between_words,
     .conflicts = between_conflicts,
     FIELD(between)},
    {.name = "at_once",
     .means = "Spawns in a burst: 1,16",
     .kind = &a_count,
     .least = 1,
     .most = CHILDREN_MAX,
     .always = true,
     FIELD(at_once)},
    {.name = "commands",
     .means = "Commands in all, of which --at-once run at a time: 1,1000",
     .kind = &a_count,
     .least = 1,
     .most = COMMANDS_MAX,
     .conflicts = commands_conflict,
     FIELD(commands)},
    {.name = "fds",
     .means = "Descriptors that the parent has open: 0,19000",
     .kind = &a_count,
     .most = FDS_MAX,
     FIELD(fds)},
    {.name = "spawners",
     .means = "Threads that spawn at the same moment: 1,64",
     .kind = &a_count,
     .least = 1,
     .most = SPAWNERS_MAX,
     .conflicts = spawners_conflict,
     FIELD(spawners)},
    {.name = "pin",
     .means = "Whether caller and children share one CPU: none, caller",
     .kind = &a_word,
     .words = pin_words,
     FIELD(pin)},
    {.name = "load",
     .means = "What the CPUs do besides: idle, others (a busy loop on each but one), all",
     .kind = &a_word,
     .words = load_words,
     FIELD(load)},
    {.name = "attributes",
     .means = "What the library's commands ask for: none,fd,..., or each (--list names them)",
     .kind = &an_attribute,
     .each = each_attribute,
     .conflicts = attribute_conflicts,
     FIELD(attribute)},
    {.name = "victim",
     .means = "A thread that does not spawn, and stands still meanwhile: none, spinner, faulter, "
              "ticker",
     .kind = &a_word,
     .words = victim_words,
     .conflicts = victim_conflicts,
     FIELD(victim)},
    {.name = "place",
     .means = "The victim's CPU: free (the scheduler's choice), beside (the spawner's), away",
     .kind = &a_word,
     .words = place_words,
     .conflicts = place_conflicts,
     FIELD(place)},
    {.name = "after",
     .means = "When the parent writes all its memory once more: none, living (with a child that "
              "waits), gone",
     .kind = &a_word,
     .words = after_words,
     .conflicts = after_conflicts,
     FIELD(after)},
    {.name = "target",
     .letter = 't',
     .means = "What is spawned: tiny, silent, static, dynamic, script, mebibyte, waiter, or a path "
              "with a slash, to a program that ends with status 42",
     .kind = &a_target,
     .conflicts = target_conflicts,
     .always = true,
     FIELD(target)},
    {.name = "traced",
     .means = "Who looks on: no,phases,trace (forkless trace, at the block and its children)",
     .kind = &a_word,
     .of_ballast = true,
     .words = traced_words,
     FIELD(ballast.traced)},
};
const size_t axis_count = COUNT(axes);
_Static_assert(COUNT(axes) <= AXES_MAX, "an entry of a matrix has room for each axis");

const struct axis *axis_find(const char *name) {
    for (size_t i = 0; i < COUNT(axes); i++)
        if (strcmp(axes[i].name, name) == 0)
            return &axes[i];
    return NULL;
}

void axis_option(const struct axis *axis, char *out, size_t size) {
    snprintf(out, size, "--%s", axis->name);
    for (char *c = out; (c = strchr(c, '_'));)
        *c = '-';
}

bool axis_set(const struct axis *axis, struct cell *cell, const char *text, char *why,
              size_t size) {
    return axis->kind->parse(axis, cell, text, why, size);
}

void axis_print(const struct axis *axis, const struct cell *cell, char out[AXIS_TEXT_SIZE]) {
    axis->kind->print(axis, cell, out, AXIS_TEXT_SIZE);
}

bool axis_is_default(const struct axis *axis, const struct cell *cell) {
    char text[AXIS_TEXT_SIZE], usual[AXIS_TEXT_SIZE];
    axis_print(axis, cell, text);
    axis_print(axis, &cell_default, usual);
    return strcmp(text, usual) == 0;
}

uint64_t axis_number(const struct axis *axis, const struct cell *cell) {
    return *(const uint64_t *)value_of(axis, cell);
}

bool axis_set_number(const struct axis *axis, struct cell *cell, int64_t number) {
    char text[AXIS_TEXT_SIZE], why[128];
    if (number < 0)
        return false;
    *(uint64_t *)field_of(axis, cell) = (uint64_t)number;
    axis_print(axis, cell, text);
    return axis_set(axis, cell, text, why, sizeof why);
}

const struct axis *axes_conflict(const struct cell *cell, char *why, size_t size) {
    for (size_t i = 0; i < COUNT(axes); i++)
        if (axes[i].conflicts && axes[i].conflicts(cell, why, size))
            return &axes[i];
    return NULL;
}

bool same_ballast(const struct cell *a, const struct cell *b) {
    bool same = true;
    for (size_t i = 0; i < COUNT(axes) && same; i++)
        if (axes[i].of_ballast)
            same = axis_number(&axes[i], a) == axis_number(&axes[i], b);
    return same;
}

void ballast_name(const struct cell *cell, char *out, size_t size) {
    char text[AXIS_TEXT_SIZE];
    size_t used = 0;
    for (size_t i = 0; i < COUNT(axes) && used < size; i++) {
        bool is_size = axes[i].offset == offsetof(struct cell, ballast.rss);
        if (!axes[i].of_ballast || (!is_size && axis_is_default(&axes[i], cell)))
            continue;
        axis_print(&axes[i], cell, text);
        used += (size_t)snprintf(out + used, size - used, "%s%s%s%s", used ? "/" : "",
                                 is_size ? "" : axes[i].name, is_size ? "" : ":", text);
    }
}
