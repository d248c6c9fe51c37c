#!/usr/bin/env bats
# B105: under a tracer and a debugger.

bats_require_minimum_version 1.5.0
load helpers

setup_file() {
    compile gcc -O0 -g
}

@test "strace -f" {
    need strace
    smoke strace -f -o /dev/null
}

# Only spawn: with start, gdb takes the child for a thread and ends its session at the exec.
@test "gdb" {
    need gdb
    run -0 timeout 25 gdb -q -batch -nx -ex 'break forkless_wait' -ex run -ex continue \
        -ex 'print child->reaped' -ex continue --args "${launch:?}" spawn 5:0 /bin/true
    [[ $output == *'clone3_vfork, exited 0'*'= false'*'clone3_vfork, exited 0'*'exited normally'* ]]
    run -0 timeout 25 gdb -q -batch -nx -ex 'set follow-fork-mode child' -ex run --args \
        "$launch" spawn /bin/true
    [[ $output == *'is executing new program'*'exited normally'* ]]
    run -0 timeout 25 gdb -q -batch -nx -ex run --args "$launch" start /nonexistent
    [[ $output == *'exec: cannot execute'*'exited normally'* ]]
}
