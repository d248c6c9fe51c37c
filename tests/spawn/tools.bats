#!/usr/bin/env bats
# B105: under tracers, debuggers and emulators.

bats_require_minimum_version 1.5.0
load helpers

@test "strace -f" {
    need strace
    compile gcc -O2
    smoke strace -f -o /dev/null
}

# Which versions know clone3 or run vfork as vfork is theirs; 3.19 does neither.
@test "b24: valgrind" {
    need valgrind
    compile gcc -O1 -g
    valgrind=(valgrind -q --leak-check=full --error-exitcode=9)
    run -0 timeout 20 "${valgrind[@]}" "${launch:?}" spawn /bin/true
    if [[ ${lines[1]} == *'Operation not supported'* ]]; then
        refused "${valgrind[@]}"
    else
        smoke "${valgrind[@]}"
    fi
}

# Only spawn: with start, gdb takes the child for a thread and ends its session at the exec.
@test "gdb" {
    need gdb
    compile gcc -O0 -g
    run -0 timeout 25 gdb -q -batch -nx -ex 'break forkless_wait' -ex run -ex continue \
        -ex 'print child->reaped' -ex continue --args "$launch" spawn 5:0 /bin/true
    [[ $output == *'clone3_vfork, exited 0'*'= false'*'clone3_vfork, exited 0'*'exited normally'* ]]
    run -0 timeout 25 gdb -q -batch -nx -ex 'set follow-fork-mode child' -ex run --args \
        "$launch" spawn /bin/true
    [[ $output == *'is executing new program'*'exited normally'* ]]
    run -0 timeout 25 gdb -q -batch -nx -ex run --args "$launch" start /nonexistent
    [[ $output == *'exec: cannot execute'*'exited normally'* ]]
}

# It has no clone3 and runs vfork as fork.
@test "b29: qemu-user" {
    need qemu-aarch64 aarch64-linux-gnu-gcc
    compile aarch64-linux-gnu-gcc -O2 -static
    refused qemu-aarch64
}
