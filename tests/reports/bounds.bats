#!/usr/bin/env bats
# Bounds: what a run says of them, and files of them that are refused.
# To make the golden pages anew, after looking at the difference: GOLDEN=write bats bounds.bats
# shellcheck disable=SC2016,SC2154  # the sentences quote names in backticks; setup and run set the variables

load report

@test "bounds of a standard run" { golden bounds-standard 5 --bounds "$bounds" standard.jsonl; }

@test "bounds of a quick run" { golden bounds-quick 0 --bounds "$bounds" quick.jsonl; }

@test "bounds that cannot be read" {
    cd "$BATS_TEST_TMPDIR"
    run_file=$here/runs/quick.jsonl
    refused "absent: cannot be opened: No such file or directory" --bounds absent "$run_file"
    while IFS='|' read -r script sentence; do
        jq "$script" "$bounds" >bad.json
        refused "bad.json: $sentence" --bounds bad.json "$run_file"
    done <<'CASES'
del(.bounds)|`bounds` is missing
.bounds[2].kind = "sum"|bound 3: `kind` cannot be sum
.bounds[2].kind = "difference"|bound 3: `over` does not go with the kind `difference`
.bounds[2] = {id: "x", says: "x", kind: "difference", figure: "call", of: "y", at_most: 1}|bound 3: `less` is missing
.bounds[2].less = "x"|bound 3: `less` does not go with the kind `ratio`
.bounds[2].per = 2|bound 3: `per` goes with the kind `difference` only
.bounds[14].per = 0|bound 15: `per` is not above 0
.bounds[18].over = "x"|bound 19: `over` does not go with the kind `value`
.bounds[0].figure = 5|bound 1: `figure` is not a text
.bounds[14].percentile = 99|bound 15: `percentile` goes with the kinds `value` and `ratio` only
.bounds[19].percentile = 100|bound 20: `percentile` is not below 100
.bounds[0].over = null|bound 1: `over` is not a text
.bounds[0].at_least = 1|bound 1: `at_most` and `at_least` exclude each other
.bounds[0].at_most = 0|bound 1: `at_most` is not above 0
del(.bounds[0].at_most)|bound 1: `at_most` is missing
.bounds[0].atmost = 1|bound 1: `atmost` is not a field of a bound
CASES
    printf '{\n"bounds": [,]}' >bad.json
    refused "bad.json:2: broken JSON: unexpected token near ','" --bounds bad.json "$run_file"
}

# values FILTER: id, value and verdict of each bound that jq's filter makes of one, in the run axes.
values() {
    jq "{bounds: [{id: \"x\", says: \"x\", figure: \"call\", at_most: 1e9} + $1]}" <<<null >"$BATS_TEST_TMPDIR/some.json"
    "$report" --bounds "$BATS_TEST_TMPDIR/some.json" "${2-$here/runs/axes.jsonl}"
}

@test "differences for each and ratios of rates are those that jq finds" {
    # Every sample of a cell is the same here, so that medians are plain.
    jq -cs '(.[0].cells | to_entries | map({key: .value.name, value: .key}) | from_entries) as $n | .[]
        | if .state == "measured" then (1000 * (100 + $n[.cell] * $n[.cell] + .round)) as $ns
            | .call = [$ns] | .total = [2 * $ns] | .cpu = [$ns] | .ready = [$ns] else . end' axes.jsonl >"$BATS_TEST_TMPDIR/plain"
    of() { jq -r --arg name "$1" '.cells // [] | to_entries[] | select(.value.name == $name) | 100 + .key * .key' "$BATS_TEST_TMPDIR/plain"; }
    fds=spawn/forkless_start/rss:1GiB/fds:19000 plain=spawn/forkless_start/rss:1GiB
    each=$((1000 * ($(of $fds) - $(of $plain)) / 50))
    run -0 values "{kind: \"difference\", of: \"$fds\", less: \"$plain\", per: 50, at_most: 4000}" "$BATS_TEST_TMPDIR/plain"
    [[ $output == *" x  holds  "*" $each ns  $each to $each "* ]]
    # 8 children against 1, and the calls lengthen by a microsecond each round: both medians are of rounds 4 and 5.
    many=spawn/vfork/rss:1GiB/at_once:2/fds:100/spawners:4 one=spawn/vfork/rss:1GiB
    rate=$(jq -n "[range(10) | 8 * ($(of $one) + .) / ($(of $many) + .)] | sort | (.[4] + .[5]) / 2 * 1000 | round / 1000")
    run -0 values "{kind: \"rate_ratio\", of: \"$many\", over: \"$one\", at_least: 0.1} | del(.at_most)" "$BATS_TEST_TMPDIR/plain"
    [[ $output == *" x  holds  "*" $rate "* ]]
}

