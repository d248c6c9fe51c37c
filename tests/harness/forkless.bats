#!/usr/bin/env bats
# The program forkless, in a prefix whose other programs are scripts.
# shellcheck disable=SC2153,SC2154  # meson and run set the variables

bats_require_minimum_version 1.5.0

setup() {
    cd "$BATS_TEST_TMPDIR" || return
    prefix="$PWD/a prefix"
    mkdir -p "$prefix/$BIN_FOLDER" "$prefix/$PROGRAM_FOLDER" "$prefix/$MAN_FOLDER/man1" path
    cp "$FORKLESS" "$prefix/$BIN_FOLDER/forkless"
    forkless=$prefix/$BIN_FOLDER/forkless
    # shellcheck disable=SC2016
    program bench 'printf "%s\n" "${0##*/}" "$#" "$@"'
    program compare 'exit 6'
    program cow
    program report 'exit 5'
    program trace
    # shellcheck disable=SC2016
    program doctor 'kill -KILL $$'
}

# program NAME SCRIPT
program() {
    printf '#!/bin/sh\n%s\n' "$2" >"$prefix/$PROGRAM_FOLDER/forkless-$1"
    chmod +x "$prefix/$PROGRAM_FOLDER/forkless-$1"
}

# refused CODE SENTENCE ARGUMENT...
refused() {
    local code=$1 sentence=$2
    shift 2
    run -"$code" --separate-stderr "$forkless" "$@"
    [ "$stderr" = "forkless: $sentence" ]
    [ -z "$output" ]
}

@test "a command gets all that follows it, as it is" {
    run -0 "$forkless" bench quick --help '' 'a b' -- -x
    [ "$output" = "forkless-bench
6
quick
--help

a b
--
-x" ]
    run -0 "$forkless" bench
    [ "$output" = "forkless-bench
0" ]
}

@test "it is found through a link, and from anywhere" {
    ln -s "$forkless" path/forkless
    cd /
    run -0 env PATH="$BATS_TEST_TMPDIR/path:$PATH" forkless bench
    [ "${lines[0]}" = forkless-bench ]
}

@test "the program is told its own name" {
    program bench 'exit 9'
    cp /bin/sh "$prefix/$PROGRAM_FOLDER/forkless-report"
    # shellcheck disable=SC2016
    run -0 "$forkless" report -c 'echo "$0"'
    [ "$output" = forkless-report ]
}

@test "exit codes pass through, and so does a signal's end" {
    run -5 "$forkless" report
    run -137 "$forkless" doctor
}

@test "help: the commands, within 80 columns" {
    for argument in --help '-?' help; do
        run -0 --separate-stderr "$forkless" "$argument"
        [ -z "$stderr" ]
        [[ $output == *$'\n  bench '*$'\n  compare '*$'\n  cow '*$'\n  doctor '*$'\n  help '*$'\n  report '*$'\n  trace '* ]]
        [[ $output != *"(not here"* ]]
        for line in "${lines[@]}"; do
            [ "${#line}" -le 80 ]
        done
    done
}

@test "help COMMAND: the manual page, else --help" {
    printf '#!/bin/sh\necho "man: $*"\n' >path/man
    chmod +x path/man
    run -0 env PATH="$PWD/path:$PATH" "$forkless" help bench
    [ "$output" = "forkless-bench
1
--help" ]
    page=$prefix/$MAN_FOLDER/man1/forkless-bench.1
    : >"$page"
    run -0 env PATH="$PWD/path:$PATH" "$forkless" help bench
    [ "$output" = "man: $page" ]
    run -0 env PATH=/nowhere "$forkless" help bench
    [ "${lines[2]}" = --help ]
}

@test "version" {
    run -0 "$forkless" --version
    [ "$output" = "forkless $VERSION" ]
}

@test "no such command" {
    refused 2 "'bnech' is no command; did you mean bench?" bnech
    refused 2 "'reports' is no command; did you mean report?" reports --help
    refused 2 "'hlep' is no command; did you mean help?" hlep
    refused 2 "'spork' is no command; forkless --help lists them" spork
    refused 2 "'' is no command; forkless --help lists them" ''
    refused 2 "'docter' is no command; did you mean doctor?" help docter
    refused 2 "help: one command at a time" help bench report
    run -2 --separate-stderr "$forkless"
    [ "${stderr_lines[0]}" = "forkless: COMMAND is missing" ]
    run -2 --separate-stderr "$forkless" --bench
    [ "${stderr_lines[0]}" = "forkless: unrecognized option '--bench'" ]
}

@test "a program that is missing, or cannot be executed, is named with its path" {
    rm "$prefix/$PROGRAM_FOLDER/forkless-report"
    path=$prefix/$PROGRAM_FOLDER/forkless-report
    refused 4 "forkless-report is missing: $path: No such file or directory" report run.jsonl
    refused 4 "forkless-report is missing: $path: No such file or directory" help report
    run -0 "$forkless" --help
    [[ $(tr -s '\n ' '  ' <<<"$output") == *"found (not here: it is missing: "*"No such file or directory) "* ]]
    echo text >"$path"
    refused 1 "$path cannot be executed: Permission denied" report
}

@test "a program that this build was made without is named with the reason" {
    cp "$FORKLESS_LACKING" "$forkless"
    refused 4 "forkless-doctor was built without libfoo" doctor
    run -0 "$forkless" --help
    [[ $(tr -s '\n ' '  ' <<<"$output") == *"(not here: it was built without libfoo)"* ]]
    run -0 "$forkless" bench
}

@test "none of the libraries that the programs need is linked into it" {
    run -0 readelf -d "$FORKLESS"
    needed=$(grep NEEDED <<<"$output")
    [[ $needed == *"[libc.so."* ]]
    [[ ! $needed =~ forkless|jansson|benchmark|cyaml ]]
}
