#!/usr/bin/env bats
# What hyperfine and a run say of the same strategies: reports/clocks, and scripts/second-clock as far as it measures nothing.
# shellcheck disable=SC2154  # bats sets stderr

bats_require_minimum_version 1.5.0

setup() {
    clocks=${CLOCKS:?}
    cd "$BATS_TEST_DIRNAME/second-clock" || return
    changed=$BATS_TEST_TMPDIR/changed
}

# change FILE FILTER: jq's filter on the file, in $changed.
change() { jq -c "$2" "$1" >"$changed"; }

# A row of a table in $output, with one blank between its columns
rows() { grep "^ $1 " <<<"$output" | tr -s ' '; }

# refused SENTENCE ARGUMENT...
refused() {
    local sentence=$1
    shift
    run -2 --separate-stderr "$clocks" "$@"
    [ -z "$output" ]
    [ "$stderr" = "clocks: $sentence" ]
}

@test "two clocks that agree in multiples of the floor, though not in time" {
    run -0 "$clocks" agree.json run.jsonl
    [ "$output" = "$(cat agree.txt)" ]
    [ "$(wc -L <agree.txt)" -le 80 ]
}

@test "a strategy that one clock sees 30 % dearer, and one 20 % cheaper" {
    run -5 "$clocks" differ.json run.jsonl
    [ "$(rows fork)" = " fork 300 us 2.99 430 us 3.88 1.30
 fork 2.99 to 2.99 3.88 to 3.88 1.30 to 1.30 differs" ]
    [ "$(rows posix_spawn)" = " posix_spawn 150 us 1.49 132 us 1.19 0.80
 posix_spawn 1.49 to 1.52 1.19 to 1.22 0.78 to 0.82 differs" ]
    [[ $output == *$'\n1 of 3 agree within 10 %, 0 undecided, 2 differ' ]]
}

@test "intervals that reach beyond 10 % decide nothing" {
    run -6 "$clocks" undecided.json run.jsonl
    [[ $output == *$'\n1 of 3 agree within 10 %, 2 undecided, 0 differ' ]]
    # Fewer than 6 rounds do not either, however much they agree or differ.
    change differ.json '.rounds |= .[:5]'
    run -6 "$clocks" "$changed" run.jsonl
    [[ $output == *$'\n0 of 3 agree within 10 %, 3 undecided, 0 differ' ]]
    change agree.json '.rounds |= .[:1]'
    run -6 "$clocks" "$changed" run.jsonl
    [[ $(rows fork) == *$'\n fork 2.99 to 2.99 - - undecided' ]]
}

@test "a spawn is the difference of the medians of both storms, by the children between them" {
    change agree.json '.children = 50 | .rounds[].fork = {without: [9, 0.001, 0.002], with: [0.007, 0.0045, 8]}'
    run -5 "$clocks" "$changed" run.jsonl
    [[ $(rows fork) == " fork 300 us 2.99 100 us 0.23 "* ]]
}

@test "a storm of 200 that took no longer than one of 0 tells nothing" {
    change agree.json '.rounds[].fork.with = [0.0001] | .rounds[0].vfork.with = [0.0001]'
    run -6 "$clocks" "$changed" run.jsonl
    [ "$(rows fork)" = " fork 300 us 2.99 - - -
 fork 2.99 to 2.99 - - undecided" ]
    [[ $output == *$'\n2 of 3 agree within 10 %, 1 undecided, 0 differ' ]]
    [[ $output != *nan* && $output != *inf* ]]
    change agree.json '.rounds[].fork.with = [1e308]'
    run -6 "$clocks" "$changed" run.jsonl
    [[ $output != *nan* && $output != *inf* ]]
}

@test "what only one clock has measured is named and not judged" {
    change agree.json 'del(.rounds[].fork) | .rounds[3].clone3 = {without: [1], with: [2]}'
    run -0 "$clocks" "$changed" run.jsonl
    [[ $output == *$'\nby one clock only: fork, clone3\n2 of 2 agree within 10 %, 0 undecided, 0 differ' ]]
    change agree.json 'del(.rounds[].floor_vfork)'
    run -6 "$clocks" "$changed" run.jsonl
    [ "${lines[0]}" = "at rss:0 gap:0 not both have floor_vfork, of which the others are multiples" ]
    run -6 --separate-stderr "$clocks" agree.json ../runs/quick.jsonl
    [[ $output == *$'\n0 of 0 agree within 10 %, 0 undecided, 0 differ' ]]
}

@test "unlike hosts are refused" {
    change agree.json '.host.kernel = "5.10"'
    refused "$changed and run.jsonl are of unlike hosts" "$changed" run.jsonl
}

@test "bad files are refused in one sentence" {
    refused "absent: cannot be opened: No such file or directory" absent run.jsonl
    refused "absent: cannot be opened: No such file or directory" agree.json absent
    : >"$changed"
    run -2 "$clocks" "$changed" run.jsonl
    [[ $output == "clocks: $changed:"[0-9]*": broken JSON: "* ]]
    head -c 1000 agree.json >"$changed"
    run -2 "$clocks" "$changed" run.jsonl
    [[ $output == "clocks: $changed:"[0-9]*": broken JSON: "* ]]
    echo '[]' >"$changed"
    refused "$changed: this is no file of scripts/second-clock" "$changed" run.jsonl
    change agree.json '.schema = 2'
    refused "$changed: schema 2 is newer than 1, the newest known here" "$changed" run.jsonl
    change agree.json '.rounds = []'
    refused "$changed: there is no round" "$changed" run.jsonl
    change agree.json '.children = 0'
    refused "$changed: \`children\` is below 1" "$changed" run.jsonl
    change agree.json '.rounds[2] = 7'
    refused "$changed: round 2 is not an object" "$changed" run.jsonl
    change agree.json '.rounds[2].fork.with = []'
    refused "$changed: round 2, fork: \`with\` has no times" "$changed" run.jsonl
    change agree.json '.rounds[2].fork.without[1] = -1'
    refused "$changed: round 2, fork: time 2 of \`without\` is no number above 0" "$changed" run.jsonl
    change agree.json '.rounds[2]["a\n\u001b[31m"] = {}'
    refused "$changed: round 2, a  [31m: \`without\` is missing" "$changed" run.jsonl
}

@test "usage" {
    for arguments in "" "agree.json"; do
        # shellcheck disable=SC2086
        run -2 "$clocks" $arguments
        [[ $output == *": FILE and RUN are needed"* ]]
    done
    run -2 "$clocks" agree.json run.jsonl run.jsonl
    for arguments in 0 -1 x "1 2" 1000; do
        # shellcheck disable=SC2086
        run -2 "$SOURCE/scripts/second-clock" $arguments
        [[ $output == *"usage: scripts/second-clock "* ]]
    done
    run -0 "$SOURCE/scripts/second-clock" --help
}

@test "what cannot be written is told" {
    status=0
    "$clocks" agree.json run.jsonl >/dev/full 2>"$BATS_TEST_TMPDIR/talk" || status=$?
    [ "$status" -eq 1 ]
    grep ': cannot write the comparison: No space left on device$' "$BATS_TEST_TMPDIR/talk"
}

@test "forkless-report shows it beside the run, in text and on the page" {
    args=(--second-clock agree.json run.jsonl)
    run -0 "$FORKLESS_REPORT" "${args[@]}"
    [[ $output == *"agree within 10 %"* ]]
    run -0 "$FORKLESS_REPORT" --format html "${args[@]}"
    [[ $output == *'id="clock"'*"A second clock"*agrees* ]]
    run -2 --separate-stderr "$FORKLESS_REPORT" --second-clock run.jsonl run.jsonl
    [[ $stderr == "forkless-report: run.jsonl"* ]]
}