@test "growth along another axis" {
    # Descriptors are made mappings; every sample of a cell is the same, and start's grow twice as fast as spawn's.
    jq -c 'if .cells then .cells |= map(if .fds == 19000 then (.name |= sub("fds:19000"; "mappings:1000")) | del(.fds) else . end) else . end
        | if .cell then .cell |= sub("fds:19000"; "mappings:1000") else . end
        | if .state == "measured" then (if .cell | test("mappings") then (if .cell | test("start") then 9000 else 8000 end) else 7000 end) as $ns
            | .call = [$ns] | .total = [$ns] | .cpu = [$ns] | .ready = [$ns] else . end' axes.jsonl >"$BATS_TEST_TMPDIR/along"
    slope='{kind: "slope", along: "mappings", of: "spawn/forkless_start/rss:1GiB", at_most: 50}'
    run -0 values "$slope" "$BATS_TEST_TMPDIR/along"
    [[ $output == *" x  holds  "*" 2.0 ns  2.0 to 2.0 "*"<= 50.0 ns"* ]]
    run -0 values "$slope + {kind: \"slope_ratio\", over: \"spawn/forkless_spawn/rss:1GiB\"}" "$BATS_TEST_TMPDIR/along"
    [[ $output == *" x  holds  "*" 2.000  2.000 to 2.000 "* ]]
    run -0 values "$slope" # a run without any
    [[ $output == *"undecided"*"the run does not measure spawn/forkless_start/rss:1GiB with another value of"* ]]
    run -0 values "$slope + {of: \"spawn/fork/rss:1GiB\"}"
    [[ $output == *"undecided"*"the run does not hold spawn/fork/rss:1GiB"* ]]
    run -2 values '{kind: "ratio", along: "mappings", of: "spawn/vfork", over: "spawn/vfork"}'
    [[ $output == *": bound 1: \`along\` goes with a slope only" ]]
}

@test "a bound for every cell that a pattern means, each with a line of its own" {
    pattern='{id: "add-*!", says: "* is *.", kind: "difference", of: "spawn/forkless_spawn/rss:1GiB/attributes:*", less: "spawn/forkless_spawn/rss:1GiB"}'
    run -0 values "$pattern"
    [[ $output == *$'\nfd is *.\n  add-fd!  '*$'\nenv is *.\n  add-env!  '*$'\nall is *.\n  add-all!  '*": 3 hold, 0 missed, 0 undecided" ]]
    run -0 values "$pattern" quick.jsonl
    [[ $output == *"  add-*!  undecided*"*"the run does not hold spawn/forkless_spawn/rss:1GiB/attributes:*"* ]]
    [[ $output == *": 0 hold, 0 missed, 1 undecided"* ]]
}

@test "bounds of a run with other axes" { golden bounds-axes 5 --bounds "$bounds" axes.jsonl; }

@test "at least is at most with the ends exchanged" {
    jq '{bounds: [.bounds[0], .bounds[1], .bounds[8]] | map(.at_least = .at_most | del(.at_most))}' \
        "$bounds" >"$BATS_TEST_TMPDIR/least.json"
    run "$report" --bounds "$BATS_TEST_TMPDIR/least.json" standard.jsonl
    [ "$status" -eq 5 ]
    [[ $output == *"paced-clone3 "*" missed "*"paced-posix_spawn "*" holds "*"start-call "*" undecided "* ]]
}

@test "ratios of a percentile: by round where the rounds have the samples, else of all together" {
    bound='{id: "x", kind: "ratio", figure: "stall", percentile: 99, of: "spawn/vfork/rss:1GiB", over: "spawn/vfork"}'
    # stalls N K: a run of ten rounds of N samples a cell: 1 us each but the last K, which take 100 us, or 50 where there is no memory.
    stalls() {
        jq -c --argjson n "$1" --argjson k "$2" 'select(.kind != "cell" or (.cell | test("^spawn/vfork(/rss:1GiB)?$")))
            | if .kind == "cell" then
            (if .cell == "spawn/vfork" then 50000 else 100000 end) as $long
            | .stall = [range($n) | if . < $n - $k then 1000 else $long end]
            | .call = .stall | .total = .stall | .cpu = .stall | del(.ready) else . end' axes.jsonl >"$BATS_TEST_TMPDIR/stalls"
    }
    stalls 500 10
    run -0 values "$bound | .at_most = 2" "$BATS_TEST_TMPDIR/stalls"
    [[ $output == *" x  holds  "*" 2.000  2.000 to 2.000 "* ]]
    stalls 60 1 # 600 together
    run -0 values "$bound | .at_most = 2" "$BATS_TEST_TMPDIR/stalls"
    [[ $output == *" x  holds  "*" 2.000  2.000 to 2.000 "* ]]
    run -5 values "$bound | .at_most = 1.9" "$BATS_TEST_TMPDIR/stalls"
    [[ $output == *" x  missed  "* ]]
    stalls 40 1
    run -0 values "$bound | .at_most = 2" "$BATS_TEST_TMPDIR/stalls"
    [[ $output == *"undecided"*"400 samples are too few for p99"* ]]
}

@test "a percentile that the samples cannot tell is undecided" {
    jq '{bounds: [.bounds[19] | .percentile = 99.9]}' "$bounds" >"$BATS_TEST_TMPDIR/far.json"
    run "$report" --bounds "$BATS_TEST_TMPDIR/far.json" standard.jsonl
    [ "$status" -eq 0 ]
    [[ $output == *"undecided"*"540 samples are too few for p99.9"* ]]
}
