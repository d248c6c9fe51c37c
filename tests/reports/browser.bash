# A browser without a screen, and pages for it.
# shellcheck shell=bash

bats_require_minimum_version 1.5.0

setup() {
    command -v chromium >/dev/null || skip "there is no chromium"
    command -v gnuplot >/dev/null || skip "there is no gnuplot"
    cd "$BATS_TEST_TMPDIR" || return
    for run in resumed odd; do
        "${FORKLESS_REPORT:?}" -o $run.html "$BATS_TEST_DIRNAME/runs/$run.jsonl" || [ $? -eq 3 ]
    done
}

browse() {
    HOME=$PWD chromium --headless --no-sandbox --disable-gpu --hide-scrollbars --user-data-dir="$PWD/profile" "$@" 2>said.txt
}
