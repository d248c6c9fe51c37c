#!/usr/bin/env bats
# forkless-bench: a block or a target that goes wrong, an interruption, a full disk.
# shellcheck disable=SC2030,SC2031,SC2154  # bats runs each test in a subshell; setup and run set the variables

load support

@test "a block that crashes: failed, and the rest is measured" {
    FAULT_KIND=crash LD_PRELOAD=$FAULT run -3 --separate-stderr "$bench" -r 2 -f '^spawn/vfork(/rss:256MiB)?$' -o run.jsonl
    sane
    [ "$(states)" = $'2 failed\n2 measured' ]
    [ "$(reasons | grep -v null)" = "the block was killed by signal 11 (Segmentation fault)" ]
}

@test "a block that hangs: timeout" {
    FAULT_KIND=hang LD_PRELOAD=$FAULT run -3 --separate-stderr "$bench" -r 1 -d 1 -f '^spawn/vfork/rss:256MiB$' -o run.jsonl
    sane
    [ "$(states)" = "1 timeout" ]
    [ "$(reasons)" = "the block was not done after 1 s" ]
}

@test "a block that lies about its memory: failed" {
    FAULT_KIND=lie LD_PRELOAD=$FAULT run -3 --separate-stderr "$bench" -r 1 -f '^spawn/vfork/rss:256MiB$' -o run.jsonl
    sane
    [[ $(reasons) =~ ^"the block has "[0-9]+" MiB of resident memory, not 256 MiB"$ ]]
}

@test "no memory for a size: unsupported, exit 0, and the rest is measured" {
    FAULT_KIND=no-memory LD_PRELOAD=$FAULT run -0 --separate-stderr "$bench" -r 1 -f '^spawn/vfork(/rss:256MiB)?$' -o run.jsonl
    sane
    [ "$(states)" = $'1 measured\n1 unsupported' ]
    [ "$(reasons | grep -v null)" = "the machine gave no memory for the ballast: Cannot allocate memory" ]
}

@test "a cgroup that leaves too little memory: unsupported, before anything is tried" {
    group=/sys/fs/cgroup/memory/forkless-test-$$
    mkdir "$group" 2>/dev/null || skip "no cgroup v1 of memory to write to"
    echo $((200 << 20)) >"$group/memory.limit_in_bytes"
    status=0
    (echo "$BASHPID" >"$group/cgroup.procs" && exec "$bench" -r 1 -f '^spawn/vfork(/rss:256MiB)?$' -o run.jsonl) \
        2>/dev/null || status=$?
    rmdir "$group"
    [ "$status" -eq 0 ]
    [ "$(states)" = $'1 measured\n1 unsupported' ]
    [[ $(reasons | grep -v null) =~ ^"needs 0.3 GiB of memory, 0."[0-9]" GiB are available"$ ]]
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
