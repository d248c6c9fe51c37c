#!/usr/bin/env bats
# forkless-doctor: of a host and of a process.
# shellcheck disable=SC2030,SC2031,SC2154  # bats runs each test in a subshell; setup and run set the variables

bats_require_minimum_version 1.5.0

setup() {
    doctor=${FORKLESS_DOCTOR:?}
    cd "$BATS_TEST_TMPDIR" || return
    mkdir tmp
    export TMPDIR=$PWD/tmp
}

teardown() {
    [ -z "${parent-}" ] || kill -KILL "$parent" 2>/dev/null || true
}

# start PROGRAM...: sets `parent`, once it is ready, and `zombie`.
start() {
    mkfifo ready
    "$@" >ready 3>&- 2>/dev/null </dev/null &
    parent=$!
    read -r _ zombie <ready
}

# Text for people: at most 80 columns, no escape codes.
readable() {
    [ "$(awk '{ if (length > n) n = length } END { print n + 0 }' <<<"$1")" -le 80 ]
    [[ $1 != *$'\033'* ]]
}

# installed: a copy in a tree of its own, with a bench and a report that do as the test says.
installed() {
    mkdir -p "there/$PROGRAM_FOLDER" state/forkless
    cp "$doctor" "there/$PROGRAM_FOLDER/"
    doctor=there/$PROGRAM_FOLDER/forkless-doctor
    export LD_LIBRARY_PATH=$LIBRARY_FOLDER XDG_STATE_HOME=$PWD/state
    program report "${1-}"
    program bench "${2-}"
}
program() {
    # shellcheck disable=SC2016
    printf '#!/bin/sh\necho "$*" >>"%s/%s.asked"\n%s\n' "$PWD" "$1" "$2" >"there/$PROGRAM_FOLDER/forkless-$1"
    chmod +x "there/$PROGRAM_FOLDER/forkless-$1"
}

# a_run FILE STARTED [CHANGE]: a local run of this very host, changed by a jq filter.
a_run() {
    "$doctor" --json | jq -c --arg started "$2" \
        '{kind: "run", schema: 2, started: $started, rounds: 6, host: .host, build: .build, cells: [{name: "spawn/fork"}]} | '"${3-.}"', {kind: "end", interrupted: false}' \
        >"state/forkless/$1.jsonl"
}

@test "the findings are readable, end with a verdict, and need no privilege" {
    run -0 --separate-stderr "$doctor"
    readable "$output"
    [[ ${lines[-1]} == "Figures from this host "* ]]
    [ -z "$stderr" ]
    [ -z "$(ls tmp)" ]
    # As many next commands as findings that are not good.
    [ "$(grep -cE '^(WARNING|note|unknown)' <<<"$output")" -eq "$(grep -c '^ *next  ' <<<"$output")" ]
}

@test "--json: host and findings, as the results file has them" {
    run -0 --separate-stderr "$doctor" --json
    jq -e '
        (.host | .cpus >= 1 and (.kernel | length > 0) and .limits.nofile > 0)
        and (.findings | length >= 20 and (map(.name) | unique | length) == length)
        and all(.findings[];
            (.level == "good" and (has("effect") or has("next") | not))
            or ((.level | IN("note", "warning", "unknown")) and (.effect | length > 0) and (.next | length > 0)))' \
        <<<"$output"
}

@test "a filter that refuses clone3 is found out" {
    run -0 --separate-stderr "$WITHOUT_CLONE3" "$doctor" --json
    jq -e '.findings | map({key: .name, value: .}) | from_entries
        | .clone3.level == "warning" and (.clone3.found | test("ENOSYS.*filter"))
        and .clear_sighand.level == "unknown" and .seccomp.level == "note" and .pidfd.level == "good"' <<<"$output"
}

@test "an unprivileged user gets all the findings" {
    [ "$(id -u)" -eq 0 ] || skip "not root"
    chmod 711 "$BATS_TEST_TMPDIR" "$(dirname "$BATS_TEST_TMPDIR")" "$BATS_RUN_TMPDIR"
    run --separate-stderr setpriv --reuid 65534 --clear-groups "$doctor" --json
    [ "$status" -ne 126 ] || skip "another user cannot run the program from here"
    [ "$status" -eq 0 ]
    jq -e '.findings | map(select(.name == "tracing"))[0].level == "note"' <<<"$output"
}

