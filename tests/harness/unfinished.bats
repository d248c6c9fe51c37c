#!/usr/bin/env bats
# forkless-bench: what it could not write to the end, or was told to leave, is gone on with.
# shellcheck disable=SC2030,SC2031,SC2154  # bats runs each test in a subshell; setup and run set the variables

load support
load resume

@test "a disk that is full while a line is written: the same" {
    make_whole
    mkdir small
    mount -t tmpfs -o size=12k tmpfs small 2>/dev/null || skip "cannot mount a small file system"
    status=0
    "$bench" "${small[@]}" -s 5 -o small/run.jsonl >/dev/null 2>said || status=$?
    cp small/run.jsonl full.jsonl
    umount small
    [ "$status" -eq 1 ]
    [ "$(tail -c 1 full.jsonl | wc -l)" -eq 0 ] # the last line is cut
    resumes full.jsonl
    all_valid
}

@test "a limit on the file's size that cuts a line: the same" {
    make_whole
    # In blocks of 1,024 bytes: the first boundary that is well within the lines after the first.
    blocks=$((($(head -n 1 whole.jsonl | wc -c) + 2500) / 1024))
    status=0
    (ulimit -f $blocks && exec "$bench" "${small[@]}" -s 5 -o limit.jsonl) >/dev/null 2>said || status=$?
    [ "$status" -eq 1 ]
    grep 'limit.jsonl cannot be written: File too large' said
    [ "$(wc -c <limit.jsonl)" -eq $((blocks * 1024)) ]
    [ "$(tail -c 1 limit.jsonl | wc -l)" -eq 0 ] # the last line is cut
    resumes limit.jsonl
    all_valid
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
    all_valid
    [ "$(jq -r .kind run.jsonl | grep -c '^resume$')" -eq 1 ]
}
