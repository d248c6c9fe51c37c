#!/usr/bin/env bats
# The sources need no build system, the header nothing before it.

bats_require_minimum_version 1.5.0
load helpers

warnings=(-Wall -Wextra -Wshadow -Wconversion -Werror)

# enough COMPILER
enough() {
    need "$1"
    cd "$BATS_TEST_TMPDIR" || exit
    "$1" "${warnings[@]}" -c "$FORKLESS_SOURCE"/spawn/*.c
}

@test "cc -c spawn/*.c is enough: gcc" { enough gcc; }

@test "cc -c spawn/*.c is enough: clang" { enough clang; }

@test "cc -c spawn/*.c is enough: musl" { enough musl-gcc; }

@test "cc -c spawn/*.c is enough: aarch64" { enough aarch64-linux-gnu-gcc; }

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