@test "the facts of a process are right" {
    start "$BIG_PARENT" 64 5 20 100
    run -0 --separate-stderr "$doctor" --json -p "$parent"
    mappings=$(wc -l <"/proc/$parent/maps")
    jq -e --argjson pid "$parent" --argjson mappings "$mappings" '
        .pid == $pid and .name == "parent" and .threads == 6 and .descriptors == 23 and .mappings == $mappings
        and $mappings > 100 and .anonymous >= 67108864 and .anonymous < 69206016 and .rss >= .anonymous
        and .huge == 0 and .page_tables > 131072' <<<"$output"
}

@test "a process that is none: one sentence, exit 2" {
    refused() {
        run --separate-stderr "$doctor" "${@:2}"
        [ "$status" -eq 2 ]
        [ "$stderr" = "forkless-doctor: $1" ]
        [ -z "$output" ]
    }
    refused "--pid: '0' is not the number of a process" -p 0
    refused "--pid: '-1' is not the number of a process" -p -1
    refused "--pid: 'init' is not the number of a process" -p init
    refused "--pid: '' is not the number of a process" -p ''
    refused "--pid: '99999999999' is not the number of a process" -p 99999999999
    refused "'123' is no option; a process is named with -p PID" 123
    refused "there is no process 4194305" -p 4194305
    start "$BIG_PARENT"
    refused "process $zombie has ended and waits for its parent (a zombie)" -p "$zombie"
}

@test "a thread of the kernel" {
    thread=$(awk '$2 == "(kthreadd)" { print $1 }' /proc/[0-9]*/stat 2>/dev/null || true)
    [ -n "$thread" ] || skip "none is visible"
    run -2 --separate-stderr "$doctor" --json -p "$thread"
    [ "$stderr" = "forkless-doctor: process $thread is a thread of the kernel: it has no memory of its own" ]
}

@test "another user's process: what may be read, and why the rest is unknown" {
    [ "$(id -u)" -eq 0 ] || skip "not root"
    installed 'echo table'
    start "$BIG_PARENT" 8
    chmod 711 "$BATS_TEST_TMPDIR" "$(dirname "$BATS_TEST_TMPDIR")" "$BATS_RUN_TMPDIR"
    chmod 777 tmp
    a_run known 2026-01-01T00:00:00Z
    touch report.asked
    chmod 666 report.asked
    run --separate-stderr setpriv --reuid 65534 --clear-groups "$doctor" -p "$parent"
    [ "$status" -ne 126 ] || skip "another user cannot run the program from here"
    [ "$status" -eq 0 ]
    [[ $output == *"huge pages   unknown (Permission denied)"*"mappings     unknown (Permission denied)"* ]]
    [[ $output == *"threads      1"*"sudo forkless doctor -p $parent"* ]]
}

@test "what spawns would cost: from the newest run of this very host" {
    installed 'echo THE TABLE'
    start "$BIG_PARENT" 64 2
    a_run old 2026-01-01T00:00:00Z
    touch -d '1 hour ago' state/forkless/old.jsonl
    a_run newest "$(date -u -d '3 days ago 1 minute ago' +%FT%TZ)"
    touch -d '1 minute ago' state/forkless/newest.jsonl
    a_run elsewhere 2026-01-01T00:00:00Z '.host.cpus = 1024'
    a_run older-kernel 2026-01-01T00:00:00Z '.host.kernel = "2.6.32"'
    a_run other-library 2026-01-01T00:00:00Z '.build.library = "00"'
    a_run too-short 2026-01-01T00:00:00Z '.rounds = 5'
    a_run broken-off 2026-01-01T00:00:00Z
    sed -i '$d' state/forkless/broken-off.jsonl
    a_run other-target 2026-01-01T00:00:00Z '.cells[0].name += "/target:static"'
    echo '[1, 2' >state/forkless/garbage.jsonl
    mkfifo state/forkless/pipe.jsonl
    run -0 --separate-stderr "$doctor" -p "$parent"
    [ -z "$stderr" ]
    read -r option bytes file <report.asked
    [ "$option" = --predict ]
    [ "$bytes" -ge 67108864 ] && [ "$bytes" -lt 69206016 ]
    [ "$file" = "$PWD/state/forkless/newest.jsonl" ]
    [ ! -e bench.asked ]
    [[ $output == *"from state/forkless/newest.jsonl, measured 3 days ago"*"THE TABLE"* ]]
    [[ $output == *"the other threads wait"*"next  "* ]]
    [ "${#lines[@]}" -le 25 ]
}

