#!/usr/bin/env bats
# What is installed works where the build and source trees are not, in any place, for any user.
# shellcheck disable=SC2030,SC2031,SC2153,SC2154  # bats runs each test in a subshell; meson and run set the variables

bats_require_minimum_version 1.5.0

setup_file() {
    unset LD_LIBRARY_PATH # meson names the build's libraries there
    export ROOT="$BATS_FILE_TMPDIR/a root"
    DESTDIR=$ROOT meson install -C "$BUILD" --no-rebuild --quiet
}

setup() {
    prefix=$ROOT$PREFIX
    cd "$BATS_TEST_TMPDIR" || return
}

# measures COMMAND...: that starts the installed forkless. What it says of spawn/vfork stays in run.jsonl.
measures() {
    "$@" "$prefix/$BIN_FOLDER/forkless" bench -r 1 -f '^spawn/vfork$' -o "$PWD/run.jsonl"
    [ "$(jq -r 'select(.cell == "spawn/vfork") | .state' run.jsonl)" = measured ]
    "$@" "$prefix/$BIN_FOLDER/forkless" report "$PWD/run.jsonl" >page
    grep '^ *vfork ' page
}

# Runs a command where the source and build trees are empty.
without_trees() {
    # shellcheck disable=SC2016
    unshare --mount bash -euc '
        mount -t tmpfs none "$SOURCE"
        [ ! -d "$BUILD" ] || mount -t tmpfs none "$BUILD"
        exec "$@"' bash "$@"
}

@test "forkless alone is in the folder of programs" {
    [ "$(ls "$prefix/$BIN_FOLDER")" = forkless ]
    run -0 "$prefix/$BIN_FOLDER/forkless" --version
}

@test "it measures and reports without the trees that it came from" {
    without_trees true 2>/dev/null || skip "cannot hide the trees: no mounts of our own"
    measures without_trees
}

@test "in another place, and stripped" {
    DESTDIR=$PWD/first meson install -C "$BUILD" --no-rebuild --quiet --strip
    mkdir other
    mv "first$PREFIX" "other/a prefix"
    prefix="$PWD/other/a prefix"
    mkdir there
    cd there
    measures env
}

@test "for another user, from another folder" {
    [ "$(id -u)" -eq 0 ] || skip "not root"
    chmod a+rx "$BATS_RUN_TMPDIR" "$(dirname "$BATS_FILE_TMPDIR")" "$BATS_FILE_TMPDIR" \
        "$(dirname "$BATS_TEST_TMPDIR")" "$BATS_TEST_TMPDIR"
    mkdir -m 777 theirs
    cd theirs
    user=(setpriv --reuid 65534 --regid 65534 --clear-groups)
    "${user[@]}" ls "$ROOT" >/dev/null 2>&1 || skip "another user cannot come here"
    measures "${user[@]}"
}

@test "the build-id on record is that of the installed library" {
    measures env
    id=$(readelf -n "$prefix/$LIBRARY_FOLDER/libforkless.so" | sed -n 's/.*Build ID: //p')
    [ -n "$id" ]
    [ "$(head -n 1 run.jsonl | jq -r .build.library)" = "$id" ]
}

@test "the programs find their library without any of the build's paths" {
    run -0 readelf -d "$prefix/$PROGRAM_FOLDER/forkless-bench"
    # shellcheck disable=SC2016
    [[ $output == *'runpath: [$ORIGIN/'* ]]
    [[ $output != *"$BUILD"* ]]
    run -0 readelf -d "$prefix/$PROGRAM_FOLDER/forkless-report"
    [[ $output != *runpath:* ]]
}

