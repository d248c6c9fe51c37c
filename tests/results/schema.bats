#!/usr/bin/env bats
# results/schema.json against what is committed, and what forkless-bench writes now.
# shellcheck disable=SC2016,SC2030,SC2031,SC2154  # bats runs each test in a subshell; meson and run set the variables

load support

@test "every committed run is valid" {
    for run in "$SOURCE"/results/reference/*.jsonl "$SOURCE"/tests/reports/runs/*.jsonl; do
        [ "$(basename "$run")" = odd.jsonl ] || runs+=("$run") # its names are none that forkless-bench writes
    done
    valid "${runs[@]}"
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

@test "the axes of a cell are there only where they are not at their defaults" {
    cd "$BATS_TEST_TMPDIR"
    "$FORKLESS_BENCH" calibrate -r 1 --samples 1 --strategy forkless_spawn --rss 0 --fds 0,9 --spawners 1,2 --attributes none,env \
        -o axes.jsonl
    valid axes.jsonl
    jq -se '.[0].cells | length == 9 and (map(has("fds"), has("spawners"), has("attributes"))
        | map(select(.)) | length == 12)' axes.jsonl
    for wrong in 'fds = 0' 'spawners = 1' 'attributes = "none"'; do
        wrong "if .kind == \"run\" then .cells[1].$wrong else . end" axes.jsonl
    done
    found
}

@test "the phases are named as the programs name them" {
    cc -E -P - <<<"#include \"$SOURCE/cases/interval_names.h\"
[INTERVAL_NAMES, \"beyond_call\", \"beyond_ready\", \"beyond_total\"]" >"$BATS_TEST_TMPDIR/names"
    jq -e --slurpfile names "$BATS_TEST_TMPDIR/names" '.definitions.cell.properties.phases.propertyNames.enum == $names[0]' "$SOURCE/results/schema.json"
}
