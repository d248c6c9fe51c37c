#!/usr/bin/env bats
# forkless-trace: what it follows, how long, and how it ends.
# shellcheck disable=SC2016,SC2153,SC2154  # meson and bats set the variables; what is quoted is for another shell

load trace

@test "a command: its output, its exit status, its whole tree" {
    run -3 --separate-stderr "$FORKLESS_TRACE" -o lines -- sh -c 'echo out; sh -c "/bin/true; exit 3"'
    [ "$output" = out ]
    [ "$stderr" = "" ]
    [ "$(grep -c '> exec ' lines)" -eq 2 ] # sh, and in it true
    run -139 "$FORKLESS_TRACE" -o /dev/null -- sh -c 'kill -SEGV $$'
}

@test "lines fit into 80 columns and say what there is" {
    "$FORKLESS_TRACE" -- "$CREATOR" fork-missing 2 >lines
    [ "$(awk 'length > 80' lines)" = "" ]
    grep -qE '^[0-9:]{8} +[0-9.]+ [mu]s  fork         creator\[[0-9]+\] > no exec, ENOENT: ' lines
    grep -qE '^         resident [0-9.]+ [KM]iB, page tables [0-9]+ KiB, [0-9]+ mappings, 1 thread, clone$' lines
}

@test "a process that is there: also what its children, which were there before, create" {
    mkfifo go
    sh -c "sh -c 'read -r _ <go; \"$CREATOR\" vfork 23'; exit 0" >/dev/null &
    pid=$!
    until [ -n "$(cat /proc/$pid/task/$pid/children)" ]; do sleep 0.02; done
    begin --json -p $pid
    echo >go
    wait "$tracer"
    [ "$(count '.program == "creator"')" -eq 23 ]
    [ "$(cat said)" = "forkless-trace: process $pid has ended" ]
}

@test "the whole host, for a time" {
    begin --json --duration 2s
    "$CREATOR" vfork 23 >/dev/null
    wait "$tracer"
    [ "$(count '.program == "creator" and .kind == "vfork-class"')" -ge 23 ]
    [ "$(count ".pid == $tracer")" -eq 0 ]
}

@test "so many creations and no more; only those that took so long" {
    traced --count 5 -- "$CREATOR" vfork 23
    [ "$(count true)" -eq 5 ]
    traced --longer-than 10s -- "$CREATOR" vfork 23
    [ "$(count true)" -eq 0 ]
    traced --longer-than 1ns -- "$CREATOR" vfork 23
    [ "$(count true)" -eq 23 ]
}

@test "Ctrl-C: what there is, then 130; a command of ours goes on" {
    begin --json
    "$CREATOR" vfork 1 >/dev/null
    kill -INT "$tracer"
    wait "$tracer" && false || [ $? -eq 130 ]
    [ "$(cat said)" = "forkless-trace: interrupted" ]
    [ "$(jq -r .event lines | tail -n 1)" = end ]
    rm lines
    begin -- sh -c 'echo $$; exec sleep 60'
    until [ -s printed ]; do sleep 0.02; done
    kill -INT "$tracer"
    wait "$tracer" && false || [ $? -eq 130 ]
    kill "$(cat printed)" # it is there
    rm lines printed
    begin -- sh -c 'echo $$; exec sleep 60'
    until [ -s printed ]; do sleep 0.02; done
    kill -TERM "$tracer" # is handed on
    wait "$tracer" && false || [ $? -eq 130 ]
    for _ in {1..100}; do
        kill -0 "$(cat printed)" 2>/dev/null || break
        sleep 0.02
    done
    run -1 kill -0 "$(cat printed)"
}
