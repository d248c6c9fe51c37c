#!/usr/bin/env bats
# forkless-bench --phases: what the kernel tells of the children of each cell, in blocks of their own.
# shellcheck disable=SC2016,SC2153,SC2154  # meson and bats set the variables

load support

setup() {
    cd "$BATS_TEST_TMPDIR" || return
}

# seen OPTION...: a run of few cells.
seen() { "$FORKLESS_BENCH" quick --rounds 1 --rss 0 --samples 12 -o run.jsonl "$@" 2>said; }

can_trace() {
    [ -x "$FORKLESS_PHASES" ] || skip "there is no forkless-phases"
    timeout -s TERM 1 "$FORKLESS_PHASES" $$ >/dev/null 2>reason || [ $? -ne 4 ] || skip "$(cat reason)"
}

cells() { jq -s "map(select(.kind == \"cell\" and ($1))) | length" run.jsonl; }

@test "each cell once more, with the phases of each sample" {
    can_trace
    seen --phases --strategy fork,clone3,forkless_start --gap 0 --at-once 1
    [ "$(cells '.state == "measured"')" -eq 7 ]
    [ "$(cells '.phases')" -eq 3 ]
    # The kernel may miss the first switch to a child.
    [ "$(cells '.phases | . != null and ([.create, .set_up, .exec, .load, .run, .reap, .beyond_call, .beyond_ready, .beyond_total]
        | all(length == 12)) and (.wake | length > 8)')" -eq 3 ]
    [ "$(cells '.cell | endswith("/traced:phases")')" -eq 3 ]
    jq -se 'map(select(.kind == "block")) | length == 2 and (map(select(.ballast == "traced:phases"))[0].lost == 0)' run.jsonl
    python3 -c 'import json, jsonschema, sys
for line in open("run.jsonl"): jsonschema.validate(json.loads(line), json.load(open(sys.argv[1])))' "$SCHEMA"
}

@test "of a burst all children are told, and no clock is compared" {
    can_trace
    seen --traced phases --strategy forkless_spawn --at-once 3 --gap 0
    [ "$(cells '.phases | . != null and (.create | length == 36) and (.beyond_call == null)')" -eq 1 ]
}

@test "what a capture and a fork's target do is told too" {
    can_trace
    seen --traced phases --strategy fork,forkless_run --at-once 1 --gap 0 -t silent
    [ "$(cells '.phases | . != null and (.run | length == 12) and .beyond_ready == null')" -eq 2 ]
}

@test "of children that others make no clock is compared, and the run can be read" {
    can_trace
    seen --phases --strategy server,clone3 --gap 0 --at-once 1
    [ "$(cells '.phases | . != null and (.create | length == 12)')" -eq 2 ]
    [ "$(cells '(.cell | startswith("spawn/server")) and .phases and (.phases | keys | any(startswith("beyond")) | not)')" -eq 1 ]
    "$FORKLESS_REPORT" run.jsonl >text
}

@test "beside forkless trace the same cells are measured" {
    can_trace
    seen --traced no,trace --strategy clone3 --at-once 1 --gap 0
    [ "$(cells '.state == "measured"')" -eq 3 ]
    [ "$(cells '.phases | . != null and keys == ["beyond_call"] and (.beyond_call | length == 12)')" -eq 1 ]
    jq -se 'map(select(.kind == "block") | [.ballast, .lost]) | sort == [[null, null], ["traced:trace", 0]]' run.jsonl
}

@test "without the privilege these cells are unsupported, and say why; the others are measured" {
    command -v setpriv || skip "no setpriv"
    [ -x "$FORKLESS_PHASES" ] || skip "there is no forkless-phases"
    setpriv --bounding-set=-bpf,-perfmon,-sys_admin true || skip "capabilities cannot be dropped"
    run -0 setpriv --bounding-set=-bpf,-perfmon,-sys_admin --inh-caps=-all \
        "$FORKLESS_BENCH" quick --rounds 1 --rss 0 --samples 2 -o run.jsonl --phases --strategy clone3 --gap 0 --at-once 1
    [ "$(cells '.state == "unsupported" and (.reason | test("needs CAP_BPF and CAP_PERFMON"))')" -eq 1 ]
    [ "$(cells '.state == "measured"')" -eq 2 ]
    jq -se 'map(select(.kind == "block" and has("lost"))) == []' run.jsonl
}

@test "nothing is left of a tracer whose run is broken off" {
    can_trace
    "$FORKLESS_BENCH" quick --rounds 1 --rss 0 --samples 20000 -o run.jsonl --traced phases --strategy clone3 --gap 0 \
        --at-once 1 2>said &
    bench=$!
    until tracer=$(pgrep -P "$bench" -f forkless-phases); do sleep 0.05; done
    kill -KILL "$bench"
    wait "$bench" || true
    for _ in $(seq 100); do
        kill -0 "$tracer" 2>/dev/null || return 0
        sleep 0.05
    done
    false
}

@test "a tracer that is none is told from one that does not begin" {
    run -2 "$FORKLESS_BENCH" quick --traced sideways -o run.jsonl
    [[ $output == *"--traced: 'sideways' is not one of no, phases, trace"* ]]
}

@test "the report shows where the time goes, in each format, and only then" {
    can_trace
    seen --phases --strategy clone3 --at-once 1 --gap 0
    "$FORKLESS_REPORT" run.jsonl >text
    grep -q '^Where the time of a spawn goes: one spawn at 0 MiB' text
    grep -Eq '^ exec  +[0-9.]+ (us|ms)' text
    grep -Eq '^ total traced  +[0-9.]+' text
    for format in markdown html; do
        "$FORKLESS_REPORT" -f $format run.jsonl 2>/dev/null | grep -q 'Where the time of a spawn goes'
    done
    "$FORKLESS_REPORT" -f json run.jsonl |
        jq -e '.cells | map(select(.traced == "phases"))[0].figures | .exec.median_ns > 0 and .beyond_call.samples == 12'
    "$FORKLESS_BENCH" quick --rounds 1 --rss 0 --samples 2 -o plain.jsonl --strategy clone3 --at-once 1 2>said
    run -1 grep 'Where the time' <("$FORKLESS_REPORT" plain.jsonl)
}
