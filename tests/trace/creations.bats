#!/usr/bin/env bats
# forkless-trace: each creation is there once, as what it was, beside processes that do their best to be mistaken.
# shellcheck disable=SC2016,SC2153,SC2154  # meson and bats set the variables; what is quoted is for another shell

load trace

# same KIND CONDITION: all 23 of a kind fit it, and there are no others.
same() {
    traced -- "$CREATOR" "$1" 23
    [ "$(count true)" -eq 23 ]
    [ "$(count "$2")" -eq 23 ]
    # The children are those that the creator knows.
    diff <(awk '{ print $1 }' printed | sort) <(jq -r 'select(.event == "creation") | .child // 0' lines | sort)
    [ "$(jq -c 'select(.event == "end")' lines)" = '{"event":"end","creations":23,"lost":{"records":0,"stacks":0,"entries":0}}' ]
}

@test "23 forks are 23, whatever their children do" {
    same fork-exec '.kind == "fork" and .then == "exec" and .path == "/bin/true" and .error == null'
    same fork-exit '.kind == "fork" and .then == "exit" and .status == 3 and .exec_error == null'
    same fork-killed '.kind == "fork" and .then == "exit" and .signal == 9'
    same fork-missing '.kind == "fork" and .then == "exit" and .status == 127 and .exec_error == "ENOENT" and .path == "/nowhere/program"'
    same clone3 '.kind == "fork" and .system_call == "clone3" and .then == "exec"'
}

@test "23 vfork-class creations are 23" {
    same vfork '.kind == "vfork-class" and .system_call == "vfork" and .then == "exec" and (.flags | index("VFORK"))'
    same posix_spawn '.kind == "vfork-class" and .then == "exec"'
    same clone-vm '.kind == "vfork-class" and .system_call == "clone" and .flags == ["VM"] and .then == "exec"'
}

@test "a creation that fails has its errno and no child" {
    same refused '.child == null and .then == "failed" and .error == "EINVAL"'
}

@test "threads are no creations; what they create is their process's, under their own number" {
    traced -- "$CREATOR" thread 23
    [ "$(count true)" -eq 0 ]
    same thread-vfork '.kind == "vfork-class" and .tid != .pid and .then == "exec"'
}

@test "a child that execs in a thread which is not its first has exec'd" {
    same thread-exec '.kind == "fork" and .then == "exec" and .path == "/bin/true"'
}

@test "children with one and the same number are told apart" {
    same same-number '.then == "exit"'
    [ "$(jq -s 'map(select(.event == "creation").child) | unique | length' lines)" -eq 1 ]
}

@test "the first process of a new namespace has the number that the tracer knows it by" {
    same namespace '.kind == "fork" and .then == "exec" and (.flags | index("NEWPID"))'
}

@test "a tracer in a namespace of its own uses that one's numbers" {
    unshare --pid --fork --mount-proc true || skip "no pid namespaces"
    unshare --pid --fork --mount-proc "$FORKLESS_TRACE" --json -o lines -- "$CREATOR" vfork 23 >printed
    [ "$(count '.then == "exec" and .child < 100')" -eq 23 ]
    diff <(awk '{ print $1 }' printed | sort) <(jq -r 'select(.event == "creation").child' lines | sort)
}
