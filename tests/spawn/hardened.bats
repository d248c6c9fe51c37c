#!/usr/bin/env bats
# Built with checks of its own stack and its branches, the library is the same.

bats_require_minimum_version 1.5.0
load helpers

@test "b96: checked stacks" {
    compile gcc -O0 -fstack-check -fstack-clash-protection
    smoke
}

@test "b95: shadow stacks and branch tracking" {
    [[ $(uname -m) == x86_64 ]] || skip "x86_64 only"
    compile gcc -O1 -fcf-protection=full
    smoke env GLIBC_TUNABLES=glibc.cpu.x86_shstk=on:glibc.cpu.hwcaps=SHSTK
}
