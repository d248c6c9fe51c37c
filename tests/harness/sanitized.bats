#!/usr/bin/env bats

bats_require_minimum_version 1.5.0

@test "a sanitizer build writes no results and says why" {
    [ "$SANITIZED" != none ] || skip "not a sanitizer build"
    run "$FORKLESS_BENCH" -o "$BATS_TEST_TMPDIR/run.jsonl"
    [ "$status" -eq 4 ]
    [[ $output == "forkless-bench: this is a sanitizer build: its figures would mislead"* ]]
    [ ! -e "$BATS_TEST_TMPDIR/run.jsonl" ]
}

@test "the doctor says so first" {
    [ "$SANITIZED" != none ] || skip "not a sanitizer build"
    run -0 "$FORKLESS_DOCTOR"
    [[ $output == *$'\n\nWARNING  build: a sanitizer build\n'* ]]
}
