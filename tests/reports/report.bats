#!/usr/bin/env bats
# The program forkless-report: its pages against golden ones, its refusals, its exit codes.
# shellcheck disable=SC2016  # the sentences quote names in backticks
# To make the golden pages anew, after looking at the difference: GOLDEN=write bats report.bats

bats_require_minimum_version 1.5.0

setup() {
    here=$BATS_TEST_DIRNAME
    report=${FORKLESS_REPORT:?}
    bounds=$here/../../results/bounds.json
    cd "$here/runs" || return
}

# golden NAME STATUS ARGUMENT...: the page, its exit code, its silence and its width.
golden() {
    local page=$here/golden/$1.txt found=$BATS_TEST_TMPDIR/page status=0 expected=$2
    shift 2
    "$report" "$@" >"$found" 2>"$BATS_TEST_TMPDIR/talk" || status=$?
    [ "${GOLDEN:-}" != write ] || cp "$found" "$page"
    diff -u "$page" "$found"
    [ "$status" -eq "$expected" ]
    [ ! -s "$BATS_TEST_TMPDIR/talk" ]
    [ "$(wc -L <"$found")" -le 80 ]
}

# refused SENTENCE ARGUMENT...: nothing on stdout, one sentence on stderr, exit 2.
refused() {
    local status=0 expected="${report##*/}: $1"
    shift
    "$report" "$@" >"$BATS_TEST_TMPDIR/page" 2>"$BATS_TEST_TMPDIR/talk" || status=$?
    diff -u <(echo "$expected") "$BATS_TEST_TMPDIR/talk"
    [ "$status" -eq 2 ]
    [ ! -s "$BATS_TEST_TMPDIR/page" ]
}

# changed LINE SED_SCRIPT: the run one-round with one line changed, in the file `bad`.
changed() {
    cd "$BATS_TEST_TMPDIR" || return
    sed "$1 $2" "$here/runs/one-round.jsonl" >bad
    ! cmp -s bad "$here/runs/one-round.jsonl"
}

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

@test "bounds of a standard run" { golden bounds-standard 5 --bounds "$bounds" standard.jsonl; }

@test "bounds of a quick run" { golden bounds-quick 0 --bounds "$bounds" quick.jsonl; }

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

@test "not a results file" {
    cd "$BATS_TEST_TMPDIR"
    refused "absent: cannot be opened: No such file or directory" absent
    refused ".: cannot be read: Is a directory" .
    : >bad
    refused "bad: the file is empty" bad
    echo '{"kind":"benchmark"}' >bad
    refused "bad:1: this is no forkless results file" bad
    echo 'hello' >bad
    refused "bad:1: this is no forkless results file" bad
    echo '[1]' >bad
    refused "bad:1: this is no forkless results file" bad
    head -c 100 "$here/runs/quick.jsonl" >bad
    refused "bad: there is no complete line: no run began" bad
    head -c 5000 /dev/zero >bad
    echo >>bad
    refused "bad:1: this is no forkless results file" bad
}

@test "a newer schema" {
    changed 1 's/"schema":1/"schema":3/'
    refused "bad:1: schema 3 is newer than 2, the newest known here" bad
}

@test "broken JSON in the middle" {
    changed 2 's/"call":\[/"call":[,/'
    refused "bad:2: broken JSON: unexpected token near ','" bad
}

@test "wrong types and impossible values" {
    changed 1 's/"rounds":1/"rounds":"1"/'
    refused 'bad:1: `rounds` is not a whole number' bad
    changed 1 's/"rounds":1/"rounds":0/'
    refused 'bad:1: `rounds` is below 1' bad
    changed 1 's/"rounds":1/"rounds":99999999999/'
    refused 'bad:1: `rounds` is above 10000' bad
    changed 1 's/"matrix":"quick",//'
    refused 'bad:1: `matrix` is missing' bad
    changed 1 's/"cells":.*/"cells":[]}/'
    refused 'bad:1: the run lists no cells' bad
    changed 1 's/"virtual":true/"virtual":1/'
    refused 'bad:1: `virtual` is not true or false' bad
    changed 2 's/"call":\[/"call":[1.5,/'
    refused 'bad:2: sample 1 of `call` is not a whole number of at least 0' bad
    changed 2 's/"call":\[/"call":[-5,/'
    refused 'bad:2: sample 1 of `call` is not a whole number of at least 0' bad
    changed 2 's/"call":\[[0-9,]*\]/"call":[]/'
    refused 'bad:2: `call` has no samples' bad
    changed 2 's/"call":\[/"call":[1,/'
    refused 'bad:2: `total` has 5 samples but `call` has 6' bad
    changed 2 's/"state":"measured"/"state":"fine"/'
    refused 'bad:2: `state` is fine, not one of measured, failed, unsupported, timeout' bad
    changed 2 's/"state":"measured"/"state":"failed"/'
    refused 'bad:2: `reason` is missing' bad
    changed 3 's/"steal":0.002/"steal":"none"/'
    refused 'bad:3: `steal` is not a number' bad
    changed 3 's/"steal":0.002/"steal":NaN/'
    refused "bad:3: broken JSON: invalid token near 'NaN'" bad
}

@test "lines that contradict the run line or each other" {
    changed 2 's/spawn.null/spawn\/other/'
    refused 'bad:2: the cell spawn/other is not one that the run lists' bad
    changed 2 's/"round":0/"round":1/'
    refused 'bad:2: round 1 does not exist: the run has 1, from 0' bad
    changed 2 p
    refused 'bad:3: the cell spawn/null has round 0 twice' bad
    changed 1 's/spawn.vfork/spawn\/posix_spawn/'
    refused 'bad:1: the cell spawn/posix_spawn/rss:1GiB/gap:0/target:dynamic is listed twice' bad
    changed 1 p
    refused 'bad:2: `kind` is not one of cell, block, resume, end' bad
    changed '$' p
    refused 'bad:9: there is a line after the end' bad
}

# altered FILTER: the run resumed with its lines changed by jq, in the file `bad`.
altered() {
    cd "$BATS_TEST_TMPDIR" || return
    jq -c "$1" "$here/runs/resumed.jsonl" >bad
    ! cmp -s bad "$here/runs/resumed.jsonl"
}

@test "what schema 2 adds is checked as strictly" {
    altered 'if .kind == "run" then del(.findings) else . end'
    refused 'bad:1: `findings` is missing' bad
    altered 'if .kind == "run" then .findings[1].level = "bad" else . end'
    refused 'bad:1: `level` is bad, not one of good, note, warning, unknown' bad
    altered 'if .kind == "run" then .findings[1].found = 5 else . end'
    refused 'bad:1: `found` is not a text' bad
    altered 'if .kind == "block" then del(.other) else . end'
    refused 'bad:7: `other` is missing' bad
    altered 'if .kind == "block" then .disturbed = true else . end'
    refused 'bad:7: `disturbed` is not a text' bad
    altered 'if .kind == "block" then .round = 4 else . end'
    refused 'bad:7: round 4 does not exist: the run has 4, from 0' bad
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
.bounds[0].percentile = 99|bound 1: `percentile` goes with the kind `value` only
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

@test "a percentile that the samples cannot tell is undecided" {
    jq '{bounds: [.bounds[19] | .percentile = 99.9]}' "$bounds" >"$BATS_TEST_TMPDIR/far.json"
    run "$report" --bounds "$BATS_TEST_TMPDIR/far.json" standard.jsonl
    [ "$status" -eq 0 ]
    [[ $output == *"undecided"*"540 samples are too few for p99.9"* ]]
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
