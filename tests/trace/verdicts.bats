#!/usr/bin/env bats
# forkless-trace: the summary.
# shellcheck disable=SC2016,SC2153,SC2154  # meson and bats set the variables; what is quoted is for another shell

load trace

@test "the summary: counts, a histogram, why, and what to do" {
    "$FORKLESS_TRACE" --summary -o page -- sh -c "'$CREATOR' fork-exec 23 10000; '$CREATOR' vfork 23; exit 0" >/dev/null
    [ "$(awk 'length > 80' page)" = "" ]
    grep -q '^creator$' page
    grep -q "^  23 forks: 23 exec'd or tried to$" page
    grep -q "^  23 vfork-class calls: 23 exec'd or tried to$" page
    grep -qE '^ +[0-9]+ [|]@+ +[0-9]+$' page
    grep -qE '^ +23x _Fork < .*fork_exec' page
    grep -q "^  why      23 of 23 went on to exec: that needs no copy.$" page
    grep -qE "^  instead  A vfork-class start does not grow with memory: " page
    "$FORKLESS_TRACE" --summary --json -o lines -- "$CREATOR" fork-exit 23 >/dev/null
    jq -se '.[1] | .event == "program" and .fork.count == 23 and .fork.exits == 23 and .vfork_class.count == 0
        and ([.fork.call_histogram[].count] | add) == 23 and .here.count == 20 and .hint == null' lines
}

@test "the summary of forks that run on sends to cow" {
    "$FORKLESS_TRACE" --summary -o page -- sh -c "'$CREATOR' fork-on 2 1300000" >/dev/null
    grep -q '^  2 forks: 2 run on without one$' page
    grep -q '^  next     forkless cow -- COMMAND  # which pages' page
}
