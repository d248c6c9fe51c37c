#!/usr/bin/env bats
# docs/examples whose children are in an event loop: poll, libuv, GLib, and poll in Rust.
# shellcheck disable=SC2030,SC2031,SC2154  # bats runs each test in a subshell; meson and run set the variables

bats_require_minimum_version 1.5.0

load examples

setup_file() {
    cd "$BATS_FILE_TMPDIR" || return
    build ptools uv glib events
    make_tree
}

setup() { cd "$BATS_FILE_TMPDIR" || return; }

@test "ptools: 300 processes, each under its heading" {
    # shellcheck disable=SC2046
    run -0 ./ptools $(seq 300) -- echo process
    [ "${#lines[@]}" -eq 600 ]
    diff <(seq 300 | sed 's/.*/==> & <== process &/') <(paste -d ' ' - - <<<"$output" | sort -k 2n)
}

@test "ptools: some at a time, as many as it is told" {
    mkfifo pipe
    # shellcheck disable=SC2016
    run -0 ./ptools -j 2 -t 20 1 2 -- sh -c '[ $0 = 1 ] && cat pipe || echo met >pipe'
    [[ $output == *'==> 1 <=='$'\n'met* ]]
    # shellcheck disable=SC2016
    run -0 ./ptools -j 3 11 12 13 14 15 16 17 18 -- sh -c 'mkdir at.$0; ls -d at.* | wc -l; sleep 0.1; rmdir at.$0'
    [ "$(grep -cE '^[1-3]$' <<<"$output")" -eq 8 ]
}

@test "ptools: a deadline for each, and what they wrote until then" {
    run -1 ./ptools -t 1 501 502 -- ./tree
    [ "$output" = $'==> 501: took more than 1 s <==\nbegun\n==> 502: took more than 1 s <==\nbegun' ] ||
        [ "$output" = $'==> 502: took more than 1 s <==\nbegun\n==> 501: took more than 1 s <==\nbegun' ]
    gone 501
    gone 502
}

@test "ptools: what did not go well is in the heading and in the exit status" {
    run -1 ./ptools 1 2 -- /nonexistent/tool
    [ "${#lines[@]}" -eq 2 ]
    [[ ${lines[0]} == '==> '[12]': '*'/nonexistent/tool: No such file or directory'*' <==' ]]
    [[ ${lines[1]} == '==> '[12]': '*'/nonexistent/tool: No such file or directory'*' <==' ]]
    # shellcheck disable=SC2016
    run -1 ./ptools 3 4 -- sh -c 'echo out; printf err >&2; exit $(($0 - 3))'
    [ "$(paste -sd' ' <<<"$output" | grep -o '==> 3[^=]*')" = '==> 3 <' ]
    [[ $output == *$'==> 4: status 1 <==\nout\nerr'* ]]
    # shellcheck disable=SC2016
    run -1 ./ptools 5 -- sh -c 'kill -KILL $$'
    [ "$output" = '==> 5: signal 9 <==' ]
    run -0 bash -c "./ptools 6 -- head -c 20000000 /dev/zero | wc -c"
    [ "$output" -lt 17000000 ]
}

@test "ptools: packed, and one that fails loses no other" {
    # shellcheck disable=SC2046
    run -0 ./ptools -n 100 $(seq 300) -- echo processes
    [ "${#lines[@]}" -eq 6 ]
    diff <(seq 300 | sort) <(grep '^processes' <<<"$output" | tr ' ' '\n' | grep -v processes | sort)
    # shellcheck disable=SC2016
    run -1 ./ptools -n 4 1 2 3 4 -- sh -c 'for p; do [ $p != 3 ] || exit 9; done' tool
    [ "$(sort <<<"$output")" = $'==> 1 2 <==\n==> 3: status 9 <==\n==> 4 <==' ]
}

@test "ptools: without a tool it is eu-stack; usage" {
    printf '#!/bin/sh\necho "$@"\n' >eu-stack
    chmod +x eu-stack
    PATH=$PWD:$PATH run -0 ./ptools 77
    [ "$output" = $'==> 77 <==\n-p 77' ]
    for arguments in '' '-j 0 1' '-j 1.5 1' '-t 0 1' '-t never 1' '-n 0 1' '-x' 'init' '-1' '1 x -- echo' '-- echo'; do
        # shellcheck disable=SC2086
        run -2 ./ptools $arguments
    done
}

@test "ptools: a signal ends it and its tools" {
    ./ptools -t 600 601 602 -- ./tree >interrupted &
    ptools=$!
    until [ -s 601 ] && [ -s 602 ]; do sleep 0.1; done
    kill "$ptools"
    status=0
    wait "$ptools" || status=$?
    [ "$status" -eq 130 ]
    [ "$(grep -cE '^==> 60[12]: signal 15 <==$' interrupted)" -eq 2 ]
    gone 601
    gone 602
}

# in_loop NAME: the examples whose children are in somebody else's loop.
in_loop() {
    run -0 "./$1" 20 echo a b c
    [ "$(sort <<<"$output")" = $'a\nb\nc' ]
    run -1 "./$1" 20 /nonexistent/program a b
    [ "${#lines[@]}" -eq 2 ]
    [[ ${lines[0]} == "$1: "[ab]': '*'/nonexistent/program: No such file or directory'* ]]
    run -1 --separate-stderr "./$1" 20 cat /nonexistent/file
    [ "$output" = 'cat: /nonexistent/file: No such file or directory' ]
    [ "$stderr" = "$1: /nonexistent/file: it did not end well" ]
    run -0 bash -c "./$1 20 cat /dev/null /proc/self/maps | grep -q stack"
    run -1 --separate-stderr "./$1" 1 ./tree "$1.one" "$1.two"
    [ "$output" = $'begun\nbegun' ]
    [ "$(sort <<<"$stderr")" = "$1: $1.one: it took too long"$'\n'"$1: $1.two: it took too long" ]
    gone "$1.one"
    gone "$1.two"
    run -2 "./$1" 20
}

@test "uv: output, errors and a deadline in a loop of libuv" {
    in_loop uv
}

@test "glib: output, errors and a deadline in GLib's main loop" {
    in_loop glib
}

@test "events: programs and a deadline in Rust" {
    command -v rustc >/dev/null || skip "there is no rustc"
    run -0 ./events 20 true whoami
    [ "$output" = "$(whoami)" ]
    run -0 ./events 20
    run -1 ./events 20 true /nonexistent/program false
    [ "${#lines[@]}" -eq 2 ]
    [[ $output == *'events: /nonexistent/program: '*'/nonexistent/program: No such file or directory'* ]]
    [[ $output == *'events: false: it did not end well'* ]]
    run -1 --separate-stderr ./events 1 ./tree true
    [ "$output" = begun ]
    [ "$stderr" = 'events: ./tree: it took too long' ]
    gone tree.pids
    run -2 ./events soon true
}
