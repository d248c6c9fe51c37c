#!/usr/bin/env bats
# forkless-trace --forbid fork: a gate for a fast path.
# shellcheck disable=SC2016,SC2153,SC2154  # meson and bats set the variables; what is quoted is for another shell

load trace

@test "forbidden: a fork before an exec, also one that fails or comes late; else nothing" {
    for kind in fork-exec fork-missing fork-late clone3; do
        run -5 --separate-stderr "$FORKLESS_TRACE" --forbid fork -o found -- "$CREATOR" "$kind" 2
        [ "$stderr" = "forkless-trace: 2 forks before an exec" ]
        [ "$(grep -c '  fork  ' found)" -eq 2 ]
    done
    for kind in vfork posix_spawn clone-vm fork-exit fork-killed; do
        "$FORKLESS_TRACE" --forbid fork -o found -- "$CREATOR" "$kind" 2
        [ ! -s found ]
    done
}

@test "forbidden: with its stack, and what to write instead" {
    run -5 "$FORKLESS_TRACE" --forbid fork -o found -- sh -c "'$CREATOR' fork-exec 1 100000; exit 0"
    grep -qE '_Fork < .*fork_exec < main' found
    run -5 "$FORKLESS_TRACE" --forbid fork -o found -- bash -c '/bin/true; exit 0'
    grep -q '^         instead: bash forks' found
}

@test "forbidden: what cannot be told is no pass" {
    run -6 --separate-stderr "$FORKLESS_TRACE" --forbid fork -- "$CREATOR" refused 2
    [[ $stderr == "forkless-trace: 2 forks failed or "* ]]
}

@test "forbidden: a child that still runs may exec yet" {
    mkfifo "$BATS_TEST_TMPDIR/later"
    for option in "--duration 300ms" "--count 9"; do
        status=0
        # shellcheck disable=SC2086
        "$FORKLESS_TRACE" --forbid fork $option -- \
            sh -c '{ read x; exec true; } <"$0" & exit 0' "$BATS_TEST_TMPDIR/later" >said 2>&1 3>&- || status=$?
        timeout 5 sh -c 'echo >"$0"' "$BATS_TEST_TMPDIR/later"
        [ "$status" -eq 6 ]
        [ "$(cat said)" = "forkless-trace: 1 fork ran on at the end: whether an exec was to follow cannot be told" ]
    done
}

@test "forbidden: a command's own failure is its exit status" {
    run -7 "$FORKLESS_TRACE" --forbid fork -- sh -c 'exit 7'
}
