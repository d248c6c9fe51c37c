#!/usr/bin/env bats
# forkless-bench: bad input.
# shellcheck disable=SC2030,SC2031,SC2054,SC2154  # bats runs each test in a subshell; setup and run set the variables; lists are words

load support

# refused CODE SENTENCE OPTION...: one sentence, nothing made, nothing measured.
refused() {
    local code=$1 sentence=$2
    shift 2
    run --separate-stderr "$bench" "$@"
    [ "$status" -eq "$code" ]
    [ "$stderr" = "forkless-bench: $sentence" ]
    [ -z "$output" ]
}

@test "bad input is refused in one sentence" {
    echo kept >there
    refused 2 "there cannot be made: File exists; --resume goes on with a run" -o there
    [ "$(cat there)" = kept ]
    refused 2 "no/such/run cannot be made: No such file or directory" -o no/such/run
    refused 2 "one matrix at a time: quick, and then full?" quick full
    refused 2 "--rounds: '0' is not a whole number from 1 to 1000" -o new -r 0
    refused 2 "--rounds: '2x' is not a whole number from 1 to 1000" -o new -r 2x
    refused 2 "--seed: '-1' is not a whole number from 0 to 9223372036854775807" -o new --seed=-1
    refused 2 "--deadline: '99999999999999999999' is not a whole number from 1 to 86400" -o new -d 99999999999999999999
    refused 2 "--filter: '(' is not a regular expression: Unmatched ( or \\(" -o new -f '('
    refused 2 "--filter: no cell's name matches 'spork'; one of them is spawn/fork/rss:1GiB/at_once:16" -o new -f spork
    refused 2 "--target: there is no target 'huge', but tiny, silent, static, dynamic, script, mebibyte, waiter, or a path with a slash" -o new -t huge
    cp "$(type -P true)" silent
    refused 2 "--target: './silent' has the name of a target that ships: rename it" -o new -t ./silent
    printf -v strange 'a\377b'
    cp silent "./$strange"
    refused 2 "a name is not UTF-8: $strange" -o new -t "./$strange"
    refused 2 "--target: the name of './$(printf 'x%.0s' {1..65})' has more than 64 bytes" -o new -t "./$(printf 'x%.0s' {1..65})"
    refused 2 "the target /tmp is no file" -o new -t /tmp
    refused 2 "'' cannot be made: No such file or directory" -o ''
    refused 2 "the target /no/such/target cannot be executed: No such file or directory" -o new -t /no/such/target
    [ ! -e new ]
}

@test "no permission for the output" {
    [ "$(id -u)" -eq 0 ] || skip "not root"
    mkdir -m 755 closed
    chmod 711 "$BATS_TEST_TMPDIR" "$(dirname "$BATS_TEST_TMPDIR")"
    run --separate-stderr setpriv --reuid 65534 --clear-groups "$bench" -o closed/run.jsonl
    [ "$status" -ne 126 ] || skip "another user cannot run the program from here"
    [ "$status" -eq 2 ]
    [ "$stderr" = "forkless-bench: closed/run.jsonl cannot be made: Permission denied" ]
}

# user COMMAND...: by one without privilege, in a folder that is open to all.
user() {
    [ "$(id -u)" -eq 0 ] || skip "not root"
    mkdir -p -m 777 open
    chmod 711 "$BATS_TEST_TMPDIR" "$(dirname "$BATS_TEST_TMPDIR")"
    run --separate-stderr setpriv --reuid 65534 --clear-groups env -C open "$@"
    [ "$status" -ne 126 ] || skip "another user cannot run the program from here"
}

@test "what only root may: said by the plan and in the run, with what would help" {
    says="needs to be root: run it as root"
    cells=(calibrate -r 1 --samples 1 --rss 0 --strategy forkless_spawn --attributes none,namespace,cgroup)
    user "$bench" "${cells[@]}" --plan
    [[ $output == *$'\n'"spawn/forkless_spawn/attributes:namespace $says"$'\n'"2 of 4 cells would be recorded as unsupported." ]]
    user "$bench" "${cells[@]}" -o run.jsonl
    cp open/run.jsonl .
    [ "$(states)" = $'2 measured\n2 unsupported' ]
    [ "$(reasons | grep -v null)" = "$says" ]
    user "$bench" calibrate --plan --rss 0 --strategy forkless_spawn --traced no,trace
    [[ $output == *$'\n'"spawn/forkless_spawn/traced:trace needs "*$'\n'"1 of 3 cells would be recorded as unsupported." ]]
}

@test "a user's limit of processes: what is there already counts, and so does what starts the children" {
    # shellcheck disable=SC2016
    limited=(bash -c 'ulimit -Su 90 && exec "$@"' - "$bench" calibrate --plan --rss 0)
    user "${limited[@]}" --strategy vfork --at-once 1,80
    [[ $output =~ "spawn/vfork/at_once:80 needs 97 processes, and this user's limit of 90 leaves "([0-9]+)": ulimit -u "([0-9]+) ]]
    [ $((90 - BASH_REMATCH[1])) -eq $((BASH_REMATCH[2] - 97)) ]
    [ "${BASH_REMATCH[1]}" -lt 90 ]
    user "${limited[@]}" --strategy limit --commands 100 --at-once 1,40
    [[ $output == *"batch/limit/at_once:40/commands:100 needs 97 processes, and this user's limit of 90 "* ]]
}

@test "standard output closed or full: said before anything is measured" {
    status=0
    "$bench" -o run.jsonl >&- 2>said || status=$?
    [ "$status" -eq 1 ]
    [ "$(cat said)" = "forkless-bench: standard output is closed" ]
    status=0
    "$bench" -o run.jsonl >/dev/full 2>said || status=$?
    [ "$status" -eq 1 ]
    [ "$(cat said)" = "forkless-bench: standard output cannot be written: No space left on device" ]
    [ ! -e run.jsonl ]
}

@test "a list or a plan that does not get out" {
    for what in --list --plan '--list quick'; do
        status=0
        # shellcheck disable=SC2086
        "$bench" $what >/dev/full 2>said || status=$?
        [ "$status" -eq 1 ]
        [ "$(cat said)" = "forkless-bench: standard output cannot be written: No space left on device" ]
    done
}

@test "a pipe that is closed: said before anything is measured" {
    mkfifo pipe
    : <pipe &
    reader=$!
    exec 5>pipe
    wait $reader
    status=0
    "$bench" -o run.jsonl >&5 2>said || status=$?
    exec 5>&-
    [ "$status" -eq 1 ]
    [ "$(cat said)" = "forkless-bench: standard output cannot be written: Broken pipe" ]
    [ ! -e run.jsonl ]
}
