#!/usr/bin/env bats
# What forkless-compare decides of a cell and of a run: the same, slower, inconclusive, or no.
# shellcheck disable=SC2016,SC2154  # jq has variables too; bats sets some

load compare

# The recipe of the man page: a baseline that is kept, and the exit code.
@test "the recipe for CI says no to a real slow-down, and well to none" {
    gate=(--fail-above 5% --ignore-below 2us)
    reference=$here/../../results/reference/2026-11-29-quick.jsonl
    # Two halves of the reference run: its even rounds are the baseline, the odd ones new.
    half() {
        jq -c "if .kind == \"run\" then .rounds = 10 | .started += \"$1\" elif .kind == \"block\" then empty
            elif .round then select(.round % 2 == $1) | .round = (.round - $1) / 2 else . end" "$reference"
    }
    half 0 >baseline.jsonl
    half 1 >new.jsonl
    run -0 "$compare" baseline.jsonl new.jsonl "${gate[@]}"
    [[ $output == *"0 faster, 0 slower, "*"; 0 beyond 5 %"* ]]
    # posix_spawn now takes half as long again: as if a target that it has to start were larger.
    jq -c 'if .state == "measured" and (.cell | test("/posix_spawn")) then .call |= map(. * 1.5 | floor) else . end' \
        new.jsonl >slow.jsonl
    run -5 "$compare" baseline.jsonl slow.jsonl "${gate[@]}"
    [[ $output == *$'\n!posix_spawn '* ]]
    [[ $output != *$'\n!'[!p\ ]* ]]
    run -0 "$compare" slow.jsonl baseline.jsonl "${gate[@]}" # faster is well
    run -0 "$compare" baseline.jsonl slow.jsonl --fail-above 5% --ignore-below 1s
    run -0 "$compare" baseline.jsonl slow.jsonl --fail-above 500%
    run -0 "$compare" baseline.jsonl slow.jsonl "${gate[@]}" --filter '/vfork'
    run -0 "$compare" baseline.jsonl slow.jsonl # no gate
    [[ $output == *" slower, "* ]]
}

@test "inconclusive: the interval has the limit in it, or the rounds are few; --strict" {
    change .
    run -0 "$compare" quick.jsonl b.jsonl --fail-above 5%
    [[ $output == *$'\n?fork '*" inconclusive; 0 beyond 5 %"* ]]
    [[ $output == *$'\n?  24 inconclusive: slower by more than 5 % is neither told nor ruled out'* ]]
    run -6 "$compare" quick.jsonl b.jsonl --fail-above 5% --strict
    run -0 "$compare" quick.jsonl b.jsonl --strict
    run -0 "$compare" quick.jsonl b.jsonl --fail-above 5% --ignore-below 1s --strict
    few='if .kind == "run" then .rounds = 5 elif .round then select(.round < 5) else . end'
    jq -c "$few" quick.jsonl >a.jsonl
    change "$few"
    run -0 "$compare" a.jsonl b.jsonl
    [[ $output == *"0 faster, 0 slower, 0 not told apart, 24 inconclusive"* ]]
    [[ ${output//$'\n   '/ } == *"inconclusive: fewer than 6 rounds a side, or too few to tell one of 24 cells from chance; "* ]]
    run -6 "$compare" a.jsonl b.jsonl --strict
}

@test "six rounds tell one cell, but not one of 24" {
    few='if .kind == "run" then .rounds = 6 elif .round then select(.round < 6) else . end'
    jq -c "$few" quick.jsonl >a.jsonl
    change "$few | if .cell == \"spawn/fork\" then .call |= map(9 * .) else . end"
    run -0 "$compare" a.jsonl b.jsonl
    [[ $output == *"24 inconclusive"* ]]
    run -0 "$compare" a.jsonl b.jsonl --filter '^spawn/fork$'
    [[ $output == *" (p=0.002 n=6+6)"*"0 faster, 1 slower, 0 not told apart, 0 inconclusive" ]]
}

@test "what slows the floor too is no change" {
    change 'if .call then .call |= map(3 * .) else . end'
    run -0 "$compare" quick.jsonl b.jsonl
    [[ $output == *"0 faster, 0 slower, 24 not told apart, 0 inconclusive" ]]
}

@test "one run and its copy are paired by round" {
    jq -c 'if .cell == "spawn/fork/rss:4GiB" then .call |= map(1.02 * . | floor) else . end' standard.jsonl >b.jsonl
    run -0 "$compare" standard.jsonl b.jsonl
    [[ $output == *", paired by round; "*" (p=1.00 n=12)"* ]]
    run -0 "$compare" standard.jsonl standard.jsonl --figure total --filter rss:1GiB
    [[ $output == *'"total" in multiples'*"0 faster, 0 slower, 2 not told apart, 0 inconclusive" ]]
}

@test "one sample, and samples of 0, break nothing" {
    change 'if .kind == "run" then .rounds = 1 elif .round then select(.round == 0) else . end
        | if .call then .call |= [first] | .total |= [first] | .cpu |= [first] | del(.ready) else . end'
    run -0 "$compare" b.jsonl b.jsonl
    [[ $output == *" (p=1.00 n=1+1)"*"0 faster, 0 slower, 0 not told apart, 24 inconclusive"* ]]
    change 'if .call then .call |= map(0) else . end'
    for ending in txt md html; do
        run -0 "$compare" quick.jsonl b.jsonl -o "zero.$ending"
        run -1 grep -iwE '[-+]?(nan|inf)' "zero.$ending"
    done
}

@test "a cell that A measured and that failed in B is told by the exit code" {
    change 'if .cell == "spawn/fork" then {kind, round, cell, state: "timeout", reason: "60 s"} else . end'
    run -3 "$compare" quick.jsonl b.jsonl
    [[ $output == *$'\nNot compared, or not in full:\n'*"spawn/fork (B): timeout: 60 s"* ]]
    run -0 "$compare" b.jsonl quick.jsonl
    run -5 "$compare" quick.jsonl <(jq -c 'if .cell == "spawn/fork/rss:1GiB" then .call |= map(3 * .) else . end' b.jsonl) --fail-above 5%
}

@test "so is one that B measured in some rounds only, or whose floor it did" {
    for cell in spawn/fork spawn/floor_vfork; do
        change "if .cell == \"$cell\" and .round == 2 then {kind, round, cell, state: \"failed\", reason: \"x\"} else . end"
        run -3 "$compare" quick.jsonl b.jsonl
        [[ $(tr -s ' \n' ' ' <<<"$output") == *"spawn/fork"*" (B): it, or its floor, lacks some rounds, and the others are compared"* ]]
        run -0 "$compare" b.jsonl quick.jsonl
    done
}
