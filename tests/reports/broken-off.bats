#!/usr/bin/env bats
# Runs that were killed, cut off, interrupted, or gone on with, as forkless-report reads them.
# To make the golden pages anew, after looking at the difference: GOLDEN=write bats broken-off.bats
# shellcheck disable=SC2016,SC2154  # the sentences quote names in backticks; setup and run set the variables

load report

@test "a killed run: the line that was cut off is dropped" {
    head -c 60000 quick.jsonl >"$BATS_TEST_TMPDIR/killed.jsonl"
    cd "$BATS_TEST_TMPDIR"
    golden killed 0 killed.jsonl
}

@test "a run that was killed before its first cell" {
    head -n 1 quick.jsonl >"$BATS_TEST_TMPDIR/killed.jsonl"
    cd "$BATS_TEST_TMPDIR"
    golden killed-at-once 0 killed.jsonl
}

@test "an interrupted run says so" {
    sed 's/"interrupted":false/"interrupted":true/' one-round.jsonl >"$BATS_TEST_TMPDIR/interrupted"
    run "$report" "$BATS_TEST_TMPDIR/interrupted"
    [ "$status" -eq 0 ]
    [[ $output == *"(4 of 4 measured, 0 failed; interrupted)" ]]
}

@test "cut off anywhere, it is a shorter run or one that never began" {
    size=$(stat -c %s one-round.jsonl) first=$(head -n 1 one-round.jsonl | wc -c)
    for ((cut = 0; cut <= size; cut += 61)); do
        status=0
        head -c $cut one-round.jsonl >"$BATS_TEST_TMPDIR/cut"
        "$report" "$BATS_TEST_TMPDIR/cut" >/dev/null 2>&1 || status=$?
        [ "$status" -eq $((cut < first ? 2 : 0)) ]
    done
}

@test "a run that goes on" {
    altered 'if .kind == "resume" then .rounds = 3 else . end'
    refused 'bad:47: `rounds` is below 4' bad
    altered 'if .kind == "resume" then .rounds = 10001 else . end'
    refused 'bad:47: `rounds` is above 10000' bad
    altered 'if .kind == "resume" then .rounds = 5 elif .round == 5 then .round = 4 else . end'
    refused 'bad:59: the cell spawn/null has round 4 twice' bad
    altered 'if .kind == "resume" then del(.findings) else . end'
    refused 'bad:47: `findings` is missing' bad
    altered 'if .kind == "resume" then .kind = "block" else . end'
    refused 'bad:47: there is a line after the end' bad
    changed '$' 'a {"kind":"resume","rounds":2,"started":"2026-11-29T15:02:10Z","findings":[]}'
    refused 'bad:9: schema 1 has no resume line' bad
    (sed -n '1p;47p' "$here/runs/resumed.jsonl"; sed -n '47,$p' "$here/runs/resumed.jsonl") >bad
    run "$report" bad
    [ "$status" -eq 0 ]
    [[ $output == *"(36 of 72 measured, 0 failed; resumed 2 times)" ]]
}

@test "a run that was cut off after it went on" {
    size=$(stat -c %s resumed.jsonl) before=$(head -n 46 resumed.jsonl | wc -c)
    resumed=$(head -n 47 resumed.jsonl | wc -c)
    for ((cut = before; cut < size; cut += 211)); do
        head -c $cut resumed.jsonl >"$BATS_TEST_TMPDIR/cut"
        run "$report" "$BATS_TEST_TMPDIR/cut"
        [ "$status" -eq 0 ]
        if ((cut < resumed)); then
            [[ $output == *"; interrupted)" ]]
        else
            [[ ${output//$'\n        '/ } == *" of 72 measured, 0 failed; resumed once; no end: killed, or still running)" ]]
        fi
    done
}
