#!/usr/bin/env bats
# forkless-cow: its text, pictures and JSON, and what they do not have.
# shellcheck disable=SC2030,SC2031,SC2154  # bats runs each test in a subshell; meson and run set the variables

bats_require_minimum_version 1.5.0
load cow

@test "what comes while the ring is full has its mapping, and its lost stacks are told" {
    # shellcheck disable=SC2016
    "$FORKLESS_COW" --json -- bash -c 'kill -STOP $PPID; "$0" many .; kill -CONT $PPID' "$WRITER" >found.json
    jq -e '(.mappings[] | select(.start == 17592186044416).copies) == 20000' found.json
    jq -e '.lost.stacks > 0 and (.stacks | map(.copies) | add) + .lost.stacks == .total.copies' found.json
}

@test "text fits into 80 columns, and says the same" {
    run -0 --separate-stderr "$FORKLESS_COW" -- "$WRITER" copies .
    [ -z "$stderr" ]
    awk "length > 80 { exit 1 }" <<<"$output"
    [[ $output =~ ^[0-9]+\ copies\ \(.*\),\ [0-9]+\ of\ them\ by\ the\ kernel,\ in\ 2\ processes ]]
    [[ $output =~ anonymous\ 100000000000\ 3.9\ MiB\ +997\ +31\ +0\ +0\ +0\ +0 ]]
    [[ $output =~ \ 966\ +9[0-9]\ %\ \ write_pages\ \<\ write_both_ways\ \<\ in_child ]]
}

@test "folded stacks have a line each, and the pictures are SVG without a script" {
    run -0 --separate-stderr "$FORKLESS_COW" --folded --svg stacks.svg --plot share.svg -i 20ms -- "$WRITER" copies .
    grep -qE '^writer;.*;main;copies;in_child;write_both_ways;write_pages 966$' <<<"$output"
    grep -qE ';read_into_pages;read;\[kernel\] 31$' <<<"$output"
    for picture in stacks.svg share.svg; do
        python3 -c 'import sys, xml.etree.ElementTree as t; assert t.parse(sys.argv[1]).getroot().tag.endswith("}svg")' "$picture"
        run -1 grep -qiE '<script|onclick|href' "$picture"
    done
    grep -q '<title>write_pages: 966 (' stacks.svg
}

@test "output that is closed, full or left" {
    # shellcheck disable=SC2016
    run -1 bash -c '"$0" true >&-' "$FORKLESS_COW"
    [ "$output" = "forkless-cow: standard output is closed" ]
    # shellcheck disable=SC2016
    run -1 bash -c '"$0" true >/dev/full' "$FORKLESS_COW"
    [ "$output" = "forkless-cow: standard output cannot be written: No space left on device" ]
    # shellcheck disable=SC2016
    run -1 bash -o pipefail -c '"$0" sleep 0.2 | true' "$FORKLESS_COW"
    [ "$output" = "forkless-cow: standard output cannot be written: Broken pipe" ]
}
