#!/usr/bin/env bats
# results/schema.json against what is committed, what forkless-bench writes now, and lines that are wrong.
# shellcheck disable=SC2030,SC2031,SC2154  # bats runs each test in a subshell; meson and run set the variables

bats_require_minimum_version 1.5.0

valid() { "$BATS_TEST_DIRNAME/validate" "$SOURCE/results/schema.json" "$@"; }

@test "every committed run is valid" {
    valid "$SOURCE"/results/reference/*.jsonl "$SOURCE"/tests/reports/runs/*.jsonl
}

@test "what forkless-bench writes is valid: measured, failed and cut off" {
    cd "$BATS_TEST_TMPDIR"
    "$FORKLESS_BENCH" -r 1 -f '^spawn/(null|vfork|fork)$' -o measured.jsonl
    printf '#!/bin/sh\nexit 1\n' >target
    chmod +x target
    run -3 "$FORKLESS_BENCH" -r 1 -t ./target -f '^spawn/vfork/target' -o failed.jsonl
    head -c -20 measured.jsonl >cut.jsonl
    valid measured.jsonl failed.jsonl cut.jsonl
}

# wrong FILTER: the first line that jq's filter is applied to makes the run invalid.
wrong() {
    jq -c "$1" "$SOURCE/tests/reports/runs/failed.jsonl" >"$BATS_TEST_TMPDIR/wrong.jsonl"
    run cmp "$SOURCE/tests/reports/runs/failed.jsonl" "$BATS_TEST_TMPDIR/wrong.jsonl"
    [ "$status" -ne 0 ]
    run -1 valid "$BATS_TEST_TMPDIR/wrong.jsonl"
}

@test "a line that is wrong is found" {
    wrong 'if .kind == "run" then .schema = 2 else . end'
    wrong 'if .kind == "run" then del(.seed) else . end'
    wrong 'if .kind == "run" then .cells = [] else . end'
    wrong 'if .kind == "run" then .started = "today" else . end'
    wrong 'if .kind == "run" then .host.cpus = "2" else . end'
    wrong 'if .state == "measured" then .call[0] = -1 else . end'
    wrong 'if .state == "measured" then .call[0] = 1.5 else . end'
    wrong 'if .state == "measured" then del(.total) else . end'
    wrong 'if .state == "failed" then del(.reason) else . end'
    wrong 'if .state == "failed" then .state = "broken" else . end'
    wrong 'if .kind == "block" then .steal = 2 else . end'
    wrong 'if .kind == "block" then .kind = "blocks" else . end'
    wrong 'if .kind == "cell" then del(.round) else . end'
    wrong 'if .kind == "run" then empty else . end'
}
