#!/usr/bin/env bats
# spawn/policy.h is what the run that it names decides.

bats_require_minimum_version 1.5.0

: "${FORKLESS_SOURCE:=$BATS_TEST_DIRNAME/../..}"
policy=$FORKLESS_SOURCE/spawn/policy.h

setup() {
    cd "$BATS_TEST_TMPDIR" || exit
    run=$(grep -m 1 -oE 'results/reference/[^:]*\.jsonl' "$policy")
}

choose() {
    "$FORKLESS_SOURCE/scripts/choose-strategy" "$@" 2>said
}

@test "header and run agree" {
    choose -o policy.h "$FORKLESS_SOURCE/$run"
    diff "$policy" policy.h
}

@test "its run is the newest of the standard matrix" {
    choose -o policy.h
    diff "$policy" policy.h
}

@test "other figures choose another mechanism" {
    sed 's/floor_vm/floor_x/g; s/floor_vfork/floor_vm/g; s/floor_x/floor_vfork/g' "$FORKLESS_SOURCE/$run" >swapped.jsonl
    choose -o policy.h swapped.jsonl
    grep '^#define FL_START_MECHANISM FORKLESS_CLONE3_VFORK$' policy.h
}

@test "other figures choose another number at once" {
    jq -c 'if .cell == "batch/forkless_batch/rss:1GiB/at_once:4/commands:1000" then .total |= map(. * 2) else . end' \
        "$FORKLESS_SOURCE/$run" >slower.jsonl
    choose -o policy.h slower.jsonl
    grep '^#define FL_AT_ONCE_PER_CPU 1$' policy.h
}

# without PATTERN: the run without the cells of these strategies.
without() {
    jq -c --arg of "$1" 'if .kind == "run" then .cells |= map(select(.strategy | test($of) | not))
        elif .cell // "" | split("/")[1] // "" | test($of) then empty else . end' "$FORKLESS_SOURCE/$run" >without.jsonl
}

@test "a run without the figures writes nothing" {
    without '^forkless_batch$'
    run -4 choose -o policy.h without.jsonl
    grep 'without.jsonl: forkless_batch is not measured with 1000 commands at 1 GiB' said
    without '^floor_'
    run -4 choose -o policy.h without.jsonl
    grep 'without.jsonl: floor_vm and floor_vfork are not measured at 1 GiB' said
    [ ! -e policy.h ]
}

@test "a bad file, and bad usage" {
    echo nonsense >bad
    run -2 choose -o policy.h bad
    run -2 choose -o policy.h one two
    run -2 choose --what
    [ ! -e policy.h ]
}
