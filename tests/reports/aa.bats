#!/usr/bin/env bats
# reports/aa, which counts the cells in which runs of the same program differ, and scripts/aa.

bats_require_minimum_version 1.5.0

setup() {
    aa=${FORKLESS_AA:?}
    cd "$BATS_TEST_DIRNAME/runs" || return
    changed=$BATS_TEST_TMPDIR/changed.jsonl
}

# change FILTER: jq's filter on each line of the run quick, in $changed.
change() {
    jq -c "$1" quick.jsonl >"$changed"
    run -1 cmp -s quick.jsonl "$changed"
}

# refused SENTENCE ARGUMENT...
refused() {
    local sentence=$1
    shift
    run -2 --separate-stderr "$aa" "$@"
    [ -z "$output" ]
    # shellcheck disable=SC2154  # bats sets it
    [ "$stderr" = "aa: $sentence" ]
}

@test "identical runs: nothing is apart, and what has no floor is not counted" {
    run -0 "$aa" quick.jsonl quick.jsonl quick.jsonl quick.jsonl
    # 6 strategies at 4 sizes; back to back and 16 at once have no floors here
    [ "$output" = 'pair 1: 0 of 24 cells apart
pair 2: 0 of 24 cells apart
0 of 48 cells apart: 0.0 %, within 2 %
0 of 2 pairs raise an alarm, within 2' ]
}

@test "one cell that shifted is found" {
    change 'if .cell == "spawn/fork/rss:4GiB" then .call |= map(3 * .) else . end'
    run -5 "$aa" quick.jsonl "$changed"
    [ "$output" = 'pair 1: 1 of 24 cells apart: spawn/fork/rss:4GiB 68.9 to 85.3 against 207 to 256
1 of 24 cells apart: 4.2 %, beyond 2 %
1 of 1 pair raise an alarm, within 2' ]
    run -0 "$aa" quick.jsonl "$changed" quick.jsonl quick.jsonl quick.jsonl quick.jsonl
    [[ $output == *$'\n1 of 72 cells apart: 1.4 %, within 2 %\n1 of 3 pairs raise an alarm, within 2' ]]
}

@test "each strategy is measured by its own floor, and what slows both does not count" {
    change 'if .cell and (.cell | test("floor_vm|forkless_start")) then .call |= map(3 * .) else . end'
    run -0 "$aa" quick.jsonl "$changed"
    change 'if .cell and (.cell | test("floor_vm")) then .call |= map(3 * .) else . end'
    run -5 "$aa" quick.jsonl "$changed"
    [[ $output == *"pair 1: 4 of 24 cells apart: spawn/forkless_start "* ]]
    [ "$(wc -L <<<"$output")" -le 80 ]
    change 'if .cell and (.cell | test("floor_vfork")) then .call |= map(3 * .) else . end'
    run -5 "$aa" quick.jsonl "$changed"
    [[ $output == *"pair 1: 20 of 24 cells apart: spawn/vfork "* ]]
}

@test "a cell that one of the runs did not measure is not counted, and that is said" {
    change 'if .cell == "spawn/fork/rss:4GiB" then {kind, round, cell, state: "failed", reason: "x"} else . end'
    run -6 "$aa" quick.jsonl "$changed"
    [[ $output == *"1 cells left out: "*"0 of 23 cells apart: "* ]]
}

@test "runs that tell nothing are inconclusive" {
    run -6 "$aa" nothing.jsonl nothing.jsonl
    [[ $output == *$'\nno cell has a multiple of its floor in six rounds of both runs' ]]
    run -6 "$aa" one-round.jsonl one-round.jsonl
}

@test "unlike cells or hosts are refused, before anything is counted" {
    refused "quick.jsonl and standard.jsonl are of unlike cells" quick.jsonl quick.jsonl quick.jsonl standard.jsonl
    change 'if .kind == "run" then .host.kernel = "5.10" else . end'
    refused "quick.jsonl and $changed are of unlike hosts" quick.jsonl "$changed"
    change 'if .kind == "run" then .cells[3].gap = 5 else . end'
    refused "quick.jsonl and $changed are of unlike cells" quick.jsonl "$changed"
    refused "absent: cannot be opened: No such file or directory" quick.jsonl absent
}

@test "usage" {
    for arguments in "" "quick.jsonl" "quick.jsonl quick.jsonl quick.jsonl"; do
        # shellcheck disable=SC2086
        run -2 "$aa" $arguments
        [[ $output == *": runs come in pairs"* ]]
    done
    for arguments in 0 -1 x "1 2" 1000; do
        # shellcheck disable=SC2086
        run -2 "$SOURCE/scripts/aa" $arguments
        [[ $output == *"usage: scripts/aa "* ]]
    done
    run -0 "$SOURCE/scripts/aa" --help
}

@test "what cannot be written is told" {
    status=0
    "$aa" quick.jsonl quick.jsonl >/dev/full 2>"$BATS_TEST_TMPDIR/talk" || status=$?
    [ "$status" -eq 1 ]
    grep ': cannot write the counts: No space left on device$' "$BATS_TEST_TMPDIR/talk"
}
