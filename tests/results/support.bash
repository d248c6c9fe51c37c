# What the tests of the schema share.
# shellcheck shell=bash disable=SC2154 # meson and run set the variables

bats_require_minimum_version 1.5.0

valid() { "$BATS_TEST_DIRNAME/validate" "$SOURCE/results/schema.json" "$@"; }

# wrong FILTER [RUN]: jq's filter, applied to each line, makes the run invalid.
wrong() {
    local right=$SOURCE/tests/reports/runs/${2-failed.jsonl}
    jq -c "$1" "$right" >"$BATS_TEST_TMPDIR/wrong.jsonl"
    run cmp "$right" "$BATS_TEST_TMPDIR/wrong.jsonl"
    [ "$status" -ne 0 ]
    run -1 valid "$BATS_TEST_TMPDIR/wrong.jsonl"
}

# wrong2 FILTER [SENTENCE]: the same of a run of schema 2; the sentence is what validate says.
wrong2() {
    wrong "$1" resumed.jsonl
    [[ $output == *"${2-}"* ]]
}