@test "each target works" {
    diff <(ls "$prefix/$PROGRAM_FOLDER/targets") <(printf '%s\n' dynamic mebibyte script silent static tiny waiter)
    for target in "$prefix/$PROGRAM_FOLDER"/targets/*; do
        run -42 "$target" </dev/null
    done
}

@test "the manual pages and completions" {
    "$prefix/$BIN_FOLDER/forkless" help >/dev/null
    # shellcheck disable=SC2016
    run -0 bash -c 'source "$0"; complete -p forkless' "$prefix/$DATA_FOLDER/bash-completion/completions/forkless"
    [ -e "$prefix/$DATA_FOLDER/zsh/site-functions/_forkless" ]
    [ -n "$SCDOC" ] || skip "scdoc is missing"
    for page in "$SOURCE"/docs/man/*.scd; do
        page=$(basename "$page" .scd)
        [ -s "$prefix/$MAN_FOLDER/man${page##*.}/$page" ]
    done
    while read -r function; do
        [ -s "$prefix/$MAN_FOLDER/man3/$function.3" ]
    done < <(sed -nE 's/^ *(forkless_[a-z0-9_]+);$/\1/p' "$SOURCE/spawn/forkless.map")
    command -v man >/dev/null || skip "there is no man"
    run -0 "$prefix/$BIN_FOLDER/forkless" help bench
    [[ $output == *"EXIT STATUS"* ]]
    run -0 man -M "$prefix/$MAN_FOLDER" forkless_command_same
    [[ $output == forkless_files'(3)'*2\>\&1* ]]
}

# What pkg-config says of the installed library, by a path without the spaces that it does not quote.
flags() {
    ln -sfn "$ROOT" root
    PKG_CONFIG_SYSROOT_DIR=$PWD/root PKG_CONFIG_PATH=$PWD/root$PREFIX/$LIBRARY_FOLDER/pkgconfig pkg-config "$@" forkless
}

# counts COMMAND...: that is the example pipeline.c.
counts() {
    run -0 "$@"
    [ "$(tr -d ' ' <<<"$output")" = $'2apple\n1fig\n3pear' ]
}

@test "pkg-config asks for threads where the library is static" {
    [[ "$(flags --static --libs) " == *' -lforkless -pthread '* ]]
    [[ "$(flags --libs) " == *' -lforkless '* ]]
    [[ "$(flags --libs) " != *pthread* ]]
    [ "$(flags --modversion)" = "$("$prefix/$BIN_FOLDER/forkless" --version | sed 's/.* //')" ]
}

@test "programs in C and in C++, with the shared library and with the static one" {
    cp "$prefix/$DATA_FOLDER/doc/forkless/examples/pipeline.c" .
    for compiler in 'cc -std=gnu17' 'g++ -x c++ -std=c++17'; do
        # shellcheck disable=SC2046
        $compiler -Wall -Wextra -Werror pipeline.c -o shared $(flags --cflags --libs)
        run -0 readelf -d shared
        [[ $output == *'[libforkless.so.0]'* ]]
        counts env LD_LIBRARY_PATH="$prefix/$LIBRARY_FOLDER" ./shared
        # shellcheck disable=SC2046
        $compiler -Wall -Wextra -Werror pipeline.c -o static -static $(flags --static --cflags --libs)
        counts ./static
    done
}

@test "static with musl, of the library's sources and an example" {
    command -v musl-gcc >/dev/null || skip "there is no musl-gcc"
    musl-gcc -std=gnu17 -D_GNU_SOURCE -Wall -Wextra -Werror -static -I"$SOURCE/spawn" \
        "$prefix/$DATA_FOLDER/doc/forkless/examples/pipeline.c" "$SOURCE"/spawn/*.c -o pipeline
    run -0 readelf -d pipeline
    [[ $output == *'no dynamic section'* ]]
    counts ./pipeline
}

@test "the format, the bounds and every matrix, but no runs" {
    data=$prefix/$DATA_FOLDER/forkless
    cmp "$SOURCE/results/schema.json" "$data/schema.json"
    cmp "$SOURCE/results/bounds.json" "$data/bounds.json"
    cmp "$SOURCE/results/README.md" "$data/results.md"
    for matrix in "$SOURCE"/cases/*.yaml; do
        [ ! -e "$matrix" ] || cmp "$matrix" "$data/$(basename "$matrix")"
    done
    [ -z "$(find "$ROOT" -name '*.jsonl')" ]
}
