# What the tests of the pages share.
# shellcheck shell=bash
# shellcheck disable=SC2016,SC2034  # backticks in sed; the tests use the variables

bats_require_minimum_version 1.5.0

setup() {
    here=$BATS_TEST_DIRNAME
    report=${FORKLESS_REPORT:?}
    reference=$here/../../results/reference/2026-11-29-quick.jsonl
    mkdir "$BATS_TEST_TMPDIR/work" # bats keeps files of its own beside it
    cd "$BATS_TEST_TMPDIR/work" || return
    cp "$here"/runs/*.jsonl .
}

with_gnuplot() { command -v gnuplot >/dev/null || skip "there is no gnuplot"; }

# fake SCRIPT: a gnuplot that does so, the only one.
fake() {
    mkdir -p bin
    printf '#!/bin/bash\n%s\n' "$1" >bin/gnuplot
    chmod +x bin/gnuplot
}

# golden NAME STATUS: the run's page in every format, without gnuplot and the style sheet.
golden() {
    local format status file expected=$2
    for format in text html markdown csv; do
        status=0 file=$here/golden/$1.${format/text/txt}
        PATH=/nowhere "$report" -f $format "$1.jsonl" >page 2>said.txt || status=$?
        [ "$status" -eq "$expected" ]
        sed '/<style>/,/<\/style>/d' page >found
        [ "${GOLDEN:-}" != write ] || cp found "$file"
        diff -u "$file" found
        if [ $format = html ]; then
            [ "$(<said.txt)" = "forkless-report: the page has no pictures: gnuplot is not installed" ]
        else
            [ ! -s said.txt ]
        fi
    done
}

# refused STATUS SENTENCE ARGUMENT...: that sentence, and no file is new or other than before.
refused() {
    local before expected=$1 sentence=$2
    shift 2
    before=$(find . -type f -exec md5sum {} + | sort)
    run --separate-stderr "$report" "$@"
    [ "$status" -eq "$expected" ]
    [ -z "$output" ]
    # shellcheck disable=SC2154  # bats sets it
    diff <(echo "forkless-report: $sentence") <(echo "$stderr")
    [ "$before" = "$(find . -type f -exec md5sum {} + | sort)" ]
}
