#!/usr/bin/env bats
# forkless-bench: interrupted, killed, out of space.
# shellcheck disable=SC2030,SC2031,SC2154  # bats runs each test in a subshell; setup and run set the variables

load support

@test "Ctrl-C: a valid shorter file, exit 130, nothing left" {
    for signal in INT TERM; do
        rm -f run.jsonl
        # Not `&` alone: a background job of a shell without job control ignores SIGINT.
        set -m
        "$bench" -r 1000 -f '^spawn/(vfork|clone3)(/rss:256MiB)?$' -o run.jsonl >/dev/null 2>said &
        pid=$!
        set +m
        for _ in $(seq 100); do
            [ "$(grep -c measured run.jsonl 2>/dev/null)" -ge 3 ] && break
            sleep 0.1
        done
        kill -$signal $pid
        status=0
        wait $pid || status=$?
        [ "$status" -eq 130 ]
        sane
        grep -q "interrupted; run.jsonl holds what was measured until then" said
        tail -n 1 run.jsonl | jq -e '.kind == "end" and .interrupted'
        [ "$(states | sed 's/[0-9]* //')" = measured ]
    done
}

@test "killed outright: the block does not outlive it, and the file is a valid shorter run" {
    "$bench" -r 1000 -f '^spawn/vfork/rss:256MiB$' -o run.jsonl >/dev/null 2>&1 &
    pid=$!
    for _ in $(seq 100); do
        grep -q measured run.jsonl 2>/dev/null && break
        sleep 0.1
    done
    kill -KILL $pid
    wait $pid || true
    for _ in $(seq 50); do
        [ -n "$(left)" ] || break
        sleep 0.1
    done
    sane
    [ "$(jq -r .kind run.jsonl | grep -c end)" -eq 0 ]
}

@test "no space: one sentence, exit 1, what was written stays valid" {
    mkdir small
    mount -t tmpfs -o size=16k tmpfs small 2>/dev/null || skip "cannot mount a small file system"
    run -1 --separate-stderr "$bench" -r 1000 -f '^spawn/(vfork|clone3)$' -o small/run.jsonl
    grep '}$' small/run.jsonl >run.jsonl
    umount small
    [ "${stderr##*$'\n'}" = "forkless-bench: small/run.jsonl cannot be written: No space left on device; it holds what was measured until then" ]
    [ "$(wc -l <run.jsonl)" -ge 2 ]
    sane
}
