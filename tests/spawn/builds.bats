#!/usr/bin/env bats
# Built in other ways, the library is the same.

bats_require_minimum_version 1.5.0
load helpers

warnings=(-Wall -Wextra -Wshadow -Wconversion -Werror)

@test "cc -c spawn/*.c is enough" {
    cd "$BATS_TEST_TMPDIR" || exit
    for compiler in gcc clang musl-gcc aarch64-linux-gnu-gcc; do
        [[ -n $(command -v $compiler) ]] || continue
        $compiler "${warnings[@]}" -c "$FORKLESS_SOURCE"/spawn/*.c
    done
}

@test "the header stands alone, in C and C++" {
    cd "$BATS_TEST_TMPDIR" || exit
    echo '#include "forkless.h"' >h.c
    cp h.c h.cc
    gcc -std=c17 "${warnings[@]}" -pedantic -I"$FORKLESS_SOURCE/spawn" -c h.c
    g++ -std=c++17 "${warnings[@]}" -pedantic -I"$FORKLESS_SOURCE/spawn" -c h.cc
    if [[ -n $(command -v clang) ]]; then
        clang -std=c17 "${warnings[@]}" -pedantic -I"$FORKLESS_SOURCE/spawn" -c h.c
    fi
}

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

@test "b96: checked stacks" {
    compile gcc -O0 -fstack-check -fstack-clash-protection
    smoke
}

@test "b95: shadow stacks and branch tracking" {
    [[ $(uname -m) == x86_64 ]] || skip "x86_64 only"
    compile gcc -O1 -fcf-protection=full
    smoke env GLIBC_TUNABLES=glibc.cpu.x86_shstk=on:glibc.cpu.hwcaps=SHSTK
}

@test "b106: sanitizers" {
    compile gcc -O1 -fsanitize=address,undefined -fno-sanitize-recover=all
    smoke
    compile gcc -O1 -fsanitize=thread
    smoke env TSAN_OPTIONS=halt_on_error=1
}
