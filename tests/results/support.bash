# What the tests of the schema share.
# shellcheck shell=bash disable=SC2154 # meson and run set the variables

bats_require_minimum_version 1.5.0

valid() { "$BATS_TEST_DIRNAME/validate" "$SOURCE/results/schema.json" "$@"; }

# wrong FILTER [RUN [SENTENCE]]: jq's filter, applied to each line, makes the run another; found has it validated.
sentences=()
wrong() {
    local right=$SOURCE/tests/reports/runs/${2-failed.jsonl} made=$BATS_TEST_TMPDIR/wrong.${#sentences[@]}
    jq -c "$1" "$right" >"$made"
    run -1 cmp "$right" "$made"
    sentences+=("${3-}")
}

# wrong2 FILTER [SENTENCE]: the same of a run of schema 2.
wrong2() { wrong "$1" resumed.jsonl "${2-}"; }

# found: each is invalid, and validate says its sentence of it. All at once: most of the time goes to python's start.
found() {
    local number
    cd "$BATS_TEST_TMPDIR" || return
    [ "${#sentences[@]}" -gt 0 ]
    run -1 valid wrong.*
    for number in "${!sentences[@]}"; do
        grep "^wrong\.$number:[0-9]*: " <<<"$output" | grep -F -e "${sentences[number]}"
    done
}
