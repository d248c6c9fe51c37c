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

# taking FORK POSIX_SPAWN: the run targets, with totals of dynamic programs that are such parts of forkless_start's.
taking() {
    jq -c --argjson fork "$1" --argjson posix "$2" 'if .state == "measured" and (.cell | test("target:dynamic")) then
        (if .cell | test("/fork/") then $fork elif .cell | test("posix") then $posix else 1 end) as $part
        | .total |= map(1000000 / $part | round) else . end' targets.jsonl >"$BATS_TEST_TMPDIR/taking"
    "$report" "$BATS_TEST_TMPDIR/taking" | sed -n '/^When it does not/,/^$/d; /^ target .*fork.s/,/^$/p' | tr -s ' '
}

@test "where it does not matter: only what takes as long either way" {
    diff - <(taking 2.1 0.95) <<'END'
 target of fork's of posix_spawn's
 dynamic at 1 GiB - 0.95 (0.95 to 0.95)

END
    diff - <(taking 0.91 1.08) <<'END'
 target of fork's of posix_spawn's
 dynamic at 1 GiB 0.91 (0.91 to 0.91) 1.1 (1.1 to 1.1)

END
    for parts in "2.1 1.12" "0.5 0.89"; do
        # shellcheck disable=SC2086
        [ -z "$(taking $parts)" ]
        run ! grep "does not matter" <("$report" "$BATS_TEST_TMPDIR/taking")
    done
}

@test "without the default target the first one has the main tables" {
    run "$report" <(sed '1s/"target":"dynamic"\(}]\)/"target":"static"\1/' one-round.jsonl)
    [[ $output == *$'\na dynamic program, '*$'\nOther targets at 1 GiB: '*" dynamic    static"$'\n'* ]]
}

@test "a target that only cells with a victim or what comes after have is none of the others" {
    jq -c 'def late: sub("floor_vm/rss:1GiB/target:static"; "floor_vm/rss:1GiB/after:living/target:waiter");
        if .kind == "run" then .cells |= map(.name |= late | if .name | test("waiter") then .target = "waiter" else . end)
        elif .cell then .cell |= late else . end' targets.jsonl >"$BATS_TEST_TMPDIR/late"
    run -0 "$report" "$BATS_TEST_TMPDIR/late"
    [[ $output == *$'\nOther targets at 1 GiB: '* ]]
    [[ $output != *waiter* ]]
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

# others FILTER: the first rows of the first table of stalls, of the run as jq changes its cells.
others() {
    jq -c "if .stall then $1 else . end" others.jsonl >"$BATS_TEST_TMPDIR/others"
    "$report" "$BATS_TEST_TMPDIR/others" >"$BATS_TEST_TMPDIR/page"
    sed -n '/^How long others/,$p' "$BATS_TEST_TMPDIR/page" | sed -n '/^ null/,/^$/p' | sed '/^$/q'
}

@test "a long quiet window adds nothing, and a planted stall is added whole" {
    run -0 others 'if .cell | test("/fork/") then .stall |= map(. + 200e6) | .stall_blocked |= map(. + 200e6) | .baseline = .stall
        elif .cell | test("floor") then .stall = (.baseline | map(. + 5e6)) else . end'
    [[ $output == *$'\n fork '*" 0 us (0 to 0)"* ]]
    [[ $output == *$'\n floor_vfork '*" 5.0 ms (5.0 to 5.0)"* ]]
}

@test "what is added is of each sample: differences have a median of their own" {
    # stall 1, 2, 9; baseline 2, 9, 1 (ms): the medians are alike, that of -1, -7, 8 is not nothing
    run -0 others '.call |= .[:3] | .total |= .[:3] | .cpu |= .[:3] | if .ready then .ready |= .[:3] else . end
        | .stall = [1e6, 2e6, 9e6] | .stall_busy = [0, 0, 0] | .stall_waiting = [0, 0, 0] | .stall_blocked = .stall | .baseline = [2e6, 9e6, 1e6]'
    [[ $output == *$'\n floor_vfork '*" 2.0 ms  "*" 2.0 ms  "*" -1.0 ms (-1.0 to -1.0)"* ]]
}

@test "runs from before there was a baseline say nothing of what is added" {
    run -0 others 'del(.baseline)'
    [ "$(grep -c -E '^ (null|f).* - +- *' <<<"$output")" -ge 4 ]
    [[ $output != *"("*" to "* ]]
    run -0 "$report" "$here/../../results/reference/2026-11-30T17-batches.jsonl"
    [[ $output == *"How long others stood still at 4 GiB: victim faulter"* ]]
    [ "$(sed -n '/^How long others/,/^What comes/p' <<<"$output" | grep -c -E '\(-?[0-9.]+ to ')" -eq 0 ]
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
    for arguments in quick.jsonl "--bounds $bounds standard.jsonl" "--predict 1GiB quick.jsonl" "--format html standard.jsonl"; do
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
