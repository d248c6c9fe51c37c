#!/usr/bin/env bats
# forkless-trace: what became of a child, what its parent was like; and what was lost is told.
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
