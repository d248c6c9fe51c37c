#!/usr/bin/env bats
# The program forkless-report: its pages against golden ones, its exit codes.
# To make the golden pages anew, after looking at the difference: GOLDEN=write bats report.bats
# shellcheck disable=SC2016,SC2154  # the sentences quote names in backticks; setup and run set the variables

load report

@test "a quick run" { golden quick 0 quick.jsonl; }

@test "a run with failed, unsupported and late cells" { golden failed 3 failed.jsonl; }

@test "a run in which nothing was measured" { golden nothing 3 nothing.jsonl; }

@test "one round, one size, back to back, a target that does not stamp, no fork" {
    golden one-round 0 one-round.jsonl
}

@test "a standard run, with cells at some sizes only" { golden standard 0 standard.jsonl; }

@test "a resumed run, with disturbed blocks and warnings" { golden resumed 0 resumed.jsonl; }

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
    [ "$stderr" = "forkless-report: one-round.jsonl: cannot predict: fork was not measured with parents of two sizes in one round" ]
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

@test "other samples of one cell change its row and no other" {
    sed '/"cell":"spawn.vfork.rss:1GiB","state"/s/"call":\[[0-9]*,/"call":[9000000,/' quick.jsonl \
        >"$BATS_TEST_TMPDIR/slower"
    cd "$BATS_TEST_TMPDIR"
    cp "$here/runs/quick.jsonl" before
    diff <("$report" before | sed '$d') <("$report" slower | sed '$d') >difference || true
    [ "$(grep -c '^>' difference)" -eq 1 ]
    grep '^>  vfork ' difference
}

@test "the strategy that holds its caller least is found, whichever it is" {
    sed 's/forkless_start/slow_start/g; s/vfork/forkless_start/g; s/slow_start/vfork/g' quick.jsonl \
        >"$BATS_TEST_TMPDIR/swapped"
    run "$report" "$BATS_TEST_TMPDIR/swapped"
    [[ $output == *$'\n'"vfork holds it least: "* ]]
    [[ $output != *"The child is ready"* ]]
}

@test "one strategy alone is not the least" {
    grep -v '"cell":"spawn/\(fork\|posix\)' one-round.jsonl >"$BATS_TEST_TMPDIR/alone"
    run "$report" "$BATS_TEST_TMPDIR/alone"
    [[ $output == *$'\n'"vfork holds its caller: "* ]]
}

# shifted MICROSECONDS: quick.jsonl with `ready` of each start at 4 GiB shifted.
shifted() {
    jq -c --argjson us "$1" 'if .cell == "spawn/forkless_start/rss:4GiB"
        then .ready |= map(. + 1000 * $us | if . < 0 then 0 else . end) else . end' quick.jsonl \
        >"$BATS_TEST_TMPDIR/shifted"
    "$report" "$BATS_TEST_TMPDIR/shifted" | tr '\n' ' '
}

@test "sooner, later, or not told apart from vfork is decided by the interval" {
    [[ $(shifted -250) =~ "The child is ready "[0-9]+" us sooner than with vfork (CI " ]]
    [[ $(shifted 0) =~ "When the child is ready is not told apart from vfork (CI of the difference -"[0-9.]+" to "[0-9.]+" us), and 16" ]]
    [[ $(shifted 250) =~ "The child is ready "[0-9]+" us later than with vfork (CI " ]]
}

