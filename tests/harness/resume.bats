#!/usr/bin/env bats
# forkless-bench --resume: what is left, what comes out, what is refused.
# shellcheck disable=SC2030,SC2031,SC2154  # bats runs each test in a subshell; setup and run set the variables

load support
load resume

@test "nothing left: says so and changes nothing; with more rounds: those" {
    make_whole
    cp whole.jsonl run.jsonl
    run -0 --separate-stderr "$bench" --resume run.jsonl
    [ "$output" = run.jsonl ]
    [ "$stderr" = "bench: nothing is left to do: all 4 cells of 2 rounds are there" ]
    cmp run.jsonl whole.jsonl
    "$bench" --resume run.jsonl -r 3 2>/dev/null
    valid run.jsonl
    [ "$(cells run.jsonl | wc -l)" -eq 12 ]
    cmp -n "$(wc -c <whole.jsonl)" run.jsonl whole.jsonl
}

@test "the orders are those of a run that was never broken off" {
    "$bench" -r 4 -s 9 --strategy vfork --rss 0,1MiB,2MiB,3MiB --gap 1ms --at-once 1 --samples 1 -f vfork -o whole.jsonl 2>/dev/null
    order() { jq -c 'select(.kind == "cell") | [.round, .cell]' "$1"; }
    order whole.jsonl >whole.order
    for lines in 2 6 13; do
        head -n $lines whole.jsonl >run.jsonl
        "$bench" --resume run.jsonl 2>/dev/null
        order run.jsonl | cmp - whole.order
    done
}

@test "cells that failed before count in the exit status" {
    target 'exit 3'
    "$bench" -r 1 --strategy vfork --rss 0,1MiB --gap 1ms --at-once 1 --samples 2 -t ./target -o run.jsonl 2>/dev/null || true
    run -3 --separate-stderr "$bench" --resume run.jsonl -t ./target
    jq -c 'if .kind == "end" then .interrupted = true else . end' run.jsonl >again.jsonl
    run -3 --separate-stderr "$bench" --resume again.jsonl -t ./target
    valid again.jsonl
}

@test "a target of one's own is asked for again" {
    target 'exit 42'
    "$bench" -r 2 --strategy vfork --rss 0 --gap 1ms --at-once 1 --samples 2 -t ./target -o whole.jsonl 2>/dev/null
    head -n 2 whole.jsonl >run.jsonl
    run -2 --separate-stderr "$bench" --resume run.jsonl
    [ "$stderr" = "forkless-bench: run.jsonl: its target is a program 'target': say where with --target PATH" ]
    mkdir other
    printf '#!/bin/sh\nexit 42 # another\n' >other/target
    chmod +x other/target
    run -2 --separate-stderr "$bench" --resume run.jsonl -t other/target
    [ "$stderr" = "forkless-bench: run.jsonl: other/target is not the program that it was measured with" ]
    run -0 --separate-stderr "$bench" --resume run.jsonl -t ./target
    valid run.jsonl
    [ "$(cells run.jsonl)" = "$(cells whole.jsonl)" ]
}

# refused FILE SENTENCE OPTION...: exit 2, that sentence, the file as it was.
refused() {
    local file=$1 sentence=$2
    shift 2
    cp "$file" before
    run -2 --separate-stderr "$bench" --resume "$file" "$@"
    [ "$stderr" = "forkless-bench: $sentence" ] || { echo "$stderr"; false; }
    [ -z "$output" ]
    cmp "$file" before
}

@test "what cannot be gone on with" {
    make_whole
    all="--resume takes all from its file but --rounds, --deadline and the path of a --target"
    refused whole.jsonl "$all" -s 3
    refused whole.jsonl "$all" --rss 0
    refused whole.jsonl "$all" -o new
    refused whole.jsonl "$all" --plan
    refused whole.jsonl "$all" --list
    refused whole.jsonl "whole.jsonl: it is a run of the matrix quick, not of standard" standard
    refused whole.jsonl "whole.jsonl: it has 2 rounds, and cannot have fewer" -r 1
    echo text >text
    refused text "text: this is no forkless results file"
    echo '{"kind":"cell"}' >text
    refused text "text: this is no forkless results file"
    : >empty
    refused empty "empty: there is no whole line in it: no run began"
    head -c 50 whole.jsonl >piece
    refused piece "piece: there is no whole line in it: no run began"
    for line in '{"kind":"cell","round":0,"cell":"spawn/spork","state":"measured"}' '{"kind":"end","interrupted":false}' \
        '{"kind":"noise"}' '["cell"]' "$(grep -m 1 '"kind":"cell"' whole.jsonl)" "$(sed -n 1p whole.jsonl)" \
        '{"kind":"resume","rounds":1}'; do
        (cat whole.jsonl && printf '%s\n' "$line") >strange
        refused strange "strange: line $(wc -l <strange) is no line of this run"
    done
    (grep -v '"kind":"end"' whole.jsonl && grep -m 1 '"kind":"cell"' whole.jsonl) >strange
    refused strange "strange: line $(wc -l <strange) is no line of this run"
    jq -c '.schema? |= (if . then 1 else empty end)' whole.jsonl >old
    refused old "old: it is of schema 1, only runs of schema 2 can be gone on with"
    jq -c 'if .kind == "run" then .build.library = "00" else . end' whole.jsonl >other
    refused other "other: it was measured with another libforkless, and the figures would mix"
    jq -c 'if .kind == "run" then .host.kernel = "5.4" else . end' whole.jsonl >other
    refused other "other: it was measured with another kernel, and the figures would mix"
    run -2 --separate-stderr "$bench" --resume no/such/file
    [ "$stderr" = "forkless-bench: no/such/file cannot be opened: No such file or directory" ]
}

@test "two runs into one file at the same time" {
    "$bench" "${small[@]}" -r 1000 -o run.jsonl >/dev/null 2>&1 &
    pid=$!
    while [ ! -s run.jsonl ]; do :; done
    run -2 --separate-stderr "$bench" --resume run.jsonl
    [ "$stderr" = "forkless-bench: run.jsonl is being written by another run" ]
    run -2 --separate-stderr "$bench" "${small[@]}" -o run.jsonl
    [ "$stderr" = "forkless-bench: run.jsonl cannot be made: File exists; --resume goes on with a run" ]
    kill -KILL $pid
    wait $pid || true
    for _ in $(seq 50); do
        [ -n "$(left)" ] || break
        sleep 0.1
    done
    [ -z "$(left)" ]
}
