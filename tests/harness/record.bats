#!/usr/bin/env bats
# forkless-bench: what a run holds.
# shellcheck disable=SC2030,SC2031,SC2154  # bats runs each test in a subshell; setup and run set the variables

load support

@test "every cell of every round is there, with all its samples" {
    run -0 --separate-stderr "$bench" -r 2 -s 7 -f '^spawn/(null|vfork|fork|forkless_start|floor_vm)$' -o run.jsonl
    [ "$output" = run.jsonl ]
    [[ $stderr == "bench: 5 cells, 2 rounds, about "* ]]
    sane
    [ "$(states)" = "10 measured" ]
    jq -s -e '
        (.[0].cells | map(.name)) as $planned
        | map(select(.kind == "cell")) as $cells
        | ([$cells[] | [.round, .cell]] | unique | length) == 10
        and all($cells[]; .cell as $c | $planned | index($c) != null)
        and all($cells[] | select(.cell != "spawn/null"); (.call | length) == 40)
        and all($cells[] | select(.cell != "spawn/null");
            (.ready | length) == (.call | length) and (.total | length) == (.call | length)
            and ([.ready, .total] | transpose | all(.[0] > 0 and .[0] < .[1]))
            and all(.cpu[]; . > 0))
        and all($cells[] | select(.cell == "spawn/null"); has("ready") | not)
        and (.[-1] | .kind == "end" and .interrupted == false)' run.jsonl
}

@test "the run line says what the figures depend on, and no name, user or path" {
    "$bench" -r 1 -s 7 -f '^spawn/null$' -o run.jsonl 2>/dev/null
    head -n 1 run.jsonl | jq -e '.schema == 2 and .matrix == "quick" and .seed == 7 and .rounds == 1
        and .host.cpus >= 1 and .host.memory > 0 and .host.page_size == 4096
        and (.host.kernel | length) > 0 and (.host.libc | startswith("glibc"))
        and .build.type == "release" and (.build.library | test("^[0-9a-f]{40}$"))'
    run -1 grep -E "\"($(uname -n)|$(id -un))\"|$HOME|$PWD" <(head -n 1 run.jsonl)
}

@test "the build-id is that of the library that ships" {
    "$bench" -r 1 -f '^spawn/null$' -o run.jsonl 2>/dev/null
    library=$(ldd "$bench" | awk '/libforkless/ { print $3 }')
    id=$(readelf -n "$library" | awk '/Build ID/ { print $3 }')
    [ "$(head -n 1 run.jsonl | jq -r .build.library)" = "$id" ]
}

@test "switches of google-benchmark in the environment change nothing" {
    BENCHMARK_REPETITIONS=4 BENCHMARK_FILTER=none run -0 --separate-stderr "$bench" -r 1 -f '^spawn/vfork$' -o run.jsonl
    [ "$(states)" = "1 measured" ]
    jq -e -s '.[] | select(.kind == "cell") | .call | length == 40' run.jsonl
}
