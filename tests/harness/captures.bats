#!/usr/bin/env bats
# forkless-bench: strategies that capture what a child writes.
# shellcheck disable=SC2016,SC2030,SC2031,SC2154  # scripts expand what they say; setup and run set the variables

load support

strategies=forkless_run,posix_spawn_read

# capture ARGUMENT...: one round of them, beside the null cell.
capture() {
    run --separate-stderr "$bench" calibrate -r 1 --samples 3 --strategy $strategies --rss 0 -o run.jsonl "$@"
    sane
}

# captured SCRIPT: what each strategy says of a mebibyte that is this script, with the real one's output as $1.
captured() {
    local strategy folder=prefix/$PROGRAM_FOLDER
    mkdir -p "$folder/targets"
    cp "${STORM:?}" "$folder/"
    "${TARGETS:?}/mebibyte" >whole || true
    target "set -- '$PWD/whole'; $1; exit 42"
    mv target "$folder/targets/mebibyte"
    for strategy in ${strategies//,/ }; do
        if LD_LIBRARY_PATH=$LIBRARY_FOLDER "$folder/storm" "$strategy" 2 mebibyte 2>said; then
            echo all
        else
            sed "s/^storm: $strategy: /$? /" said
        fi
    done | sort -u
}

# failed N SENTENCE: so many cells, all for this reason.
failed() {
    [ "$status" -eq 3 ]
    [ "$(states)" = "$1 failed"$'\n1 measured' ]
    [ "$(reasons | grep -v null)" = "$2" ] || { reasons; false; }
}

@test "every target is captured, one and several at once, and has ready when it stamps" {
    capture --at-once 1,3 --spawners 1,2 --fds 30 --samples 2 -t tiny,silent,static,dynamic,mebibyte
    [ "$status" -eq 0 ]
    [ "$(states)" = "41 measured" ]
    jq -s -e '[.[] | select(.cell and .cell != "spawn/null") | (.cell | startswith("capture/")) and (.call[0] <= .total[0]) and
        has("ready") == (.cell | test("target") | not) and (.ready == null or (.ready[0] > 0 and .ready[0] < .call[0]))] | all' \
        run.jsonl
    run -0 "$bench" calibrate --list --strategy $strategies --rss 1GiB -t mebibyte
    [ "$output" = $'spawn/null\ncapture/forkless_run/rss:1GiB/target:mebibyte\ncapture/posix_spawn_read/rss:1GiB/target:mebibyte' ]
}

@test "a byte that is missing, one too many, bytes that are not the target's" {
    diff <(captured 'cat "$1"') <(echo all)
    diff <(captured 'head -c 1048575 "$1"') <(echo "3 1048575 bytes were captured, where the target writes 1048576")
    diff <(captured 'cat "$1"; echo') <(echo "3 1048577 bytes were captured, where the target writes 1048576")
    diff <(captured 'head -c 500008 "$1"; printf X; tail -c +500010 "$1"') \
        <(echo "3 what was captured is not what the target wrote, from byte 500008 on")
    diff <(captured 'head -c 65536 "$1"; head -c 65536 "$1"; tail -c +131073 "$1"') \
        <(echo "3 what was captured is not what the target wrote, from byte 65536 on")
}

@test "a target of the user's own may write what it likes, but has to end well" {
    target 'head -c 3000000 /dev/zero; exit 42'
    capture -t ./target
    [ "$status" -eq 0 ]
    rm run.jsonl
    target 'echo; exit 3'
    capture -t ./target
    failed 2 "the target exited with 3, not 42"
    rm run.jsonl
    target 'head -c 100000 /dev/zero; kill -KILL $$'
    capture -t ./target
    failed 2 "the target was killed by signal 9 (Killed)"
}

@test "a target that cannot be executed: failed, and nothing is left" {
    printf '\177ELF' >target
    chmod +x target
    capture -t ./target --at-once 1,3
    failed 4 $'child 1 of 1 could not be started: Exec format error\nchild 1 of 3 could not be started: Exec format error'
}

@test "a target that closes its output and lives on is waited for, and one that never ends is a timeout" {
    target 'exec >&-; sleep 0.1; exit 42'
    capture -t ./target
    [ "$status" -eq 0 ]
    jq -s -e '[.[] | select(.cell and .cell != "spawn/null") | .call[] > 100000000] | all' run.jsonl
    rm run.jsonl
    target 'sleep 1000'
    capture -d 1 -t ./target
    [ "$status" -eq 3 ]
    [ "$(jq -r 'select(.cell and .cell != "spawn/null") | .state' run.jsonl | sort -u)" = timeout ]
}

@test "a child that wrote and cannot be waited for: failed, with those before it" {
    FAULT_KIND=no-wait LD_PRELOAD=$FAULT run -3 --separate-stderr "$bench" calibrate -r 1 --samples 1 --strategy posix_spawn_read \
        --rss 1MiB -t mebibyte --at-once 1,3 -o run.jsonl
    sane
    [ "$(reasons | grep -v null)" = $'child 1 of 1 could not be started: Input/output error\nchild 1 of 3 could not be started: Input/output error' ]
}

@test "a descriptor that is left is found" {
    FAULT_KIND=leak LD_PRELOAD=$FAULT run -3 --separate-stderr "$bench" calibrate -r 1 --samples 1 --strategy posix_spawn_read \
        --rss 1MiB -t mebibyte -o run.jsonl
    sane
    [ "$(reasons | grep -v null)" = "the strategy left a descriptor behind" ]
}

@test "a run of captures goes on, and comes through to every report" {
    capture -t mebibyte,silent -s 3
    "$bench" --resume run.jsonl -r 2 2>/dev/null >&2
    sane
    [ "$(states)" = "10 measured" ]
    for format in html markdown csv json google-benchmark; do
        "$FORKLESS_REPORT" -f $format run.jsonl 2>/dev/null | grep -q 'capture/forkless_run/target:mebibyte'
    done
    run -0 "$FORKLESS_REPORT" run.jsonl
}
