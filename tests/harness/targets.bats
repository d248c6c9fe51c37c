#!/usr/bin/env bats
# forkless-bench: a target that goes wrong.
# shellcheck disable=SC2030,SC2031,SC2154  # bats runs each test in a subshell; setup and run set the variables

load support

@test "a target that prints a lot is not held up by a pipe that nobody reads" {
    target 'head -c 200000 /dev/zero; exit 42'
    run -0 --separate-stderr "$bench" -r 1 -d 20 -t "$PWD/target" -f '^spawn/vfork/target' -o run.jsonl
    sane
    [ "$(states)" = "1 measured" ]
}

@test "mebibyte, whose output is not captured, is a target like any other" {
    run -0 --separate-stderr "$bench" -r 1 -t mebibyte -f '^spawn/(vfork|forkless_start)/target' -o run.jsonl
    sane
    [ "$(states)" = "2 measured" ]
}

@test "a target that crashes: failed, with its signal" {
    # shellcheck disable=SC2016
    target 'kill -SEGV $$'
    run -3 --separate-stderr "$bench" -r 1 -t "$PWD/target" -f '^spawn/(vfork|forkless_start)/target' -o run.jsonl
    sane
    [ "$(states)" = "2 failed" ]
    [ "$(reasons)" = "the target was killed by signal 11 (Segmentation fault)" ]
}

@test "a target that is not what it should be: failed, with its status" {
    target 'exit 3'
    run -3 --separate-stderr "$bench" -r 1 -t "$PWD/target" -f '^spawn/(fork|posix_spawn|forkless_spawn)/target' -o run.jsonl
    sane
    [ "$(states)" = "3 failed" ]
    [ "$(reasons)" = "the target exited with 3, not 42" ]
}

@test "a target that cannot be executed: each strategy says so in its own way" {
    printf '\177ELF' >target
    chmod +x target
    run -3 --separate-stderr "$bench" -r 1 -t "$PWD/target" -f '^spawn/(fork|forkless_spawn|posix_spawn)/target' -o run.jsonl
    sane
    [ "$(states)" = "3 failed" ]
    [ "$(jq -r 'select(.cell == "spawn/fork/target:target") | .reason' run.jsonl)" = \
        "the target could not be executed (status 127)" ]
    [ "$(jq -r 'select(.cell == "spawn/forkless_spawn/target:target") | .reason' run.jsonl)" = \
        "child 1 of 1 could not be started: Exec format error" ]
}

@test "a target that never ends: timeout, and neither it nor the block is left" {
    target 'sleep 1000'
    run -3 --separate-stderr "$bench" -r 1 -d 1 -t "$PWD/target" -f '^spawn/forkless_start/target' -o run.jsonl
    sane
    [ "$(states)" = "1 timeout" ]
}

@test "a target that kills its block: failed" {
    # shellcheck disable=SC2016
    target 'kill -KILL $PPID; exit 42'
    run -3 --separate-stderr "$bench" -r 1 -t "$PWD/target" -f '^spawn/vfork/target' -o run.jsonl
    sane
    [ "$(reasons)" = "the block was killed by signal 9 (Killed)" ]
}
