#!/usr/bin/env bats
# forkless-bench: order, ballast, targets.
# shellcheck disable=SC2030,SC2031,SC2154  # bats runs each test in a subshell; setup and run set the variables

load support

@test "the same seed gives the same order, another one another" {
    for n in 1 2 3; do
        "$bench" -r 2 -s $((n == 3)) --samples 3 -f '^spawn/(vfork|clone3|floor_vm)(/rss:256MiB)?$' \
            -o $n.jsonl 2>/dev/null >&2
        jq -r 'select(.kind == "cell") | .cell' $n.jsonl >$n.order
    done
    cmp 1.order 2.order
    run -1 cmp 1.order 3.order
}

@test "the ballast is there as the kernel sees it" {
    "$bench" -r 1 -f '^spawn/vfork/rss:256MiB$' -o run.jsonl 2>/dev/null
    jq -s -e '.[] | select(.kind == "block") | .rss == 268435456 and .resident >= .rss and .resident < .rss + 67108864' run.jsonl
}

@test "a target without a stamp has no ready" {
    for name in silent static dynamic; do
        rm -f run.jsonl
        "$bench" -r 1 -t $name --samples 3 -f '^spawn/vfork/target' -o run.jsonl 2>/dev/null
        jq -s -e --arg cell "spawn/vfork/target:$name" '
            .[] | select(.kind == "cell") | .cell == $cell and .state == "measured" and (has("ready") | not)' run.jsonl
    done
}

@test "where clone3 is refused, what needs it is unsupported and says so" {
    run -0 --separate-stderr "$WITHOUT_CLONE3" "$bench" -r 1 -f '^spawn/(vfork|clone3|floor_vm|forkless_start|forkless_spawn)$' -o run.jsonl
    sane
    [ "$(states)" = $'1 measured\n4 unsupported' ]
    [ "$(reasons | grep -v null)" = "child 1 of 1 could not be started: Function not implemented
clone3 is refused here, and the library took another mechanism" ]
}
