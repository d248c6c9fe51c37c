#!/usr/bin/env bats
# The analysis of a run of 1,000 cells; with FORKLESS_TEST_LONG of 1,000,000 samples.

@test "1,000 cells" {
    cd "$BATS_TEST_TMPDIR"
    samples=2
    [ -z "${FORKLESS_TEST_LONG-}" ] || samples=50
    "$BATS_TEST_DIRNAME/make-large" $samples >large.jsonl
    "${ANALYSE:?}" large.jsonl >analysis.json
    jq -e "(.cells | length) == 1000 and all(.cells[]; .figures.call.samples == 20 * $samples)
        and (.growth | length) == 4 * 8 * 25" analysis.json
}
