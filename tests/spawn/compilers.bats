#!/usr/bin/env bats
# Built by other compilers and at other levels, the library is the same.

bats_require_minimum_version 1.5.0
load helpers

@test "gcc without optimization, and with all of it" {
    compile gcc -O0 -fstack-protector-all
    smoke
    compile gcc -O3
    smoke
}

@test "clang" {
    need clang
    compile clang -O2
    smoke
}

@test "musl" {
    need musl-gcc
    compile musl-gcc -O1 -static
    smoke
}
