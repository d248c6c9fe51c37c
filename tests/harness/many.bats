#!/usr/bin/env bats
# forkless-bench: many commands, so many at once.
# shellcheck disable=SC2030,SC2031,SC2154  # bats runs each test in a subshell; setup and run set the variables

load support

# cells STRATEGIES [OPTION...]: a run of one round, one sample each, at rss 0.
cells() {
    "$bench" calibrate -r 1 --samples 1 --rss 0 --strategy "$1" -o run.jsonl "${@:2}"
}

loops=floor_vm,floor_vfork,forkless_start,forkless_spawn,clone3,vfork,posix_spawn,fork
each=$loops,server,limit,limit_pinned,forkless_batch,forkless_batch_thread

@test "every strategy starts many, and says how long its caller was held" {
    run -0 --separate-stderr cells "$each" --commands 30 --at-once 1,3
    sane
    [ "$(states)" = "27 measured" ]
    jq -s -e '[.[] | select(.kind == "cell" and .cell != "spawn/null")
            | .longest[0] <= .call[0] and .call[0] <= .total[0] and .longest[0] > 0 and .cpu[0] > 0
              and (.ready | not)] | all and length == 26' run.jsonl
    jq -s -e '.[0].cells | map(select(.commands == 30)) | length == 26 and all(.name | test("^batch/.*/commands:30$"))' run.jsonl
}

@test "as many targets run as there are commands, and no more than so many live at once" {
    # shellcheck disable=SC2016
    target 'echo x >>"${0%/*}/ran"; ls -d "${0%/*}"/live.* 2>/dev/null | wc -l >>"${0%/*}/lived"; : >"${0%/*}/live.$$"; sleep 0.02; rm "${0%/*}/live.$$"; exit 42'
    for strategy in posix_spawn forkless_start server limit forkless_batch forkless_batch_thread; do
        rm -f ran lived run.jsonl
        run -0 cells "$strategy" --commands 13 --at-once 3 -t "$PWD/target"
        [ "$(wc -l <ran)" -eq 13 ]
        [ "$(sort -n lived | tail -n 1)" -le 2 ]
    done
}

@test "a batch may have a descriptor for each that lives, and is not held back for want of one" {
    # shellcheck disable=SC2016
    target 'set -- $(grep "^Max open files" /proc/$PPID/limits); [ "$4" -ge 300 ] && exit 42'
    for strategy in forkless_batch forkless_batch_thread; do
        rm -f run.jsonl
        (ulimit -Sn 128 && cells $strategy --commands 2 --at-once 300 -t "$PWD/target")
        [ "$(states)" = "2 measured" ]
    done
    run -0 bash -c 'ulimit -n 128 && "$@"' - "$bench" calibrate --plan --rss 0 --strategy forkless_batch --commands 2 --at-once 1,300
    [[ $output == *"needs 364 descriptors, and the hard limit is 128: sudo prlimit "* ]]
}

@test "a target that ends otherwise, or is not there, fails the cell, and nothing is left" {
    # shellcheck disable=SC2016
    target 'mkdir "${0%/*}/first" 2>/dev/null && exit 3; exit 42'
    for strategy in vfork server limit forkless_batch; do
        rm -rf first run.jsonl
        run -3 cells "$strategy" --commands 9 --at-once 2 -t "$PWD/target"
        [ "$(states)" = $'1 failed\n1 measured' ]
        [[ $(reasons) == *"exited with 3, not 42"* || $(reasons) == *"1 of 9 targets did not end as they should"* ]]
        sane
    done
    printf '#!/none\n' >target
    for strategy in forkless_start server limit forkless_batch_thread; do
        rm -rf first run.jsonl
        run -3 cells "$strategy" --commands 9 --at-once 2 -t "$PWD/target"
        [ "$(states)" = $'1 failed\n1 measured' ]
        sane
    done
}

@test "the server hands on a descriptor and variables" {
    # shellcheck disable=SC2016
    target '[ -e /proc/$$/fd/3 ] && exit 42'
    run -3 cells server --attributes none,fd -t "$PWD/target"
    [ "$(states)" = $'1 failed\n2 measured' ]
    jq -s -e '[.[] | select(.state == "failed") | .cell | test("attributes") | not] | all' run.jsonl
    rm run.jsonl
    # shellcheck disable=SC2016
    target '[ "$(env | grep -c ^VARIABLE_)" -eq 250 ] && exit 42'
    run -3 cells server --attributes none,env_250 -t "$PWD/target"
    [ "$(states)" = $'1 failed\n2 measured' ]
    run -2 cells server --attributes cwd
    [[ $output == *"server cannot take 'cwd'"* ]]
}

@test "a server that dies fails the cell, and no child of it is unknown" {
    # shellcheck disable=SC2016
    target 'pkill -KILL -P $PPID -x server; exit 42'
    run -3 cells server --commands 9 --at-once 2 -t "$PWD/target"
    [ "$(states)" = $'1 failed\n1 measured' ]
    sane
}

@test "what does not go with many commands" {
    run -2 cells forkless_batch --commands 1
    run -2 cells limit --commands 1
    [[ $output == *"limit takes 2 commands or more"* ]]
    run -2 cells limit --commands 100 --at-once 65
    [[ $output == *"commands: limit takes at most 64 at once" ]]
    run -0 cells limit_pinned --commands 100 --at-once 64 --plan
    run -2 cells forkless_run --commands 2
    [[ $output == *"forkless_run takes one command"* ]]
    run -2 cells vfork --commands 2 --spawners 2
    [[ $output == *"several spawners take one command each"* ]]
    run -2 cells vfork --commands 0
    for strategy in server forkless_batch_thread; do
        for beside in '--spawners 2' '--victim spinner' '--after gone -t waiter --rss 1MiB'; do
            # shellcheck disable=SC2086
            run -2 cells $strategy $beside
            [[ $output == *"strategy: $strategy takes one spawner, no victim and no 'after'" ]]
        done
    done
    [ ! -e run.jsonl ]
}
