#include "disturbance.h"

#include "analysis.h"
#include "memory.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { MOST_LISTED = 6 };

static double taken(const struct block *block) {
    return block->other + block->steal;
}

static const struct block *worst_block(const struct run *run) {
    const struct block *worst = NULL;
    for (size_t i = 0; i < run->block_count; i++) {
        const struct block *block = &run->blocks[i];
        if (block->disturbed && (!worst || taken(block) > taken(worst)))
            worst = block;
    }
    return worst;
}

/* "round 3", "rounds 3, 4 and 7", "11 rounds", with their numbers in the file. */
static char *describe_disturbed_rounds(const struct run *run) {
    bool *hit = must(calloc(run->rounds, sizeof *hit));
    size_t count = 0, listed = 0;
    for (size_t i = 0; i < run->block_count; i++) {
        const struct block *block = &run->blocks[i];
        count += block->disturbed && !hit[block->round];
        hit[block->round] |= block->disturbed != NULL;
    }
    char *list = count > MOST_LISTED ? sentence("%zu rounds", count)
                                     : sentence("round%s", count == 1 ? "" : "s");
    for (size_t round = 0; count <= MOST_LISTED && round < run->rounds; round++) {
        if (!hit[round])
            continue;
        const char *before = listed == 0 ? " " : listed + 1 == count ? " and " : ", ";
        char *more = sentence("%s%s%zu", list, before, round);
        free(list);
        list = more;
        listed++;
    }
    free(hit);
    return list;
}

char *describe_disturbance(const struct run *run) {
    size_t count = count_disturbed(run);
    if (count == 0)
        return NULL;
    char *rounds = describe_disturbed_rounds(run);
    bool one = count == 1;
    char *text = sentence("%zu of %zu blocks %s disturbed (%s; %s%s); %s samples are kept", count,
                          run->block_count, one ? "was" : "were", rounds, one ? "" : "at worst ",
                          worst_block(run)->disturbed, one ? "its" : "their");
    free(rounds);
    return text;
}

static bool is_known(const struct finding *const *warnings, size_t count,
                     const struct finding *finding) {
    for (size_t i = 0; i < count; i++)
        if (!strcmp(warnings[i]->name, finding->name) &&
            !strcmp(warnings[i]->found, finding->found))
            return true;
    return false;
}

const struct finding **find_warnings(const struct run *run, size_t *count) {
    const struct finding **warnings = must(calloc(run->finding_count + 1, sizeof *warnings));
    *count = 0;
    for (size_t i = 0; i < run->finding_count; i++) {
        const struct finding *finding = &run->findings[i];
        if (finding->level == WARNING && !is_known(warnings, *count, finding))
            warnings[(*count)++] = finding;
    }
    return warnings;
}
