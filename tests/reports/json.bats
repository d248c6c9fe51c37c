#!/usr/bin/env bats
# reports/json.c: the analysis of a run, as data.
# shellcheck disable=SC2016  # jq has variables too

bats_require_minimum_version 1.5.0

setup() {
    analyse=${ANALYSE:?}
    cd "$BATS_TEST_DIRNAME/runs" || return
}

# analysis RUN: sets $found; a run of the folder runs/ is analysed once for all tests.
analysis() {
    found=$BATS_FILE_TMPDIR/$1.json
    [[ $1 != */* ]] || found=$BATS_TEST_TMPDIR/analysis.json
    [[ $1 != */* && -e $found ]] || "$analyse" "$1" >"$found"
}

# holds FILTER [RUN]: what jq says of the analysis; without RUN of the last one.
holds() {
    [ $# -eq 1 ] || analysis "$2"
    jq -e "def cell(\$name): .cells[] | select(.name == \$name);
        def near(\$to): (. / \$to - 1 | fabs) < 1e-6; $1" "$found" >"$BATS_TEST_TMPDIR/said" || {
        cat "$BATS_TEST_TMPDIR/said"
        return 1
    }
}

# Computed by jq from the samples, and nothing else: the median of the rounds' medians, and the largest.
medians() {
    jq -cs 'def median: sort | length as $n | (.[($n - 1) / 2 | floor] + .[$n / 2 | floor]) / 2;
        map(select(.state == "measured")) | group_by(.cell) | map(. as $lines | {key: .[0].cell,
            value: (["call", "ready", "total", "cpu"] | map(. as $figure | ($lines | map(.[$figure] // empty))
                | select(length > 0) | {key: $figure, value: {median_ns: map(median) | median, max_ns: (add | max),
                    samples: (add | length), rounds: length}}) | from_entries)}) | from_entries' "$1"
}

@test "what is added to a victim's stall is that which jq finds, sample by sample" {
    analysis others.jsonl
    name=spawn/posix_spawn/rss:4GiB/victim:faulter
    wanted=$(jq -s --arg name "$name" 'def median: sort | length as $n | (.[($n - 1) / 2 | floor] + .[$n / 2 | floor]) / 2;
        map(select(.cell == $name) | [.stall, .baseline] | transpose | map(.[0] - .[1]) | median) | median' others.jsonl)
    holds "cell(\"$name\").figures | .stall.added_ns == $wanted and .stall.added_low_ns <= $wanted and .stall.added_high_ns >= $wanted
        and ((.stall.p99_ns - .baseline.p99_ns) as \$p99 | .stall.p99_added_ns | near(\$p99)) and (.baseline | has(\"added_ns\") | not)" others.jsonl
}

@test "the medians of every cell are those that jq finds" {
    for run in quick standard failed one-round targets axes; do
        analysis $run.jsonl
        jq -S '.cells | map(select(.figures != {})
            | {key: .name, value: (.figures | map_values({median_ns, max_ns, samples, rounds}))}) | from_entries' "$found" >"$BATS_TEST_TMPDIR/figures"
        diff "$BATS_TEST_TMPDIR/figures" <(medians $run.jsonl | jq -S .)
    done
}

@test "the head of the run, its noise and its disturbed blocks" {
    holds '.analysis == 1 and .run.rounds == 8 and .run.seed == 7 and .run.started == "2026-11-29T14:12:03Z"
        and .run.library == "4f2a" and .run.resumed == 1 and .run.ended and (.run.interrupted | not)
        and .run.measured == 72 and .run.not_run == 0' resumed.jsonl
    holds '.run.host == {cpu: "AMD EPYC", cpus: 2, virtual: true, hypervisor: "KVMKVMKVM", kernel: "6.18.44",
        libc: "glibc 2.36", page_size_bytes: 4096}'
    holds '.noise | .blocks == 16 and .disturbed == [
        {round: 3, rss_bytes: 0, reason: "other programs used 9 % of the CPU time"},
        {round: 4, rss_bytes: 1073741824, reason: "other programs used 17 % of the CPU time"}]'
    holds '[.warnings[].found] == ["1.7 on 2 CPUs", "1024 MiB, 40 % in use"] and .warnings[0].name == "load"'
    holds '.warnings == [] and (.noise | has("other") | not) and (.run.host | has("hypervisor") | not)' quick.jsonl
}

@test "the axes that only some cells have, and what they are multiples of" {
    holds 'cell("spawn/vfork/rss:1GiB/at_once:2/fds:100/spawners:4") | .at_once == 2 and .fds == 100 and .spawners == 4
        and .attributes == "none" and (has("floor") | not)' axes.jsonl
    holds 'cell("spawn/forkless_start/rss:1GiB/fds:19000").floor == "spawn/floor_vm/rss:1GiB/fds:19000"'
    holds 'cell("spawn/forkless_spawn/rss:1GiB/spawners:64").floor == "spawn/floor_vfork/rss:1GiB/spawners:64"'
    holds 'cell("spawn/forkless_spawn/rss:1GiB/attributes:fd") | .attributes == "fd" and .floor == "spawn/floor_vfork/rss:1GiB"'
    holds '[.growth[] | select(.fds > 0 or .spawners > 1 or .attributes != "none")] == []' # these have one size
    holds '.cells | all(.fds == 0 and .spawners == 1 and .attributes == "none")' quick.jsonl
}

@test "each cell: its axes, its floor, and what it is in multiples of it" {
    holds 'cell("spawn/forkless_start/rss:4GiB") | .strategy == "forkless_start" and .rss_bytes == 4294967296
        and .gap_ns == 1000000 and .at_once == 1 and .target == "tiny" and .floor == "spawn/floor_vm/rss:4GiB"
        and (.figures.call | .multiple_low <= .multiple and .multiple <= .multiple_high)' quick.jsonl
    holds 'cell("spawn/fork/rss:4GiB") | .floor == "spawn/floor_vfork/rss:4GiB" and .figures.call.multiple > 60'
    holds '[cell("spawn/null"), cell("spawn/floor_vm"), cell("spawn/fork/rss:4GiB/gap:0")]
        | all((has("floor") | not) and (.figures.call | has("multiple") | not))'
}

@test "a percentile only where the samples tell it" {
    holds 'cell("spawn/vfork/rss:4GiB").figures.call | .samples == 504 and has("p99_ns") and (has("p999_ns") | not)' \
        quick.jsonl
    holds 'cell("spawn/vfork").figures.call | .samples == 24 and has("max_ns") and (has("p90_ns") | not)'
}

@test "ranks are within a block, and those that the rounds do not tell apart share one" {
    holds '[.cells[] | select(.rss_bytes == 0 and .figures.call.rank) | {key: .strategy, value: .figures.call.rank}]
        | from_entries | .forkless_start == 1 and .vfork == 2 and .fork == 2 and .clone3 == 3 and .posix_spawn == 6 and (has("floor_vm") | not)' \
        quick.jsonl
    holds '[.cells[] | select(.figures.call.rank)] | length == 36'
    holds '[.cells[].figures.call | select(. and (has("rank") or has("median_low_ns")))] == []' one-round.jsonl
}

@test "ranks of many commands and of captures are among their own" {
    holds '[.cells[] | select(.name | test("^batch/.*rss:1GiB/at_once:4/commands:1000")) | {key: .strategy, value: .figures.call.rank}]
        | from_entries == {limit: 1, server: 2, posix_spawn: 3}' many.jsonl
    # Captures have 3 rounds: each once more, one of them slower.
    jq -cs '.[] | if .kind == "run" then .rounds = 6, empty elif .round then ., (.round += 3) else . end' captures.jsonl |
        jq -c 'if .cell // "" | test("capture/posix") then .call |= map(. * 2) else . end' >"$BATS_TEST_TMPDIR/twice.jsonl"
    holds '[.cells[] | select(.name | test("^capture/.*_r[^/]*/target:silent$")) | {key: .strategy, value: .figures.call.rank}]
        | from_entries == {forkless_run: 1, posix_spawn_read: 2}' "$BATS_TEST_TMPDIR/twice.jsonl"
}

@test "the line over the sizes" {
    # 270 us + 6830 us for each GiB, of which the samples show up to 1.9 times
    holds '.growth[] | select(.strategy == "fork" and .at_once == 1 and .figure == "call")
        | .per_gib_ns > 6.83e6 and .per_gib_ns < 9.5e6 and .per_gib_low_ns <= .per_gib_ns and .r_squared > 0.98
        and .reach_bytes == 4294967296 and .rounds == 8' quick.jsonl
    holds '[.growth[] | select(.at_once > 1 or .gap_ns == 0)] == []' # these have one size
    holds '[.growth[] | select(has("r_squared"))] == [] and (.growth | length) > 0' resumed.jsonl # two sizes: no spread
}

# straight SLOPE: the run quick with fork's call of 100 us + SLOPE us for each GiB, and posix_spawn's of 600 us.
straight() {
    jq -c --argjson slope "$1" '(.cell // "") as $cell
        | ({"spawn/fork": 0, "spawn/fork/rss:256MiB": 0.25, "spawn/fork/rss:1GiB": 1, "spawn/fork/rss:4GiB": 4}[$cell]) as $gib
        | if $gib then .call |= map(100000 + $slope * 1000 * $gib)
          elif $cell | test("/posix_spawn") then .call |= map(600000) else . end' quick.jsonl >"$BATS_TEST_TMPDIR/straight.jsonl"
}

@test "where fork becomes dearer than each other strategy, and nothing where it never does" {
    straight 5000
    holds '.growth[] | select(.strategy == "fork" and .figure == "call") | .r_squared == 1
        and (.at_0_ns | near(100000)) and (.per_gib_ns | near(5000000)) and (.per_gib_high_ns | near(5000000))' \
        "$BATS_TEST_TMPDIR/straight.jsonl"
    holds '[.crossings[] | select(.figure == "call")] | map(.strategy) | contains(["posix_spawn"]) and index("fork") == null'
    holds '.crossings[] | select(.strategy == "posix_spawn" and .figure == "call") | (.fork_dearer_from_bytes | near(107374182.4))
        and (.fork_dearer_from_low_bytes | near(107374182.4)) and (.fork_dearer_from_high_bytes | near(107374182.4))'
    holds '.crossings[] | select(.strategy == "forkless_start" and .figure == "call") | .fork_dearer_from_bytes < 5e6'
    straight 0
    holds '[.crossings[] | select(.figure == "call" and .strategy == "posix_spawn")] == []
        and ([.crossings[] | select(.figure == "total")] | length) > 0' "$BATS_TEST_TMPDIR/straight.jsonl"
}

@test "cells without figures say why" {
    holds 'cell("spawn/vfork").problems == [{state: "failed", reason: "status 127 [2Jinstead of 0", rounds: 1}]
        and cell("spawn/vfork").measured == 2 and cell("spawn/clone3").figures == {}
        and cell("spawn/posix_spawn/rss:1GiB/at_once:16").problems == [
            {state: "timeout", reason: "the block was stopped after 60 s", rounds: 1},
            {state: "timeout", reason: "the block was stopped after 60 s again", rounds: 2}]' failed.jsonl
    holds 'all(.cells[]; .figures == {}) and .growth == [] and .crossings == [] and .run.failed == 8' nothing.jsonl
    head -n 1 quick.jsonl >"$BATS_TEST_TMPDIR/begun.jsonl"
    holds '.run.not_run == .run.rounds * (.cells | length) and (.noise | has("high") | not) and (.run.ended | not)' \
        "$BATS_TEST_TMPDIR/begun.jsonl"
}

@test "samples of 0 divide nothing" {
    jq -c 'if .state == "measured" then .call |= map(0) else . end' quick.jsonl >"$BATS_TEST_TMPDIR/zero.jsonl"
    holds 'cell("spawn/fork").figures.call | .median_ns == 0 and (has("multiple") | not)' "$BATS_TEST_TMPDIR/zero.jsonl"
    run -1 grep -iE 'nan|inf[^o]|null[^"]' "$found"
}

@test "names of any kind" {
    jq -c 'def odd: sub("fork/"; "\u00fc\"<b>&\u2028/"); if .kind == "run" then .cells |= map(.name |= odd)
        elif .cell then .cell |= odd else . end' quick.jsonl >"$BATS_TEST_TMPDIR/odd.jsonl"
    holds '[.cells[].name | select(contains("\u00fc\"<b>&\u2028"))] | length > 0' "$BATS_TEST_TMPDIR/odd.jsonl"
}
