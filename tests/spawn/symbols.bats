#!/usr/bin/env bats
# What child.o needs: nothing.

bats_require_minimum_version 1.5.0
load helpers

# undefined COMPILER [FLAG]...: the undefined symbols of child.o
undefined() {
    "$@" -std=gnu17 -D_GNU_SOURCE -c "$FORKLESS_SOURCE/spawn/child.c" -o "$BATS_TEST_TMPDIR/child.o"
    nm -u "$BATS_TEST_TMPDIR/child.o" | sed 's/^ *U //' | sort
}

none() {
    local symbols
    need "$1"
    symbols=$(undefined "$@")
    [[ -z $symbols ]] || { echo "$*: $symbols"; return 1; }
}

constructors='__asan_(init|(un)?register_(elf_)?globals|version_mismatch_check_v[0-9]+)|__tsan_init'

# What a module's constructor needs is never run by the child.
only_constructors() {
    local symbols
    need "$1"
    symbols=$(undefined "$@" | grep -vxE "$constructors" || true)
    [[ -z $symbols ]] || { echo "$*: $symbols"; return 1; }
}

@test "child.o has no undefined symbol: gcc" {
    for flags in -O0 -O1 -O2 -Os '-O3 -fstack-protector-all' '-O2 -fPIC' '-O2 -fno-builtin' \
        '-O2 -D_FORTIFY_SOURCE=2' '-O2 -fcf-protection=full' '-O2 -fstack-clash-protection' \
        '-O2 -pg' '-O2 --coverage' '-O2 -finstrument-functions' '-O0 -fstack-check' \
        '-O2 -ftrivial-auto-var-init=zero'; do
        # shellcheck disable=SC2086
        none gcc $flags
    done
}

@test "child.o has no undefined symbol: clang" {
    for flags in -O0 -O1 -O2 -Os '-O3 -fstack-protector-all' '-O2 -fPIC' '-O2 -fcf-protection=full' \
        '-O2 -fstack-clash-protection' '-O2 -pg' '-O2 -finstrument-functions' \
        '-O2 -ftrivial-auto-var-init=pattern'; do
        # shellcheck disable=SC2086
        none clang $flags
    done
}

@test "child.o has no undefined symbol: aarch64" {
    for flags in -O0 -O2 '-O3 -fstack-protector-all' '-O2 -mbranch-protection=standard'; do
        # shellcheck disable=SC2086
        none aarch64-linux-gnu-gcc $flags
    done
}

@test "child.o has no undefined symbol: musl" {
    none musl-gcc -O0
    none musl-gcc -O2
}

@test "b106: child.o of sanitizers needs only what their constructors need" {
    for compiler in gcc clang; do
        for flags in -fsanitize=address,undefined -fsanitize=thread; do
            only_constructors $compiler -O0 $flags
            only_constructors $compiler -O2 $flags
        done
    done
}