@test "the report itself: its table stands between the facts and the remarks" {
    # shellcheck disable=SC2016
    installed 'exec "$FORKLESS_REPORT" "$@"'
    start "$BIG_PARENT" 64 2 0 12000
    for run in "$SOURCE"/results/reference/*-quick.jsonl; do
        here=$("$doctor" --json | jq -c '{host, build}')
        jq -c --argjson here "$here" 'if .kind == "run" then . * $here else . end' "$run" >state/forkless/run.jsonl
    done
    run -0 --separate-stderr "$doctor" -p "$parent"
    readable "$output"
    [ -z "$stderr" ]
    for strategy in fork posix_spawn forkless_spawn forkless_start; do
        [ "$(grep -cE "^$strategy  .* (us|ms) .* to " <<<"$output")" -eq 1 ]
    done
    [[ $output == *"fork also copies each of the 12"* ]]
    [ "${#lines[@]}" -le 25 ]
}

@test "a run that cannot say is passed over, and without any one is measured and removed" {
    # shellcheck disable=SC2016
    installed 'case $3 in *calibration.jsonl) cat "$3" ;; *) exit 4 ;; esac' 'echo MEASURED >"$3"; echo noise >&2'
    start "$BIG_PARENT" 8
    a_run filtered 2026-01-01T00:00:00Z
    run -0 --separate-stderr "$doctor" -p "$parent"
    [[ $output == *"a calibration just now"*MEASURED* ]]
    [ "$stderr" = "forkless-doctor: no run of this host to go by; measuring for a few seconds" ]
    [[ $(cat bench.asked) == "calibrate -o $TMPDIR/"*.jsonl ]]
    [ "$(wc -l <report.asked)" -eq 2 ]
    [ -z "$(ls tmp)" ]
}

@test "no figures to be had: the facts, and why" {
    installed '' 'echo first >&2; echo "forkless-bench: this is a debug build" >&2; exit 4'
    start "$BIG_PARENT" 8
    run -4 --separate-stderr "$doctor" -p "$parent"
    [[ $output == "Process $parent (parent)"* ]]
    [ "${stderr##*$'\n'}" = "forkless-doctor: what a spawn would cost it cannot be said: forkless-bench: this is a debug build" ]
    [ -z "$(ls tmp)" ]
    program bench 'kill -SEGV $$'
    run -1 --separate-stderr "$doctor" -p "$parent"
    [[ $stderr == *"forkless-bench was killed by signal 11"* ]]
    rm "there/$PROGRAM_FOLDER/forkless-bench"
    run -1 --separate-stderr "$doctor" -p "$parent"
    [[ $stderr == *"forkless-bench"*"No such file or directory"* ]]
    [ -z "$(ls tmp)" ]
}

@test "Ctrl-C while it measures: exit 130, nothing left" {
    # shellcheck disable=SC2016
    installed '' 'echo $$ >bench.pid; echo part >"$3"; exec sleep 1000'
    start "$BIG_PARENT" 8
    for signal in INT TERM; do
        rm -f bench.pid
        set -m # not `&` alone: a background job of a shell without job control ignores SIGINT
        "$doctor" -p "$parent" >said 2>&1 3>&- &
        pid=$!
        set +m
        for _ in $(seq 100); do
            [ -z "$(cat tmp/*/calibration.jsonl 2>/dev/null)" ] || break
            sleep 0.05
        done
        kill -$signal "$pid"
        status=0
        wait "$pid" || status=$?
        [ "$status" -eq 130 ]
        [ "$(tail -n 1 said)" = "forkless-doctor: interrupted" ]
        [ -z "$(ls tmp)" ]
        run -1 kill -0 "$(cat bench.pid)"
    done
}

@test "standard output closed or full" {
    status=0
    "$doctor" >&- 2>said || status=$?
    [ "$status" -eq 1 ]
    [ "$(cat said)" = "forkless-doctor: standard output is closed" ]
    status=0
    "$doctor" >/dev/full 2>said || status=$?
    [ "$status" -eq 1 ]
    [ "$(cat said)" = "forkless-doctor: standard output cannot be written: No space left on device" ]
}
