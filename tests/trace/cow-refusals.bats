#!/usr/bin/env bats
# forkless-cow: what it says when it cannot.
# shellcheck disable=SC2030,SC2031,SC2154  # bats runs each test in a subshell; meson and run set the variables

bats_require_minimum_version 1.5.0
load cow

@test "a process that is not there, a thread of the kernel, or nothing at all: usage" {
    for arguments in "-p 4194304" "-p 2" "-p 0" "-p x" "" "-p 1 true" "-d 0 true" "-i week true" "--json --folded true"; do
        # shellcheck disable=SC2086
        run -2 --separate-stderr "$FORKLESS_COW" $arguments
        [ -z "$output" ]
        [ -n "$stderr" ]
    done
    run -2 "$FORKLESS_COW" -- ./not-there
    [[ $output == *"./not-there cannot be started: "* ]]
    run -2 "$FORKLESS_COW" --svg not/there true
    [ "$output" = "forkless-cow: not/there cannot be written: No such file or directory" ]
}

@test "how the command ended is told; its status is not ours" {
    run -0 --separate-stderr "$FORKLESS_COW" sh -c 'exit 3'
    [ "$stderr" = "forkless-cow: sh ended with status 3" ]
    # shellcheck disable=SC2016
    run -0 --separate-stderr "$FORKLESS_COW" sh -c 'kill -KILL $$'
    [ "$stderr" = "forkless-cow: sh was killed by signal 9 (Killed)" ]
}

@test "without privilege, or the kernel's types: what is missing" {
    run -4 setpriv --bounding-set=-all --inh-caps=-all "$FORKLESS_COW" true
    [[ $output == "forkless-cow: "*CAP_BPF* ]]
    [ "${#lines[@]}" -eq 1 ]
    unshare --mount true || skip "the mounts cannot be unshared here"
    # shellcheck disable=SC2016
    run -4 unshare --mount bash -c 'mount -t tmpfs none /sys/kernel/btf && "$0" true' "$FORKLESS_COW"
    [[ $output == "forkless-cow: "*CONFIG_DEBUG_INFO_BTF* ]]
    [ "${#lines[@]}" -eq 1 ]
    run -4 setpriv --bounding-set=-all,+bpf,+perfmon --inh-caps=-all,+bpf,+perfmon "$FORKLESS_COW" true
    [[ $output == "forkless-cow: "*CAP_SYS_ADMIN* ]]
    [ "${#lines[@]}" -eq 1 ]
}

@test "under 8 MiB of locked memory, and without CAP_SYS_RESOURCE" {
    ulimit -l 8192
    setpriv --bounding-set=-sys_resource "$FORKLESS_COW" --json -- "$WRITER" copies . >found.json
    read_mine
    [ "$mine" = '[997,31,0,0]' ]
}
