#!/usr/bin/env bats
# forkless-trace: what became of a child, what its parent was like, who called; and what was lost is told.
# shellcheck disable=SC2016,SC2153,SC2154  # meson and bats set the variables; what is quoted is for another shell

load trace

@test "a child whose parent has ended is followed" {
    traced -- "$CREATOR" orphan 23
    [ "$(count true)" -eq 46 ]
    [ "$(count '.then == "exit"')" -eq 23 ]
    [ "$(count '.then == "exec"')" -eq 23 ]
}

@test "children that do neither for a second run on" {
    traced -- sh -c "'$CREATOR' fork-on 23; sleep 0.1" # these end with their parent
    [ "$(count '.program == "creator" and .then == "exit"')" -eq 23 ]
    traced -- "$CREATOR" fork-late 1
    [ "$(count '.then == "runs_on"')" -eq 1 ]
}

@test "the caller's memory, page tables, mappings and threads are those that it had" {
    traced -- "$CREATOR" large 1
    read -r resident tables threads mappings <printed
    # It opens files in between, to print these.
    jq -se --argjson r "$resident" --argjson t "$tables" --argjson n "$threads" --argjson m "$mappings" '
        map(select(.event == "creation"))[0] | (.rss / 1024 - $r | fabs) < 512 and (.page_tables / 1024 - $t | fabs) <= 16
            and .threads == $n and (.mappings - $m | fabs) <= 2' lines
    [ "$resident" -gt 65536 ] && [ "$mappings" -gt 100 ] && [ "$threads" -eq 6 ]
}

@test "who called, by name, without frame pointers" {
    traced -- "$CREATOR" vfork 3 20000
    [ "$(count '.stack | index("vfork_exec") != null and index("main") == index("vfork_exec") + 1')" -eq 3 ]
    traced -- "$CREATOR" fork-exec 3 20000
    [ "$(count '.stack | index("fork_exec") != null and index("main") == index("fork_exec") + 1')" -eq 3 ]
}

@test "who called, of programs that end at once" {
    traced -- sh -c "for i in 1 2 3 4 5; do '$CREATOR' refused 1; done"
    [ "$(count '.program == "creator" and (.stack | index("refused") != null and index("main") == index("refused") + 1)')" -eq 5 ]
}

@test "who called, through libc's wrappers of clone, which say nothing about their frames" {
    traced -- "$CREATOR" posix_spawn 3 20000
    [ "$(count '.stack | index("posix_spawn") != null and index("spawn") == index("posix_spawn") + 1 and index("main") == index("spawn") + 1')" -eq 3 ]
    traced -- "$CREATOR" clone-vm 3 20000
    [ "$(count '.stack | index("clone_vm") == 1 and index("main") == 2')" -eq 3 ]
}

@test "who called, where nothing but frame pointers tells it" {
    traced -- "$CREATOR_FRAMES" clone3 3 20000
    [ "$(count '.stack | index("clone3_fork") != null and index("main") == index("clone3_fork") + 1')" -eq 3 ]
}

@test "a 32-bit program's creations, and nothing that only has their numbers" {
    [ -n "$CREATOR32" ] && "$CREATOR32" || skip "no 32-bit programs here"
    traced -- "$CREATOR32"
    [ "$(count '.system_call == "fork" and .then == "exit" and .status == 7')" -eq 3 ]
    [ "$(count '.system_call == "vfork" and .kind == "vfork-class" and .then == "exit"')" -eq 1 ]
    [ "$(count 'true')" -eq 4 ]
    [ "$(count '.no_stack == "a 32-bit program"')" -eq 4 ]
}

@test "many short processes: each is counted, or lost and told" {
    total=$((${FORKLESS_TEST_LONG:+95000} + 5000))
    traced -- "$CREATOR" fork-exit "$total"
    lost=$(jq -s '.[-1].lost.records + .[-1].lost.entries' lines)
    seen=$(count true)
    [ "$((seen + lost))" -ge "$total" ]
    [ "$seen" -le "$total" ]
    [ "$lost" -eq 0 ] || [[ $(cat said) == *"$lost records were lost"* ]]
}

@test "a ring that nobody empties: what is missing is what is told" {
    total=30000
    mkfifo go
    sh -c "read -r _ <go; '$CREATOR' refused $total >/dev/null; sleep 0.1" &
    begin --json -p $!
    kill -STOP "$tracer"
    echo >go
    wait "%?refused" # without the tracer
    kill -CONT "$tracer"
    wait "$tracer"
    lost=$(jq -s '.[-1].lost.records' lines)
    [ "$lost" -gt 0 ]
    [ "$(($(count '.program == "creator"') + lost))" -le "$((total + 2))" ]
    [ "$(($(count '.program == "creator"') + lost))" -ge "$total" ]
    [[ $(cat said) == *"$lost records were lost, so counts are too low"* ]]
}
