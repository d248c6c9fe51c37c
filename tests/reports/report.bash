# What the tests of forkless-report share.
# shellcheck shell=bash
# shellcheck disable=SC2034  # the tests use the variables

bats_require_minimum_version 1.5.0

setup() {
    here=$BATS_TEST_DIRNAME
    report=${FORKLESS_REPORT:?}
    bounds=$here/../../results/bounds.json
    cd "$here/runs" || return
}

# golden NAME STATUS ARGUMENT...: the page, its exit code, its silence and its width.
golden() {
    local page=$here/golden/$1.txt found=$BATS_TEST_TMPDIR/page status=0 expected=$2
    shift 2
    "$report" "$@" >"$found" 2>"$BATS_TEST_TMPDIR/talk" || status=$?
    [ "${GOLDEN:-}" != write ] || cp "$found" "$page"
    diff -u "$page" "$found"
    [ "$status" -eq "$expected" ]
    [ ! -s "$BATS_TEST_TMPDIR/talk" ]
    [ "$(wc -L <"$found")" -le 80 ]
}

# refused SENTENCE ARGUMENT...: nothing on stdout, one sentence on stderr, exit 2.
refused() {
    local status=0 expected="${report##*/}: $1"
    shift
    "$report" "$@" >"$BATS_TEST_TMPDIR/page" 2>"$BATS_TEST_TMPDIR/talk" || status=$?
    diff -u <(echo "$expected") "$BATS_TEST_TMPDIR/talk"
    [ "$status" -eq 2 ]
    [ ! -s "$BATS_TEST_TMPDIR/page" ]
}

# changed LINE SED_SCRIPT: the run one-round with one line changed, in the file `bad`.
changed() {
    cd "$BATS_TEST_TMPDIR" || return
    sed "$1 $2" "$here/runs/one-round.jsonl" >bad
    ! cmp -s bad "$here/runs/one-round.jsonl"
}

# altered FILTER: the run resumed with its lines changed by jq, in the file `bad`.
altered() {
    cd "$BATS_TEST_TMPDIR" || return
    jq -c "$1" "$here/runs/resumed.jsonl" >bad
    ! cmp -s bad "$here/runs/resumed.jsonl"
}
