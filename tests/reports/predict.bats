#!/usr/bin/env bats
# Predictions of forkless-report for a parent of another size.
# To make the golden pages anew, after looking at the difference: GOLDEN=write bats predict.bats
# shellcheck disable=SC2154  # setup and run set the variables

load report

@test "a prediction from the reference run, within and beyond what was measured" {
    cp "$here/../../results/reference/2026-11-29-quick.jsonl" "$BATS_TEST_TMPDIR"
    cd "$BATS_TEST_TMPDIR"
    golden predict-1GiB 0 --predict 1GiB 2026-11-29-quick.jsonl
    golden predict-64GiB 0 --predict 64GiB 2026-11-29-quick.jsonl
    diff "$here/golden/predict-1GiB.txt" <("$report" -p 1073741824 2026-11-29-quick.jsonl)
}

@test "a prediction says what it rests on" { golden predict-resumed 0 --predict 512MiB resumed.jsonl; }

@test "a prediction is what Python's statistics.linear_regression finds for each round" {
    # With three rounds the interval is from the least to the largest.
    diff - <("$report" --predict 16GiB targets.jsonl) <<'PAGE'
one child holds its caller for      95 % interval
fork                    118 ms      111 to 172 ms
posix_spawn            0.70 ms      0.65 to 1.6 ms
forkless_spawn          326 us      318 to 375 us
forkless_start          112 us      83 to 219 us
beyond the 4 GiB that were measured: only growth that can be told is drawn on
only 3 rounds: too few for an interval to rely on
PAGE
}

@test "a prediction is of the default target or of the only one" {
    "$report" -p 1GiB resumed.jsonl >"$BATS_TEST_TMPDIR/tiny"
    diff "$BATS_TEST_TMPDIR/tiny" <("$report" -p 1GiB <(sed 's/"target":"tiny"/"target":".\/mine"/g' resumed.jsonl))
    sed '1s/"target":"tiny"/"target":"static"/9; 1s/"target":"tiny"/"target":"dynamic"/g' resumed.jsonl \
        >"$BATS_TEST_TMPDIR/two"
    cd "$BATS_TEST_TMPDIR"
    run -4 --separate-stderr "$report" -p 1GiB two
    [ -z "$output" ]
    # shellcheck disable=SC2154  # bats sets it
    [ "$stderr" = "forkless-report: two: cannot predict: there is no target tiny, and not one alone" ]
}

@test "a run that cannot predict" {
    run -4 --separate-stderr "$report" -p 1GiB one-round.jsonl
    [ -z "$output" ]
    [ "$stderr" = "forkless-report: one-round.jsonl: cannot predict: no round has fork, paced, one at a time and without further axes, with parents of two sizes" ]
    run -4 "$report" -p 1GiB nothing.jsonl
}

@test "sizes to predict for that are none" {
    for size in '1 GB' 1GB -1 +1 '' ' 1' MiB 1.5GiB 0x10 1GiBx 9223372036854775808 9000000TiB; do
        refused "--predict: '$size' is no size such as 1073741824, 512MiB or 1GiB" --predict "$size" quick.jsonl
    done
    "$report" --predict 0 quick.jsonl
    "$report" --predict 128TiB quick.jsonl
    refused "--predict: no process has more than 128TiB" --predict 9223372036854775807 quick.jsonl
    run -2 "$report" --predict 1GiB --bounds "$bounds" quick.jsonl
    [[ $output == *"--bounds and --predict exclude each other"* ]]
}
