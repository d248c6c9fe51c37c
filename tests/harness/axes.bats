#!/usr/bin/env bats
# forkless-bench: more descriptors, several spawners, attributes.
# shellcheck disable=SC2030,SC2031,SC2154  # bats runs each test in a subshell; setup and run set the variables

load support

# A matrix of these lines after its head.
matrix() { printf '%s\n' 'about: a test' 'rounds: 1' 'samples: 2' 'samples_of_big_copies: 2' 'cells:' "$@" >m.yaml; }

# wrong SENTENCE: that is said of m.yaml, and nothing is made.
wrong() {
    run -2 --separate-stderr "$bench" m.yaml -o new
    [ "$stderr" = "forkless-bench: $1" ] || { echo "$stderr"; false; }
    [ ! -e new ]
}

strategies='[floor_vm, floor_vfork, forkless_start, forkless_spawn, clone3, vfork, posix_spawn, fork]'

@test "every strategy with more descriptors and with several spawners" {
    matrix "  - strategy: $strategies" '    fds: [0, 300]' '    spawners: [1, 5]' '    at_once: [1, 3]'
    run -0 --separate-stderr "$bench" m.yaml -o run.jsonl
    sane
    [ "$(states)" = "65 measured" ]
    jq -s -e '[.[] | select(.kind == "cell" and .cell != "spawn/null")
            | .call[0] <= .total[0] and .ready[0] <= .total[0]] | all' run.jsonl
    jq -s -e '.[0].cells | (map(select(.fds)) | length == 32 and all(.name | test("/fds:300"))) and
        (map(select(.spawners)) | length == 32 and all(.name | test("/spawners:5"))) and
        (map(select(.attributes)) == [])' run.jsonl
}

@test "the children see none of the descriptors, and the parent has them" {
    # shellcheck disable=SC2016
    target 'set -- /proc/$PPID/fd/*; parent=$#; set -- /proc/$$/fd/*; [ $parent -ge 40 ] && [ $# -le 10 ] && exit 42'
    run -0 --separate-stderr "$bench" calibrate -r 1 --samples 1 --strategy vfork,posix_spawn,forkless_spawn --rss 0 --fds 40 \
        -t ./target -o run.jsonl
    [ "$(states)" = "4 measured" ]
}

@test "attributes are asked for: descriptor 3 and an environment" {
    target '[ -e /proc/$$/fd/3 ] && exit 42'
    "$bench" calibrate -r 1 --samples 1 --strategy forkless_spawn,forkless_start --rss 0 --attributes none,fd -t ./target \
        -o run.jsonl 2>/dev/null >&2 || [ $? -eq 3 ]
    [ "$(states)" = $'2 failed\n3 measured' ]
    jq -s -e '[.[] | select(.state == "failed") | .cell | test("attributes") | not] | all' run.jsonl
    rm run.jsonl
    # shellcheck disable=SC2016
    target '[ -z "$HOME" ] && exit 42'
    HOME=/ "$bench" calibrate -r 1 --samples 1 --strategy forkless_spawn --rss 0 --attributes none,env -t ./target \
        -o run.jsonl 2>/dev/null >&2 || [ $? -eq 3 ]
    [ "$(states)" = $'1 failed\n2 measured' ]
}

@test "each stands for every attribute that --list names" {
    names=$("$bench" --list | sed -n '/^attributes/,$p' | tr -d ',\n' | sed 's/^attributes *each *none//')
    run -0 "$bench" calibrate --strategy forkless_spawn --rss 0 --attributes each --list
    for name in $names; do
        [[ $output == *"spawn/forkless_spawn/attributes:$name"* ]]
    done
    [ "$(wc -l <<<"$output")" -eq $((1 + $(wc -w <<<"$names"))) ]
}

@test "values that are none, and that do not go together" {
    matrix '  - strategy: [vfork]' '    fds: [0, 19001]'
    wrong "m.yaml: line 7, column 14: fds: '19001' is not a whole number from 0 to 19000"
    matrix '  - strategy: [vfork]' '    spawners: [0]'
    wrong "m.yaml: line 7, column 16: spawners: '0' is not a whole number from 1 to 64"
    matrix '  - strategy: [vfork]' '    spawners: [65]'
    wrong "m.yaml: line 7, column 16: spawners: '65' is not a whole number from 1 to 64"
    matrix '  - strategy: [vfork]' '    spawners: [64]' '    at_once: [17]'
    wrong "m.yaml: line 7, column 16: spawners: 64 spawners of 17 at once have more than 1024 children"
    matrix '  - strategy: [forkless_spawn]' '    attributes: [foo]'
    wrong "m.yaml: line 7, column 18: attributes: there is no attribute 'foo'; --list names those that there are"
    matrix '  - strategy: [forkless_spawn, fork]' '    attributes: [fd]'
    wrong "m.yaml: line 7, column 18: attributes: fork cannot take 'fd': forkless_spawn, forkless_start and batches take attributes"
    matrix '  - strategy: [vfork]' '    fd: [1]'
    wrong "m.yaml: line 7, column 5: there is no key fd; did you mean fds?"
}

