#!/usr/bin/env bats
# Built with sanitizers that end the program at the first finding, the library is the same.

bats_require_minimum_version 1.5.0
load helpers

@test "b106: addresses and undefined behaviour" {
    compile gcc -O0 -fsanitize=address,undefined -fno-sanitize-recover=all
    smoke
}

@test "b106: threads" {
    compile gcc -O0 -fsanitize=thread
    smoke env TSAN_OPTIONS=halt_on_error=1
}
