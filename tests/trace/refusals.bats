#!/usr/bin/env bats
# forkless-trace: what it refuses, in one sentence.
# shellcheck disable=SC2016,SC2153,SC2154  # meson and bats set the variables; what is quoted is for another shell

load trace

@test "usage" {
    refused 2 "--pid: '0' is not the number of a process" -p 0
    refused 2 "--pid: '12x' is not the number of a process" -p 12x
    refused 2 "there is no process 4000000" -p 4000000
    refused 2 "either --pid or a command, not both" -p 1 -- true
    refused 2 "either --forbid or --summary, not both" --forbid fork -s -- true
    refused 2 "--forbid: 'exec' cannot be forbidden, only fork" --forbid exec
    refused 2 "--longer-than: '1' is no time, such as 500us, 20ms or 10s" --longer-than 1
    refused 2 "--duration: '0' is no time, such as 500us, 20ms or 10s" --duration 0
    refused 2 "--count: '-1' is no number of creations" --count=-1
    refused 2 "cannot execute /nowhere/program: No such file or directory*" -o /dev/null -- /nowhere/program
    refused 2 "/nowhere/file cannot be written: No such file or directory" -o /nowhere/file -- true
}

@test "a thread is no process" {
    "$CREATOR" large 1 20000000 >/dev/null & # its threads live as long
    pid=$!
    until [ "$(find /proc/$pid/task -mindepth 1 -maxdepth 1 | wc -l)" -gt 1 ]; do sleep 0.02; done
    thread=$(find /proc/$pid/task -mindepth 1 -maxdepth 1 -printf '%f\n' | grep -vx $pid | head -n 1)
    refused 2 "$thread is a thread of process $pid" -p "$thread"
    kill $pid
}

@test "without the privilege, or the kernel's types" {
    run -4 --separate-stderr setpriv --bounding-set -all --inh-caps -all "$FORKLESS_TRACE"
    [ "$stderr" = "forkless-trace: tracing needs CAP_BPF and CAP_PERFMON: run it as root" ]
    unshare --mount true || skip "the mounts cannot be unshared here"
    mkdir empty
    run -4 --separate-stderr unshare --mount sh -c 'mount --bind empty /sys/kernel/btf && exec "$0"' "$FORKLESS_TRACE"
    [[ $stderr == "forkless-trace: /sys/kernel/btf/vmlinux cannot be read (No such file or directory): the kernel has to be built with "* ]]
}

@test "with these two privileges alone, 8 MiB to lock, and no CAP_SYS_RESOURCE" {
    (
        ulimit -l 8192
        setpriv --bounding-set -all,+bpf,+perfmon --inh-caps -all "$FORKLESS_TRACE" --json -o lines -- "$CREATOR" vfork 23 10000 >printed
    )
    [ "$(count '.then == "exec"')" -eq 23 ]
}

@test "an output that is closed, full, or that nobody reads any more" {
    run -1 bash -c '"$FORKLESS_TRACE" >&-'
    [ "$output" = "forkless-trace: standard output is closed" ]
    run -1 "$FORKLESS_TRACE" -o /dev/full -- true
    [ "$output" = "forkless-trace: /dev/full cannot be written: No space left on device" ]
    # It notices without anything to write.
    run -1 bash -c 'set -o pipefail; "$FORKLESS_TRACE" --json --duration 20s -p $$ | true'
    [ "$output" = "forkless-trace: standard output cannot be written: Broken pipe" ]
}
