#!/usr/bin/env bats
# Built by other compilers, the library is the same.

bats_require_minimum_version 1.5.0
load helpers

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
