#!/usr/bin/env bats
# README.md: its example against the library as it is installed, and its style.
# shellcheck disable=SC2154  # meson and run set the variables

bats_require_minimum_version 1.5.0

setup_file() {
    export PKG_CONFIG_SYSROOT_DIR=$BATS_FILE_TMPDIR/root
    DESTDIR=$PKG_CONFIG_SYSROOT_DIR meson install -C "$BUILD" --no-rebuild --quiet
    PKG_CONFIG_PATH=$(dirname "$(find "$PKG_CONFIG_SYSROOT_DIR" -name forkless.pc)")
    LIBRARIES=$(dirname "$PKG_CONFIG_PATH")
    export PKG_CONFIG_PATH LIBRARIES
    # shellcheck disable=SC2016
    sed -n '/^```c$/,/^```$/{/^```/d;p}' "$SOURCE/README.md" >"$BATS_FILE_TMPDIR/example.c"
}

setup() { cd "$BATS_FILE_TMPDIR" || return; }

@test "the example builds against the shared library and runs" {
    # shellcheck disable=SC2046
    cc -Wall -Wextra -Werror example.c -o shared $(pkg-config --cflags --libs forkless)
    run -0 env LD_LIBRARY_PATH="$LIBRARIES" ./shared
    [ "$output" = hello ]
}

@test "the example builds against the static library and runs" {
    # shellcheck disable=SC2046
    cc example.c -o static -static $(pkg-config --static --cflags --libs forkless)
    run -0 ./static
    [ "$output" = hello ]
}

@test "the example is C++ too, but for its linkage" {
    # shellcheck disable=SC2046
    g++ -x c++ -Wall -Wextra -Werror example.c -o cplusplus $(pkg-config --cflags --libs forkless)
    run -0 env LD_LIBRARY_PATH="$LIBRARIES" ./cplusplus
    [ "$output" = hello ]
}

@test "the shared library shows the functions of forkless.h and nothing else" {
    diff <(grep -oE '^[a-z].*\b(forkless_[a-z0-9_]+)\(' "$SOURCE/spawn/forkless.h" | grep -oE 'forkless_[a-z0-9_]+\($' |
        tr -d '(' | sort -u) <(nm -D --defined-only "$LIBRARIES"/libforkless.so | awk '$2 == "T" { print $3 }' |
        sed 's/@.*//' | sort -u)
}

@test "the static library hides nothing under common names" {
    # _.stapsdt.base: <sys/sdt.h> has it, weak, in each object with a probe.
    run -1 grep -vE '^(forkless|fl)_|^_\.stapsdt\.base$' <(nm -g --defined-only "$LIBRARIES/libforkless.a" 2>/dev/null | awk 'NF == 3 { print $3 }')
}

@test "what stands between the markers is what the run says, and the files that are linked are there" {
    cp "$SOURCE/README.md" README.md
    mkdir -p docs results/reference
    run=$(grep -m1 -oE 'results/reference/[A-Za-z0-9-]+-standard\.jsonl' README.md | sort -u)
    cp "$SOURCE/$run" results/reference/
    "$BUILD/reports/forkless-report" --splice README.md "$run"
    cmp README.md "$SOURCE/README.md"
    cmp docs/cost.svg "$SOURCE/docs/cost.svg"
    for link in $(grep -oE '\]\([^)]+\)' README.md | tr -d '])('); do
        [ -e "$SOURCE/$link" ] || { echo "$link is not there"; false; }
    done
}