@test "strategies that the rounds do not tell apart are named" {
    jq -cs 'map(select(.cell == "spawn/vfork/rss:4GiB")) as $vfork | .[]
        | select(.cell // "" | test("forkless") | not)
        | if .cell == "spawn/clone3/rss:4GiB" then $vfork[.round] + {cell} else . end' \
        quick.jsonl >"$BATS_TEST_TMPDIR/twins"
    run "$report" "$BATS_TEST_TMPDIR/twins"
    [[ ${output//$'\n'/ } == *"vfork holds it least: "*"; not told apart from it: clone3."* ]]
}

@test "the shape of the standard matrix: more targets, back to back at more sizes" {
    golden targets 0 targets.jsonl
}

@test "without the default target the first one has the main tables" {
    run "$report" <(sed '1s/"target":"dynamic"\(}]\)/"target":"static"\1/' one-round.jsonl)
    [[ $output == *$'\na dynamic program, '*$'\nOther targets at 1 GiB: '*" dynamic    static"$'\n'* ]]
}

@test "every cell that was measured is shown, whatever its axes" {
    # Each cell's samples tell its number; some cells are where no table looks for them.
    jq -c 'if .kind == "run" then .cells |= map(
            if .name == "spawn/floor_vm/rss:256MiB" then .at_once = 16
            elif .name == "spawn/fork/rss:256MiB" then .gap = 10000000
            elif .name == "spawn/vfork/rss:1GiB/target:static" then .at_once = 4
            elif .name == "spawn/clone3/rss:1GiB/target:dynamic" then .gap = 0
            elif .name == "spawn/posix_spawn/rss:1GiB/target:static" then .rss = 0
            else . end) else . end' targets.jsonl |
        jq -cs '(.[0].cells | to_entries | map({key: .value.name, value: (1000 + .key)}) | from_entries) as $number
            | .[] | if .kind == "cell" then (1000000 * $number[.cell]) as $ns | .call = [$ns] | .total = [$ns] | .cpu = [$ns]
                | del(.ready) else . end' >"$BATS_TEST_TMPDIR/numbered"
    run "$report" "$BATS_TEST_TMPDIR/numbered"
    [ "$status" -eq 0 ]
    for ((number = 1001; number < 1081; number++)); do
        [[ $output == *" $number ms"* ]]
    done
    [[ $output == *$'\n16 at once at 256 MiB: medians\n'* ]]
    [[ $output == *$'\n4 at once at 1 GiB, a static program: medians\n'* ]]
    [[ $output == *$'\nOne spawn at 1 GiB, back to back, a dynamic program: medians\n'* ]]
    [[ $output == *$'\nHow long one spawn holds its caller, 10 ms of work between spawns: medians\n'* ]]
    [[ $output == *$'\nOther targets at 0 MiB: '* ]]
}

@test "axes that are none" {
    for filter in 'fds = -1|`fds` is below 0' 'spawners = 0|`spawners` is below 1' 'spawners = "2"|`spawners` is not a whole number' \
        'attributes = 3|`attributes` is not a text'; do
        jq -c "if .kind == \"run\" then .cells[1].${filter%|*} else . end" one-round.jsonl >"$BATS_TEST_TMPDIR/bad"
        run -2 --separate-stderr "$report" "$BATS_TEST_TMPDIR/bad"
        # shellcheck disable=SC2154  # bats sets it
        [ "$stderr" = "forkless-report: $BATS_TEST_TMPDIR/bad:1: ${filter#*|}" ]
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

@test "few disturbed rounds are named, many are counted" {
    run "$report" <(jq -c 'if .kind == "block" and .rss == 0 then .disturbed = "x" else . end' resumed.jsonl)
    [[ ${output//$'\n       '/ } == *"; 9 of 16 blocks were disturbed (8 rounds; at worst other programs used 17 % of the CPU time); their samples are kept"* ]]
    run "$report" <(jq -c 'if .round == 3 then del(.disturbed) else . end' resumed.jsonl)
    [[ ${output//$'\n       '/ } == *"Noise  low: "*"; 1 of 16 blocks was disturbed (round 4; other programs used 17 % of the CPU time); its samples are kept"* ]]
}

@test "usage" {
    run "$report"
    [ "$status" -eq 2 ]
    [[ $output == *": RUN is missing"* ]]
    run "$report" a b
    [ "$status" -eq 2 ]
    [[ $output == *": one RUN at a time"* ]]
    run "$report" --no-such-option
    [ "$status" -eq 2 ]
    run "$report" --help
    [ "$status" -eq 0 ]
    [[ $output == *"--bounds=BOUNDS"* ]]
}

@test "what cannot be written is told" {
    for arguments in quick.jsonl "--bounds $bounds standard.jsonl" "--predict 1GiB quick.jsonl"; do
        status=0
        # shellcheck disable=SC2086
        "$report" $arguments >&- 2>"$BATS_TEST_TMPDIR/talk" || status=$?
        [ "$status" -eq 1 ]
        grep -q ': cannot write the report: Bad file descriptor$' "$BATS_TEST_TMPDIR/talk"
        status=0
        # shellcheck disable=SC2086
        "$report" $arguments >/dev/full 2>"$BATS_TEST_TMPDIR/talk" || status=$?
        [ "$status" -eq 1 ]
        grep -q ': cannot write the report: No space left on device$' "$BATS_TEST_TMPDIR/talk"
    done
}

@test "a reader that has gone is told, not died of" {
    mkfifo "$BATS_TEST_TMPDIR/pipe"
    # shellcheck disable=SC2094
    exec 8<>"$BATS_TEST_TMPDIR/pipe" 9>"$BATS_TEST_TMPDIR/pipe" 8<&-
    status=0
    "$report" quick.jsonl >&9 2>"$BATS_TEST_TMPDIR/talk" || status=$?
    exec 9>&-
    [ "$status" -eq 1 ]
    grep -q ': cannot write the report: Broken pipe$' "$BATS_TEST_TMPDIR/talk"
}
