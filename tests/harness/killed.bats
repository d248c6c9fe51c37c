#!/usr/bin/env bats
# forkless-bench: killed at any moment, and gone on with.
# shellcheck disable=SC2030,SC2031,SC2154  # bats runs each test in a subshell; setup and run set the variables

load support
load resume

@test "killed at any moment: a valid shorter run, which goes on to the same cells" {
    make_whole
    RANDOM=20261130
    times=3
    [ -z "${FORKLESS_TEST_LONG-}" ] || times=50
    shorter=0
    for ((i = 0; i < times; i++)); do
        rm -f run.jsonl
        "$bench" "${small[@]}" -s 5 -o run.jsonl >/dev/null 2>&1 &
        pid=$!
        while [ ! -s run.jsonl ]; do :; done # its first line is there
        sleep "0.$(printf '%03d' $((RANDOM % 400)))"
        kill -KILL $pid 2>/dev/null || true
        wait $pid || true
        [ "$(cells run.jsonl | wc -l)" -eq 8 ] || shorter=$((shorter + 1))
        resumes run.jsonl
    done
    [ $shorter -gt 0 ]
    all_valid
}
