#!/usr/bin/env bats
# The recipe for CI of forkless-compare(1), with runs that are measured here and a strategy that really got slower.
# shellcheck disable=SC2154  # meson and run set the variables

bats_require_minimum_version 1.5.0

measure() {
    "$FORKLESS_BENCH" -r 12 --strategy floor_vfork,vfork,posix_spawn --rss 0 --gap 1ms --at-once 1 --samples 8 \
        -o "$1" >/dev/null
}

@test "a strategy that got slower fails the gate, and it alone" {
    cd "$BATS_TEST_TMPDIR"
    measure baseline.jsonl
    LD_PRELOAD=$SLOW measure new.jsonl
    run -5 "$FORKLESS_COMPARE" baseline.jsonl new.jsonl --fail-above 5% --ignore-below 2us
    local compared=$output file
    grep -E '^!posix_spawn .*\+[0-9.]+%' <<<"$compared"
    # The other way round it got faster, and that fails nothing.
    "$FORKLESS_COMPARE" new.jsonl baseline.jsonl --filter posix_spawn --fail-above 5% --ignore-below 2us
    # On a CPU that is busy for one of the runs only, vfork did get slower.
    for file in baseline.jsonl new.jsonl; do
        [ "$(grep -c '"disturbed"' "$file")" -lt 6 ] || skip "other programs disturbed half the blocks of $file"
    done
    run ! grep -E '^!vfork' <<<"$compared"
}
