#!/usr/bin/env bats
# B105: where the instructions and the system calls are another program's.

bats_require_minimum_version 1.5.0
load helpers

# Which versions know clone3 or run vfork as vfork is theirs; 3.19 does neither.
@test "b24: valgrind" {
    need valgrind
    compile gcc -O0 -g
    valgrind=(valgrind -q --leak-check=full --error-exitcode=9)
    run -0 timeout 20 "${valgrind[@]}" "${launch:?}" spawn /bin/true
    if [[ ${lines[1]} == *'Operation not supported'* ]]; then
        refused "${valgrind[@]}"
    else
        smoke "${valgrind[@]}"
    fi
}

# It has no clone3 and runs vfork as fork.
@test "b29: qemu-user" {
    need qemu-aarch64 aarch64-linux-gnu-gcc
    compile aarch64-linux-gnu-gcc -O0 -static
    refused qemu-aarch64
}
