#!/usr/bin/env bats
# forkless-bench: matrices, what is wrong with one, and what a run would take.
# shellcheck disable=SC2030,SC2031,SC2154  # bats runs each test in a subshell; setup and run set the variables

load support

# A matrix of these lines after its head.
matrix() { printf '%s\n' 'about: a test' 'rounds: 2' 'samples: 3' 'samples_of_big_copies: 2' "$@" >m.yaml; }

# wrong SENTENCE: that is said of m.yaml, and nothing is made.
wrong() {
    run -2 --separate-stderr "$bench" m.yaml -o new
    [ "$stderr" = "forkless-bench: $1" ] || { echo "$stderr"; false; }
    [ -z "$output" ]
    [ ! -e new ]
}

@test "a matrix of one's own: the product of each entry's axes, once, with the null cell" {
    matrix 'cells:' '  - strategy: &two [vfork, forkless_start]' '    rss: [0, 1MiB]' \
        '  - strategy: *two' '    at_once: [1, 2]' '    target: [silent]' '    gap: [0]' '    samples: 1' \
        '  - strategy: [vfork]'
    run -0 "$bench" ./m.yaml --list
    [ "$output" = "spawn/null
spawn/vfork
spawn/vfork/rss:1MiB
spawn/forkless_start
spawn/forkless_start/rss:1MiB
spawn/vfork/gap:0/target:silent
spawn/vfork/gap:0/at_once:2/target:silent
spawn/forkless_start/gap:0/target:silent
spawn/forkless_start/gap:0/at_once:2/target:silent" ]
    run -0 --separate-stderr "$bench" m.yaml -s 3 -o run.jsonl
    sane
    [ "$(states)" = "18 measured" ]
    jq -s -e '.[0].matrix == "m" and .[0].rounds == 2
        and ([.[] | select(.cell == "spawn/vfork/rss:1MiB") | .call | length] == [3, 3])
        and ([.[] | select(.cell == "spawn/vfork/gap:0/at_once:2/target:silent") | .call | length] == [1, 1])
        and ([.[] | select(.cell and (.cell | test("silent"))) | has("ready")] | any | not)
        and ([.[] | select(.cell == "spawn/vfork") | has("ready")] | all)' run.jsonl
}

@test "a matrix that is wrong: file, line, column and reason" {
    matrix 'cells:' '  - strategy: [vfork]' '    rsss: [0]'
    wrong "m.yaml: line 7, column 5: there is no key rsss; did you mean rss?"
    matrix 'cells:' '  - strategy: [vfork, frok]'
    wrong "m.yaml: line 6, column 23: strategy: there is no strategy 'frok'; did you mean fork?"
    matrix 'cells:' '  - strategy: [vfork]' '    rss: [1GiB]' '  - strategy: [fork]' '    gap: [1GiB]'
    wrong "m.yaml: line 9, column 11: gap: '1GiB' is not a time such as 0, 20us or 1ms"
    matrix 'cells:' '  - strategy: [vfork]' '    rss: [0, 1 GB]'
    wrong "m.yaml: line 7, column 14: rss: '1 GB' is not a size such as 0, 256MiB or 1GiB"
    matrix 'cells:' '  - strategy: vfork'
    wrong "m.yaml: line 6, column 15: this must be a list: [a, b], not a SCALAR"
    matrix 'cells:' '  - strategy: [vfork'
    wrong "m.yaml: line 6, column 16: did not find expected ',' or ']'"
    matrix 'cells:' '  - rss: [0]'
    wrong "m.yaml: line 6, column 10: here or before, there must be the key strategy"
    matrix 'rounds: 3' 'cells:' '  - strategy: [vfork]'
    wrong "m.yaml: line 5, column 1: twice the key rounds"
    printf 'about: x\nrounds: 0\nsamples: 1\nsamples_of_big_copies: 1\ncells:\n  - strategy: [fork]\n' >m.yaml
    wrong "m.yaml: line 2, column 9: rounds: 0 is not from 1 to 1000"
    matrix 'cells:' '  - strategy: [vfork]' '    samples: 4000000000'
    wrong "m.yaml: line 7, column 14: samples: 4000000000 is not from 1 to 100000"
    matrix 'cells:' '  - strategy: [vfork]' '    samples: 0'
    wrong "m.yaml: line 7, column 14: samples: 0 is not from 1 to 100000"
    printf 'about: x\nrounds: many\n' >m.yaml
    wrong "m.yaml: line 2, column 9: no whole number: 'many'"
}

@test "more cells than can be" {
    matrix 'cells:' "  - strategy: [vfork]" "    mappings: [$(seq -s, 0 100)]" "    fds: [$(seq -s, 0 100)]"
    wrong "m.yaml: there are more than 10000 cells"
}

@test "a conflict with what is not on the command line" {
    run -2 --separate-stderr "$bench" calibrate --strategy limit --plan
    [[ $stderr == *"/calibrate.yaml: commands: limit takes 2 commands or more (--commands replaces it)" ]]
}

@test "an entry that is measured in the first rounds alone" {
    matrix 'cells:' '  - strategy: [vfork]' '    rounds: 1' '  - strategy: [forkless_start]' '    rss: [1MiB]' '    rounds: 1'
    sed -i 's/^rounds: 2/rounds: 3/' m.yaml
    printf '  - strategy: [fork]\n' >>m.yaml
    "$bench" m.yaml -o run.jsonl 2>/dev/null >&2
    sane
    # null and fork thrice, the others once; a block that has none of its cells in a round is not made.
    [ "$(states)" = "8 measured" ]
    jq -s -e '([.[0].cells[] | .rounds] == [null, 1, 1, null]) and ([.[] | select(.kind == "block") | .rss] | sort == [0, 0, 0, 1048576])
        and ([.[] | select(.cell == "spawn/vfork") | .round] == [0])' run.jsonl
    run -0 "$FORKLESS_REPORT" run.jsonl
    [[ $output == *"8 of 8 measured, 0 failed"* ]]
    run -0 --separate-stderr "$bench" --resume run.jsonl
    [[ $stderr == *"nothing is left to do"* ]]
    "$bench" --resume run.jsonl -r 4 2>/dev/null >&2
    [ "$(states)" = "10 measured" ]
    matrix 'cells:' '  - strategy: [vfork]' '    rounds: 0'
    wrong "m.yaml: line 7, column 13: rounds: 0 is not from 1 to 1000"
}

@test "a matrix that asks for nothing" {
    : >m.yaml
    wrong "m.yaml asks for nothing: it is empty"
    matrix
    run -2 --separate-stderr "$bench" m.yaml -o new
    [[ $stderr == "forkless-bench: m.yaml: line "*": here or before, there must be the key cells" ]]
    matrix 'cells: []'
    run -2 --separate-stderr "$bench" m.yaml -o new
    [[ $stderr == "forkless-bench: m.yaml: line 5, column "* ]]
    matrix 'cells:' '  - strategy: []'
    run -2 --separate-stderr "$bench" m.yaml -o new
    [[ $stderr == "forkless-bench: m.yaml: line 6, column "* ]]
}

@test "no such matrix: did you mean" {
    run -2 --separate-stderr "$bench" quik
    [ "$stderr" = "forkless-bench: there is no matrix 'quik'; did you mean quick?" ]
    run -2 --separate-stderr "$bench" everything
    [ "$stderr" = "forkless-bench: there is no matrix 'everything'; --list names those that there are" ]
    run -2 --separate-stderr "$bench" no/such.yaml
    [ "$stderr" = "forkless-bench: no/such.yaml cannot be opened: No such file or directory" ]
    mkdir folder.yaml
    run -2 --separate-stderr "$bench" folder.yaml
    [ "$stderr" = "forkless-bench: folder.yaml cannot be opened: it is no file" ]
}

@test "--list names the matrices, and fits a terminal" {
    run -0 --separate-stderr "$bench" --list
    for name in quick standard full calibrate; do
        [[ $'\n'$output == *$'\n'"$name "* ]]
    done
    run ! grep -E '.{81}|broken' <<<"$output"
    [ -z "$stderr" ]
}

@test "--plan: cells, memory, what does not fit and why; nothing is made" {
    run -0 --separate-stderr "$bench" --plan -r 3 --rss 0,16TiB --strategy vfork,fork -o new
    [ ! -e new ]
    [[ $output == *"rounds   3, about "* ]]
    [[ $output =~ 16TiB\ +6\ .*"will not fit" ]]
    [[ $output =~ "16TiB needs "[0-9.]+" GiB of memory, "[0-9.]+" GiB are available" ]]
    [[ $output == *"6 of 13 cells would be recorded as unsupported."* ]]
    run ! grep -E '.{81}' <<<"$output"
}

@test "a parent beyond the machine: unsupported, and exit 2 only when no cell is left" {
    run -0 --separate-stderr "$bench" -r 1 --rss 0,16TiB --strategy vfork --gap 1ms --at-once 1 -o run.jsonl
    sane
    [ "$(states)" = $'2 measured\n1 unsupported' ]
    run -2 --separate-stderr "$bench" -r 1 --rss 16TiB --strategy vfork -o new
    [[ $stderr =~ ^"forkless-bench: no cell fits: even a parent of 16TiB needs "[0-9.]+" GiB of memory, "[0-9.]+" GiB are available"$ ]]
    [ ! -e new ]
}

@test "the same seed gives the same order, another seed another" {
    for seed in 1 2; do
        "$bench" -r 5 -s $seed --strategy vfork --rss 0,1MiB,2MiB,3MiB --gap 1ms --at-once 1 --samples 1 -o "$seed.jsonl" >/dev/null 2>&1
        "$bench" -r 5 -s $seed --strategy vfork --rss 0,1MiB,2MiB,3MiB --gap 1ms --at-once 1 --samples 1 -o "$seed-again.jsonl" >/dev/null 2>&1
        for run in $seed $seed-again; do
            jq -c 'select(.kind == "cell" or .kind == "block") | [.round, .cell, .rss, .position]' "$run.jsonl" >"$run.order"
        done
        cmp $seed.order $seed-again.order
    done
    run ! cmp -s 1.order 2.order
}
