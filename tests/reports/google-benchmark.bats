#!/usr/bin/env bats
# A run as google-benchmark writes it, and what its own compare.py says of two.

bats_require_minimum_version 1.5.0

setup() {
    cd "$BATS_TEST_DIRNAME/runs" || return
    out=$BATS_TEST_TMPDIR/out.json
    compare=/usr/share/benchmark/compare.py
}

# of CELL ROUND: its entry in $out.
of() { jq -c --arg cell "$1" --argjson round "$2" '.benchmarks[] | select(.name == $cell and .repetition_index == $round)' "$out"; }

# change FILTER: jq's filter on each line of the run standard, as exported to $BATS_TEST_TMPDIR/changed.json.
change() {
    jq -c "$1" standard.jsonl >"$BATS_TEST_TMPDIR/changed.jsonl"
    "$EXPORT" "$BATS_TEST_TMPDIR/changed.jsonl" >"$BATS_TEST_TMPDIR/changed.json"
}

# compared OPTION...: what compare.py says of $out and the changed run, with one blank between columns.
compared() {
    /usr/bin/python3 -B "$compare" --no-color "$@" benchmarks "$out" "$BATS_TEST_TMPDIR/changed.json" | tr -s ' '
}

@test "the context says where and when" {
    "$EXPORT" quick.jsonl >"$out"
    [ "$(jq -c '.context | [.date, .num_cpus, .library_build_type, .kernel, (.load_avg | length)]' "$out")" = \
        '["2026-11-29T14:12:03Z",2,"release","6.18.44",1]' ]
    [ "$(jq -r '.context | has("host_name")' "$out")" = false ]
}

@test "a repetition for each round, with its medians" {
    "$EXPORT" quick.jsonl >"$out"
    local cells
    cells=$(grep -c '"state":"measured"' quick.jsonl)
    [ "$(jq '[.benchmarks[] | select(.run_type == "iteration")] | length' "$out")" -eq "$cells" ]
    # The medians of this cell's samples, by jq itself.
    jq -c 'select(.cell == "spawn/vfork/rss:1GiB" and .round == 3)
        | def middle: sort | (.[length / 2 - 1 | ceil] + .[length / 2 | floor]) / 2;
          [(.call | length), (.call | middle), (.cpu | middle)]' quick.jsonl >"$BATS_TEST_TMPDIR/expected"
    [ "$(of spawn/vfork/rss:1GiB 3 | jq -c '[.iterations, .real_time, .cpu_time]')" = "$(cat "$BATS_TEST_TMPDIR/expected")" ]
    [ "$(of spawn/vfork/rss:1GiB 3 | jq -c '[.run_name, .repetitions, .threads, .time_unit]')" = '["spawn/vfork/rss:1GiB",8,1,"ns"]' ]
}

@test "several spawners are threads" {
    "$EXPORT" axes.jsonl >"$out"
    [ "$(of spawn/vfork/rss:1GiB/spawners:64 3 | jq .threads)" -eq 64 ]
    [ "$(of spawn/vfork/rss:1GiB 3 | jq .threads)" -eq 1 ]
}

@test "the aggregates are those of the repetitions" {
    "$EXPORT" standard.jsonl >"$out"
    jq -e '[.benchmarks[] | select(.run_name == "spawn/fork")] | . as $all
        | [.[] | select(.run_type == "iteration") | .real_time] as $times
        | ($times | add / length) as $mean
        | (($times | map(. - $mean | . * .) | add) / ($times | length - 1) | sqrt) as $deviation
        | def near($value): (. - $value | fabs) <= 1e-9 * $value;
          def aggregate($name): $all[] | select(.aggregate_name == $name);
          (aggregate("mean").real_time | near($mean))
          and (aggregate("stddev").real_time | near($deviation))
          and (aggregate("cv").real_time | near($deviation / $mean))
          and aggregate("cv").aggregate_unit == "percentage"
          and aggregate("mean").name == "spawn/fork_mean"
          and aggregate("mean").iterations == ($times | length)
          and (aggregate("median").real_time | . > ($times | min) and . < ($times | max))' "$out"
}

@test "what was not measured is an error with its reason, and a lone repetition has no aggregates" {
    "$EXPORT" failed.jsonl >"$out"
    local failures
    failures=$(grep -cE '"state":"(failed|unsupported|timeout)"' failed.jsonl)
    [ "$failures" -gt 0 ]
    [ "$(jq '[.benchmarks[] | select(.error_occurred)] | length' "$out")" -eq "$failures" ]
    jq -e '[.benchmarks[] | select(.error_occurred) | .iterations == 0 and .real_time == 0 and .time_unit == "ns"
        and (.error_message | test("^(failed|unsupported|timeout): ."))] | all' "$out"
    "$EXPORT" one-round.jsonl >"$out"
    jq -e '.benchmarks | length > 0 and all(.run_type == "iteration")' "$out"
    "$EXPORT" nothing.jsonl >"$out"
    jq -e '.benchmarks == [] or (.benchmarks | all(.error_occurred))' "$out"
}

@test "odd names and huge samples stay JSON, and nothing is not a number" {
    local odd='a "b" \ <c> é'
    jq -c --arg odd "$odd" '(.. | strings | select(. == "spawn/fork")) |= $odd
        | if .kind == "cell" and .cell == "spawn/vfork" then .call |= map(9007199254740992)
          elif .kind == "cell" and .cell == "spawn/null" then .call |= map(0) else . end' quick.jsonl >"$BATS_TEST_TMPDIR/odd.jsonl"
    "$EXPORT" "$BATS_TEST_TMPDIR/odd.jsonl" >"$out"
    [ "$(of "$odd" 0 | jq -r .name)" = "$odd" ]
    python3 - "$out" <<'END'
import json, math, sys

def refuse(name):
    raise ValueError(name)

for entry in json.load(open(sys.argv[1]), parse_constant=refuse)["benchmarks"]:
    assert isinstance(entry["real_time"], float) and math.isfinite(entry["real_time"]), entry
    assert entry["iterations"] < 2 ** 53, entry
END
}

@test "compare.py reads two of them" {
    [ -e "$compare" ] && /usr/bin/python3 -c 'import scipy' 2>/dev/null || skip "no libbenchmark-tools with python3-scipy here"
    "$EXPORT" standard.jsonl >"$out"
    change 'if .cell == "spawn/fork" then .call |= map(2 * .) else . end'
    compared -a >"$BATS_TEST_TMPDIR/said"
    grep '^spawn/fork_median +1.0000 +0.0000 ' "$BATS_TEST_TMPDIR/said"
    grep '^spawn/fork_cv +0.0000 +0.0000 ' "$BATS_TEST_TMPDIR/said"
    grep '^spawn/vfork/rss:4GiB_median +0.0000 +0.0000 ' "$BATS_TEST_TMPDIR/said"
    compared >"$BATS_TEST_TMPDIR/said"
    grep -E '^spawn/fork_pvalue 0\.0[0-9]+ 1\.0000 U Test, Repetitions: ' "$BATS_TEST_TMPDIR/said"
    # Errors are 0 ns to it, as google-benchmark's own are.
    change 'if .cell == "spawn/fork" then {kind, round, cell, state: "failed", reason: "x"} else . end'
    compared --no-utest >"$BATS_TEST_TMPDIR/said"
    grep '^spawn/fork -1.0000 -1.0000 ' "$BATS_TEST_TMPDIR/said"
}
