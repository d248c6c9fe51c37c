#!/usr/bin/env bats
# What the library shows, and what it does when it is loaded: nothing.

bats_require_minimum_version 1.5.0
load helpers

@test "the library shows what its map says" {
    [[ -n ${FORKLESS_LIBRARY:-} ]] || skip "no FORKLESS_LIBRARY"
    shown=$(nm -D --defined-only "$FORKLESS_LIBRARY" | awk '$2 ~ /[TDBR]/ {sub(/@.*/, "", $3); print $3}' | sort)
    mapped=$(sed -n 's/^ *\(forkless_[a-z0-9_]*\);$/\1/p' "$FORKLESS_SOURCE/spawn/forkless.map" | sort)
    declared=$(tr '\n' ' ' <"$FORKLESS_SOURCE/spawn/forkless.h" | sed 's|/\*[^*]*\*\+\([^/*][^*]*\*\+\)*/||g' |
        grep -oE 'forkless_[a-z0-9_]+\(' | tr -d '(' | sort -u)
    [[ $shown == "$mapped" ]]
    [[ $declared == "$mapped" ]]
}

@test "the library is never unloaded, and has a soname and a build-id" {
    [[ -n ${FORKLESS_LIBRARY:-} ]] || skip "no FORKLESS_LIBRARY"
    readelf -d "$FORKLESS_LIBRARY" | grep -q NODELETE
    readelf -d "$FORKLESS_LIBRARY" | grep -q 'soname: \[libforkless.so.0\]'
    readelf -n "$FORKLESS_LIBRARY" | grep -q 'Build ID'
}

@test "b63: the library runs nothing when it is loaded" {
    cd "$BATS_TEST_TMPDIR" || exit
    gcc -std=gnu17 -D_GNU_SOURCE -O0 -c "$FORKLESS_SOURCE"/spawn/*.c
    readelf -SW ./*.o >sections
    objects=(./*.o)
    [[ $(grep -c ' \.text ' sections) -eq ${#objects[@]} ]]
    run -1 grep -E 'init_array|\.ctors' sections
}
