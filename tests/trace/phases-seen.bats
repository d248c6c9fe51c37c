#!/usr/bin/env bats
# forkless-trace --phases: what is seen of children of any kind, and what is not.
# shellcheck disable=SC2016,SC2153,SC2154  # meson and bats set the variables; what is quoted is for another shell

load trace

phased() { traced --phases "$@"; }

# Of a child that execs: what is known is not negative, and the parts are the whole. The kernel may miss a child's first
# switch where many are made: then `wake` and `enter` are not known.
whole='[.create, .wake, .enter, .set_up, .exec, .load, .run, .reap] as $parts
    | ($parts | all(. == null or . >= 0)) and .ready + .run + .reap == .total
    and if .wake == null then .enter == null and .waited == null
        else ($parts[:6] | add) == .ready and .waited >= 0 and .waited <= .ready end'

@test "each way to wait is seen; nobody waits for a child whose parent ignores it" {
    phased -- "$CREATOR" waitid 23
    [ "$(count '.phases.total != null')" -eq 23 ]
    phased -- "$CREATOR" ignored 23
    [ "$(count '.phases | .run != null and .reap == null and .total == null')" -eq 23 ]
}

@test "children with one and the same number are told apart" {
    phased -- "$CREATOR" same-number 23
    [ "$(count '.phases.total != null')" -eq 23 ]
}

@test "a child that runs on is shown with what is known by then" {
    phased -- "$CREATOR" fork-late 1
    [ "$(count '.then == "runs_on" and (.phases | .enter != null and .exec == null and .run == null)')" -eq 1 ]
}

@test "in a pid namespace of their own, seen from outside" {
    unshare --pid --fork --mount-proc true || skip "no pid namespaces"
    phased -- unshare --pid --fork --mount-proc "$CREATOR" vfork 23
    [ "$(count ".program == \"creator\" and (.phases | $whole)")" -eq 23 ]
}

@test "a tracer in a namespace of its own" {
    unshare --pid --fork --mount-proc true || skip "no pid namespaces"
    unshare --pid --fork --mount-proc "$FORKLESS_TRACE" --phases --json -o lines -- "$CREATOR" vfork 23 >printed
    [ "$(count ".phases | $whole")" -eq 23 ]
}

@test "a 32-bit program's phases" {
    [ -n "$CREATOR32" ] && "$CREATOR32" || skip "no 32-bit programs here"
    phased -- "$CREATOR32"
    [ "$(count '.phases | .enter != null and .run != null and .total != null')" -eq 4 ]
}
