#!/usr/bin/env bats
# Built at other levels of optimization, the library is the same.

bats_require_minimum_version 1.5.0
load helpers

@test "none, and a checked stack" {
    compile gcc -O0 -fstack-protector-all
    smoke
}

@test "all of it" {
    compile gcc -O3
    smoke
}
