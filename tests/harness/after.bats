#!/usr/bin/env bats
# Cells that look at what comes after a call.
# shellcheck disable=SC2154  # support.bash and run set the variables

load support

@test "a fault of each page after a fork, none after the others, exactly" {
    # 1009 pages are a prime number of them.
    run -0 --separate-stderr "$bench" calibrate -r 1 --samples 2 --rss 4036KiB --target waiter --after living,gone \
        --strategy null,floor_vm,floor_vfork,forkless_start,forkless_spawn,clone3,vfork,posix_spawn,fork,fork_only -o run.jsonl
    sane
    [ "$(states)" = "21 measured" ]
    jq -s -e '[.[] | select(.kind == "cell" and .cell != "spawn/null") | .after_faults == [.call[] |
            if $f then 1009 else 0 end]] | all' --argjson f false <(grep -v '"spawn/fork[/_]' run.jsonl)
    jq -s -e '[.[] | .after_faults == [.call[] | 1009]] | length == 4 and all' <(grep '^{"kind":"cell".*"spawn/fork[/_]' run.jsonl)
}

@test "what only some of them have" {
    "$bench" calibrate -r 1 --samples 1 --rss 4MiB --target waiter --after living,gone --strategy null,vfork,fork_only \
        -o run.jsonl 2>/dev/null
    keys() { jq -r --arg cell "$1" 'select(.cell == $cell) | keys_unsorted[4:] | join(" ")' run.jsonl; }
    [ "$(keys spawn/null/rss:4MiB/after:living/target:waiter)" = "call total cpu after_time after_faults page_tables peak" ]
    [ "$(keys spawn/vfork/rss:4MiB/after:gone/target:waiter)" = \
        "call ready total cpu after_time after_faults teardown switches preemptions" ]
    [ "$(keys spawn/fork_only/rss:4MiB/after:living/target:waiter)" = \
        "call ready total cpu after_time after_faults teardown switches preemptions page_tables peak" ]
    # The worker has copies of all that the parent wrote; a program that was executed has none.
    jq -s -e 'map(select(.kind == "cell")) | map({(.cell): .peak}) | add |
        .["spawn/fork_only/rss:4MiB/after:living/target:waiter"][0] - .["spawn/vfork/rss:4MiB/after:living/target:waiter"][0]
        > 3 * 1048576' run.jsonl
}

@test "values that do not go together" {
    refuses() { run -2 --separate-stderr "$bench" calibrate --list "${@:2}" && [[ $stderr == *"$1" ]]; }
    refuses "after: 'living' needs a target that lives until it is told: waiter" --after living
    refuses "after: 'gone' is of one child: at_once, spawners and commands 1" --after gone -t waiter --at-once 2
    refuses "after: 'gone' needs memory to write: an rss above 0 that is real" --after gone -t waiter --rss 0
    for attribute in file pipe memory all; do
        refuses "after: 'living' tells the child by its standard input, which '$attribute' replaces" --after living -t waiter \
            --strategy forkless_spawn --attributes $attribute
    done
    refuses "target: waiter waits for what only cells with 'after' tell it" -t waiter
    refuses "target: fork_only executes nothing: tiny, silent or waiter" --strategy fork_only -t static
}

@test "a worker that does not exec, with the targets it can be" {
    run -0 "$bench" calibrate -r 1 --samples 2 --rss 0 --strategy fork_only -t tiny,silent -o run.jsonl
    [ "$(states)" = "3 measured" ]
}
