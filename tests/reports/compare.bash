# What the tests of forkless-compare share.
# shellcheck shell=bash
# shellcheck disable=SC2154  # bats sets the variables

bats_require_minimum_version 1.5.0

setup() {
    here=$BATS_TEST_DIRNAME
    compare=${FORKLESS_COMPARE:?}
    cd "$BATS_TEST_TMPDIR" || return
    cp "$here"/runs/{quick,standard,nothing,one-round,resumed,failed,axes}.jsonl .
}

# change FILTER [FROM]: another run than FROM, with its lines changed by jq, in the file b.jsonl.
change() {
    jq -c "if .kind == \"run\" then .started = \"2026-12-01T10:00:00Z\" else . end | $1" "${2-quick.jsonl}" >b.jsonl
}

# slower CELL FACTOR: quick with that cell's calls times FACTOR.
slower() { change "if .cell == \"$1\" then .call |= map(. * $2 | floor) else . end"; }

# golden FILE ARGUMENT...: what it prints or, with -o, writes.
golden() {
    local page=$here/golden/$1
    shift
    run --separate-stderr "$compare" "$@"
    [ -z "$stderr" ]
    [[ " $* " == *" -o "* ]] || printf '%s\n' "$output" >out
    [ "${GOLDEN:-}" != write ] || cat out* >"$page"
    diff -u "$page" <(cat out*)
}

# refused CODE SENTENCE ARGUMENT...
refused() {
    local code=$1 sentence=$2
    shift 2
    run -"$code" --separate-stderr "$compare" "$@"
    [ -z "$output" ]
    [ "$stderr" = "${compare##*/}: $sentence" ]
}
