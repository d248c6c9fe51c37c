#!/usr/bin/env bats
# results/schema.json, and the order of lines, against lines that are wrong.
# shellcheck disable=SC2016,SC2154  # jq's variables; meson and run set the others

load support

@test "a line that is wrong is found" {
    wrong 'if .kind == "run" then .schema = 3 else . end'
    wrong 'if .kind == "run" then .schema = 2 else . end'
    wrong 'if .kind == "run" then del(.seed) else . end'
    wrong 'if .kind == "run" then .cells = [] else . end'
    wrong 'if .kind == "run" then .started = "today" else . end'
    wrong 'if .kind == "run" then .host.cpus = "2" else . end'
    wrong 'if .state == "measured" then .call[0] = -1 else . end'
    wrong 'if .state == "measured" then .call[0] = 1.5 else . end'
    wrong 'if .state == "measured" then del(.total) else . end'
    wrong 'if .state == "failed" then del(.reason) else . end'
    wrong 'if .state == "failed" then .state = "broken" else . end'
    wrong 'if .kind == "block" then .steal = 2 else . end'
    wrong 'if .kind == "block" then .kind = "blocks" else . end'
    wrong 'if .kind == "cell" then del(.round) else . end'
    wrong 'if .kind == "run" then empty else . end'
    found
}

@test "a line of schema 2 that is wrong is found" {
    for key in mitigations limits; do
        wrong2 "if .kind == \"run\" then del(.host.$key) else . end"
    done
    wrong2 'if .kind == "run" then .host.thp = "on" else . end'
    wrong2 'if .kind == "run" then .host.overcommit = 3 else . end'
    wrong2 'if .kind == "run" then .host.swap = null else . end'
    wrong2 'if .kind == "run" then .host.turbo = "yes" else . end'
    wrong2 'if .kind == "run" then .host.mitigations.meltdown = 1 else . end'
    wrong2 'if .kind == "run" then del(.host.limits.as) else . end'
    wrong2 'if .kind == "run" then .host.limits.as = -1 else . end'
    wrong2 'if .kind == "run" then .host.cgroup.version = 3 else . end'
    wrong2 'if .kind == "run" then .host.cgroup.cpus = 0 else . end'
    wrong2 'if .kind == "run" then del(.findings) else . end'
    wrong2 'if .kind == "run" then .findings[0].level = "bad" else . end'
    wrong2 'if .kind == "run" then .findings[0].effect = "none" else . end'
    wrong2 'if .kind == "run" then del(.findings[1].found) else . end'
    wrong2 'if .kind == "run" then .cells[0].samples = 0 else . end'
    wrong2 'if .kind == "run" then del(.cells[0].discards) else . end'
    wrong2 'if .kind == "block" then del(.other) else . end'
    wrong2 'if .kind == "block" then del(.voluntary_switches) else . end'
    wrong2 'if .kind == "block" then .involuntary_switches = 1.5 else . end'
    wrong2 'if .kind == "block" then .other = 17 else . end'
    wrong2 'if .kind == "block" then .disturbed = "" else . end'
    wrong2 'if .kind == "resume" then del(.findings) else . end'
    wrong2 'if .kind == "resume" then .rounds = 0 else . end'
    wrong2 'if .kind == "resume" then .started = "later" else . end'
    wrong 'if .kind == "block" then .disturbed = "by hand" else . end'
    found
}

@test "lines in a wrong order, or that contradict each other, are found" {
    wrong2 'if .kind == "resume" then ., . + {kind: "run"} else . end'
    wrong2 'if .kind == "run" then ., . else . end' 'the run line is the first, and no other'
    wrong2 'if .kind == "resume" then empty else . end' 'after the end only a resume line may come'
    wrong2 'if .kind == "resume" then .rounds = 3 else . end' '`rounds` is below what it was'
    wrong2 'if .kind == "resume" then .rounds = 6 else . end' 'round 6 does not exist: the run has 6, from 0'
    wrong2 'if .kind == "run" then .rounds = 3 else . end' 'round 3 does not exist: the run has 3, from 0'
    wrong2 'if .kind == "block" then .round += 1 else . end' 'round 4 does not exist'
    wrong2 'if .state then ., . else . end' 'the cell spawn/null has round 0 twice'
    wrong2 'if .kind == "run" then .cells |= .[1:] else . end' 'the cell spawn/null is not listed'
    wrong2 'if .kind == "run" then .cells += [.cells[0]] else . end' 'a cell is listed twice'
    wrong2 'if .kind == "block" then del(.voluntary_switches, .involuntary_switches, .other, .disturbed) else . end' \
        'a block of schema 2 has `other` and its switches'
    wrong 'if .kind == "end" then ., {kind: "resume", rounds: 3, started: "2026-11-29T15:02:10Z", findings: []} else . end' \
        failed.jsonl 'schema 1 has no resume line'
    found
}