# limited N ARGUMENT...: forkless-bench with at most N descriptors.
limited() { (ulimit -n "$1" && shift && "$bench" "$@"); }

@test "the soft limit is raised" {
    (ulimit -Sn 100 && "$bench" calibrate -r 1 --samples 1 --strategy vfork --rss 0 --fds 200 -o run.jsonl) 2>/dev/null
    [ "$(states)" = "2 measured" ]
}

@test "a hard limit that is too low: said by the plan, unsupported in the run" {
    says="needs 264 descriptors, and the hard limit is 200: sudo prlimit --pid \$\$ --nofile=264"
    plan=$(limited 200 calibrate --plan --strategy vfork --rss 0 --fds 0,200)
    [[ $plan == *$'\n'"spawn/vfork/fds:200 $says"$'\n'"1 of 3 cells would be recorded as unsupported." ]]
    limited 200 calibrate -r 2 --samples 1 --strategy vfork --rss 0,1MiB --fds 0,200 -o run.jsonl 2>/dev/null
    sane
    [ "$(states)" = $'6 measured\n4 unsupported' ]
    [ "$(reasons | grep -v null)" = "$says" ]
    run -2 --separate-stderr limited 200 calibrate --strategy vfork --rss 0 --fds 200 -o new
    [ "$stderr" = "forkless-bench: no cell fits: spawn/vfork/fds:200 $says" ]
    [ ! -e new ]
}

@test "a run with the new axes goes on" {
    matrix '  - strategy: [forkless_spawn]' '    fds: [0, 50]' '    spawners: [1, 2]' '    attributes: [none, fd]'
    "$bench" m.yaml -s 3 -o run.jsonl 2>/dev/null >&2
    "$bench" --resume run.jsonl -r 2 2>/dev/null >&2
    sane
    [ "$(states)" = "18 measured" ]
    sed -i '1s/"fds":50/"fds":20000/' run.jsonl
    run -2 --separate-stderr "$bench" --resume run.jsonl -r 3
    [[ $stderr == "forkless-bench: run.jsonl: cell "*" of its first line is none that is known here" ]]
}

@test "a descriptor that a strategy leaves is found beside all the others" {
    FAULT_KIND=leak LD_PRELOAD=$FAULT run -3 --separate-stderr "$bench" calibrate -r 1 --samples 1 --strategy vfork,forkless_spawn \
        --rss 1MiB --fds 0,500 -o run.jsonl
    sane
    [ "$(states)" = $'2 failed\n3 measured' ]
    [ "$(reasons | grep -v null)" = "the strategy left a descriptor behind" ]
    jq -s -e '[.[] | select(.state == "failed") | .cell] | sort == ["spawn/vfork/rss:1MiB", "spawn/vfork/rss:1MiB/fds:500"]' run.jsonl
}

@test "a run with all three comes through to every report" {
    matrix '  - strategy: [floor_vfork, forkless_spawn, vfork]' '    fds: [0, 100]' '  - strategy: [forkless_spawn, vfork]' \
        '    spawners: [8]' '  - strategy: [forkless_spawn]' '    attributes: [each]'
    "$bench" m.yaml -r 2 -o run.jsonl 2>/dev/null
    sane
    run -0 "$FORKLESS_REPORT" run.jsonl
    [[ $output == *"100 descriptors open: medians"*"8 spawners at once at 0 MiB: medians"*'What each attribute adds to "call" at 0 MiB'* ]]
    [[ $output == *$'\n fd  '* && $output == *$'\n env  '* ]]
    for format in html markdown csv json google-benchmark; do
        "$FORKLESS_REPORT" -f $format run.jsonl 2>/dev/null | grep -q 'spawners.*8'
    done
    run -0 "$FORKLESS_COMPARE" run.jsonl run.jsonl
    [[ $output == *$'\nspawn/*/fds:100\n'*$'\nspawn/*/attributes:fd\n'* ]]
}
