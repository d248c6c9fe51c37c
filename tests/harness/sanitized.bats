#!/usr/bin/env bats

@test "a sanitizer build writes no results and says why" {
    [ "$SANITIZED" != none ] || skip "not a sanitizer build"
    run "$FORKLESS_BENCH" -o "$BATS_TEST_TMPDIR/run.jsonl"
    [ "$status" -eq 4 ]
    [[ $output == "forkless-bench: this is a sanitizer build: its figures would mislead"* ]]
    [ ! -e "$BATS_TEST_TMPDIR/run.jsonl" ]
}
