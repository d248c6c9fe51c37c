#!/usr/bin/env bats
# forkless-bench: a planted disturbance is marked in the record and said in the report.
# shellcheck disable=SC2030,SC2031,SC2154  # bats runs each test in a subshell; setup and run set the variables

load support

@test "a hog for some seconds: its blocks are marked, and the report says so" {
    "$bench" -r 3 --strategy vfork,posix_spawn --rss 0,1MiB --gap 1ms --at-once 1 --samples 150 -o run.jsonl \
        >/dev/null 2>&1 &
    pid=$!
    while [ ! -s run.jsonl ]; do :; done
    timeout 5 sh -c 'while :; do :; done' &
    hog=$!
    wait $pid
    kill $hog 2>/dev/null || true
    wait $hog || true
    sane
    [ "$(jq -c 'select(.disturbed) | select(.other > 0)' run.jsonl | wc -l)" -ge 3 ]
    [ "$(states)" = "15 measured" ] # nothing is dropped
    run -0 "$FORKLESS_REPORT" run.jsonl
    said=$(tr -s ' \n' ' ' <<<"$output")
    [[ $said =~ [0-9]" of 6 blocks were disturbed ("[^\;]*"; at worst other programs used "[0-9.]+" of "[0-9]+" CPUs); their samples are kept" ]]
}
