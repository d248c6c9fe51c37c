#!/usr/bin/env bats
# forkless-bench: cut off at any byte, and gone on with.
# shellcheck disable=SC2030,SC2031,SC2154  # bats runs each test in a subshell; setup and run set the variables

load support
load resume

@test "cut at any byte after the first line: goes on to the same cells" {
    make_whole
    RANDOM=7
    first=$(head -n 1 whole.jsonl | wc -c) all=$(wc -c <whole.jsonl) end=$(tail -n 1 whole.jsonl | wc -c)
    for at in "$first" $((first + 1)) $((all - 1)) $((all - end)) $((first + RANDOM % (all - first))); do
        head -c "$at" whole.jsonl >run.jsonl
        resumes run.jsonl
    done
    all_valid
}
