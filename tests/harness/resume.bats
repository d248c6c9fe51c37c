#!/usr/bin/env bats
# forkless-bench: broken off, and gone on with.
# shellcheck disable=SC2030,SC2031,SC2154  # bats runs each test in a subshell; setup and run set the variables

load support

# Four cells in two rounds, of two sizes of parent.
small=(-r 2 --strategy 'vfork,forkless_start' --rss '0,4MiB' --gap 1ms --at-once 1 --samples 40 -f '^spawn/(vfork|forkless)')

valid() { "$BATS_TEST_DIRNAME/../results/validate" "$SCHEMA" "$@"; }
cells() { jq -r 'select(.kind == "cell") | "\(.round) \(.cell) \(.state)"' "$1" | sort; }

# resumes FILE: it is valid, goes on to the cells of whole.jsonl, and is valid then.
resumes() {
    valid "$1"
    "$bench" --resume "$1" >/dev/null 2>said || { cat said; false; }
    valid "$1"
    cells "$1" | cmp - whole.cells
    [ "$(tail -n 1 "$1" | jq -c '[.kind, .interrupted]')" = '["end",false]' ]
    sane_file "$1"
}
sane_file() { [ "$(head -n 1 "$1" | jq -r .kind)" = run ] && [ -z "$(left)" ]; }

make_whole() {
    "$bench" "${small[@]}" -s 5 -o whole.jsonl >/dev/null 2>&1
    cells whole.jsonl >whole.cells
    [ "$(wc -l <whole.cells)" -eq 8 ]
}

@test "killed at any moment: a valid shorter run, which goes on to the same cells" {
    make_whole
    RANDOM=20261130
    times=3
    [ -z "${FORKLESS_TEST_LONG-}" ] || times=50
    shorter=0
    for ((i = 0; i < times; i++)); do
        rm -f run.jsonl
        "$bench" "${small[@]}" -s 5 -o run.jsonl >/dev/null 2>&1 &
        pid=$!
        while [ ! -s run.jsonl ]; do :; done # its first line is there
        sleep "0.$(printf '%03d' $((RANDOM % 400)))"
        kill -KILL $pid 2>/dev/null || true
        wait $pid || true
        [ "$(cells run.jsonl | wc -l)" -eq 8 ] || shorter=$((shorter + 1))
        resumes run.jsonl
    done
    [ $shorter -gt 0 ]
}

@test "cut at any byte after the first line: the same" {
    make_whole
    RANDOM=7
    first=$(head -n 1 whole.jsonl | wc -c) all=$(wc -c <whole.jsonl)
    for at in "$first" $((first + 1)) $((all - 1)) $((first + RANDOM % (all - first))); do
        head -c "$at" whole.jsonl >run.jsonl
        resumes run.jsonl
    done
}

@test "a write cut short by a full disk or a limit: the same" {
    make_whole
    mkdir small
    mount -t tmpfs -o size=12k tmpfs small 2>/dev/null || skip "cannot mount a small file system"
    status=0
    "$bench" "${small[@]}" -s 5 -o small/run.jsonl >/dev/null 2>said || status=$?
    cp small/run.jsonl full.jsonl
    umount small
    [ "$status" -eq 1 ]
    [ "$(tail -c 1 full.jsonl)" = '}' ] || [ "$(tail -c 1 full.jsonl | wc -l)" -eq 0 ]
    resumes full.jsonl

    status=0
    (ulimit -f 7 && exec "$bench" "${small[@]}" -s 5 -o limit.jsonl) >/dev/null 2>said || status=$?
    [ "$status" -eq 1 ]
    grep -q 'limit.jsonl cannot be written: File too large' said
    [ "$(wc -c <limit.jsonl)" -eq 7168 ]
    [ "$(tail -c 1 limit.jsonl | wc -l)" -eq 0 ] # the last line is cut
    resumes limit.jsonl
}

@test "interrupted: goes on after the end line" {
    make_whole
    set -m
    "$bench" "${small[@]}" -s 5 -o run.jsonl >/dev/null 2>&1 &
    pid=$!
    set +m
    while [ ! -e run.jsonl ] || [ "$(wc -l <run.jsonl)" -lt 2 ]; do sleep 0.02; done
    kill -INT $pid
    status=0
    wait $pid || status=$?
    [ $status -eq 130 ]
    resumes run.jsonl
    [ "$(jq -r .kind run.jsonl | grep -c '^resume$')" -eq 1 ]
}

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

@test "a target of one's own is asked for again" {
    target 'exit 42'
    "$bench" -r 2 --strategy vfork --rss 0 --gap 1ms --at-once 1 --samples 2 -t ./target -o whole.jsonl 2>/dev/null
    head -n 2 whole.jsonl >run.jsonl
    run -2 --separate-stderr "$bench" --resume run.jsonl
    [ "$stderr" = "forkless-bench: run.jsonl: its target is a program 'target': say where with --target PATH" ]
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
    (cat whole.jsonl && echo '{"kind":"cell","round":0,"cell":"spawn/spork","state":"measured"}') >strange
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
