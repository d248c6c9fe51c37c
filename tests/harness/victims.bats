#!/usr/bin/env bats
# Cells with a victim.
# shellcheck disable=SC2154,SC2054  # support.bash and run set the variables; lists are words

load support

@test "every victim at every place, with a baseline, in every strategy" {
    [ "$(nproc)" -gt 1 ] || skip "one CPU"
    run -0 --separate-stderr "$bench" calibrate -r 1 --samples 2 --rss 1MiB \
        --strategy null,floor_vfork,forkless_start,forkless_spawn,posix_spawn,fork --victim spinner,faulter,ticker \
        --place free,beside,away --between sleep -o run.jsonl
    sane
    [ "$(states)" = "55 measured" ]
    jq -s -e '[.[] | select(.kind == "cell" and .cell != "spawn/null")
            | (.call | length) == (.stall | length) and (.call | length) == (.baseline | length) and
              ([.stall, .stall_busy, .stall_waiting, .stall_blocked] | transpose | all(.[0] == .[1] + .[2] + .[3] and .[0] >= 0))]
        | length == 54 and all' run.jsonl
    # in each window of a ticker a tick was due
    jq -s -e '[.[] | select(.kind == "cell" and (.cell | test("ticker"))) | .stall[], .baseline[]] | length >= 72 and all(. > 0)' run.jsonl
    jq -s -e '.[0].cells | map(select(.victim == "ticker" and .place == "away")) | length == 6' run.jsonl
    jq -s -e 'map(select(.cell == "spawn/null")) | .[0] | has("stall") | not' run.jsonl
}

@test "the spawner's children are on its CPU while the victim is pinned, and the parent has a thread more" {
    # shellcheck disable=SC2016
    target 'set -- /proc/$PPID/task/*; cpus=$(sed -n "s/^Cpus_allowed_list:.//p" /proc/self/status)
        case $cpus in *[-,]*) exit 1;; esac; [ $# = 2 ] && exit 42'
    run -0 "$bench" calibrate -r 1 --samples 1 --rss 0 --strategy vfork,forkless_start --victim spinner --place beside --between sleep \
        -t ./target -o run.jsonl
    [ "$(states)" = "3 measured" ]
}

@test "one CPU: away is unsupported, said by the plan and in the run" {
    says="needs a second CPU, and may use one: sudo taskset -pc 0-$(($(getconf _NPROCESSORS_ONLN) - 1)) \$\$"
    [ "$(getconf _NPROCESSORS_ONLN)" -gt 1 ] || says="needs a second CPU, and this host has one"
    alone=(taskset -c 0 "$bench" calibrate -r 1 --samples 1 --rss 0 --strategy vfork --victim spinner --place beside,away --between sleep)
    run -0 "${alone[@]}" --plan
    [[ $output == *"$says"* ]]
    "${alone[@]}" -o run.jsonl 2>/dev/null
    [ "$(states)" = $'2 measured\n1 unsupported' ]
    [ "$(reasons | grep -v null)" = "$says" ]
}

@test "values that are none, and that do not go together" {
    run -2 --separate-stderr "$bench" calibrate --victim waiter --list
    [[ $stderr == *"'waiter' is"* ]]
    run -2 --separate-stderr "$bench" calibrate --place away --list
    [[ $stderr == *"place: 'away' is where a victim is, and there is none" ]]
    run -2 --separate-stderr "$bench" calibrate --victim faulter --spawners 2 --list
    [[ $stderr == *"victim: 'faulter' is a victim of one spawner, and of one burst at a time" ]]
    run -2 --separate-stderr "$bench" calibrate --victim faulter --place beside --list
    [[ $stderr == *"place: 'beside' needs a spawner that leaves its CPU: between:sleep" ]]
    run -2 --separate-stderr "$bench" calibrate --victim faulter --place away --pin caller --list
    [[ $stderr == *"place: 'away' pins the spawner itself" ]]
}
