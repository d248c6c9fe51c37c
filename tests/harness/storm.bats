#!/usr/bin/env bats
# storm, whose children another program's clock measures.
# shellcheck disable=SC2016,SC2154  # the targets expand what they say; setup and run set the variables

bats_require_minimum_version 1.5.0

setup() {
    storm=${STORM:?}
    cd "$BATS_TEST_TMPDIR" || return
}

# A target that does what its arguments say, as a shell script.
target() {
    printf '#!/bin/sh\n%s\n' "$1" >target
    chmod +x target
}

# refused CODE SENTENCE ARGUMENT...
refused() {
    local code=$1 sentence=$2
    shift 2
    run --separate-stderr "$storm" "$@"
    [ "$status" -eq "$code" ]
    [ "$stderr" = "storm: $sentence" ]
    [ -z "$output" ]
}

@test "every strategy spawns as many as it was told, one after the other" {
    target 'mkdir alone || exit 1; echo child >>children; rmdir alone; exit 42'
    for strategy in floor_vm floor_vfork forkless_start forkless_spawn clone3 vfork posix_spawn fork forkless_run posix_spawn_read; do
        rm -f children
        run -0 "$storm" "$strategy" 5 ./target
        [ -z "$output" ]
        [ "$(wc -l <children)" -eq 5 ]
    done
    rm children
    run -0 "$storm" fork 0 ./target
    [ ! -e children ]
}

@test "the children get the environment but for what hyperfine adds to it" {
    target 'env >env; exit 42'
    run -0 env KEPT=1 HYPERFINE_RANDOMIZED_ENVIRONMENT_OFFSET=XXXX "$storm" fork 1 ./target
    grep '^KEPT=1$' env
    run -1 grep HYPERFINE env
}

@test "the target that stamps is verified by its stamps, more of them than a pipe holds" {
    run -0 "$storm" vfork 9000
    [ -z "$output" ]
}

# faults STRATEGY: page faults of 100 captures of 1 MiB, in the children too, beyond those of 10.
faults() {
    python3 -c 'import resource, subprocess, sys
def faults(count):
    before = resource.getrusage(resource.RUSAGE_CHILDREN).ru_minflt
    subprocess.run([*sys.argv[1:], count, "mebibyte"], check=True)
    return resource.getrusage(resource.RUSAGE_CHILDREN).ru_minflt - before
print(-faults("10") + faults("110"))' "$storm" "$1"
}

@test "a capture by the library fetches no pages anew that one by hand keeps" {
    ours=$(faults forkless_run) by_hand=$(faults posix_spawn_read)
    [ "$ours" -lt $((2 * by_hand)) ]
}

@test "a target that does not end as it should ends the storm" {
    target 'echo child >>children; [ "$(wc -l <children)" -lt 3 ] || exit 7; exit 42'
    refused 3 "fork: the target exited with 7, not 42" fork 200 ./target
    [ "$(wc -l <children)" -eq 3 ]
    target 'kill -9 $$'
    refused 3 "vfork: the target was killed by signal 9 (Killed)" vfork 2 ./target
    refused 3 "clone3: the target could not be executed (status 127)" clone3 2 ./absent
    refused 3 "posix_spawn: child 1 of 1 could not be started: No such file or directory" posix_spawn 2 ./absent
}

@test "where clone3 is refused, what needs it is unsupported and says so" {
    run -4 --separate-stderr "$WITHOUT_CLONE3" "$storm" floor_vfork 2
    [ "$stderr" = "storm: floor_vfork: child 1 of 1 could not be started: Function not implemented" ]
    run -4 --separate-stderr "$WITHOUT_CLONE3" "$storm" forkless_start 2
    [ "$stderr" = "storm: forkless_start: clone3 is refused here, and the library took another mechanism" ]
    run -0 "$WITHOUT_CLONE3" "$storm" fork 2
}

@test "bad input is refused in one sentence" {
    refused 2 "usage: storm STRATEGY N [TARGET]"
    refused 2 "usage: storm STRATEGY N [TARGET]" fork
    refused 2 "usage: storm STRATEGY N [TARGET]" fork 1 tiny more
    refused 2 "there is no strategy 'frok'; did you mean fork?" frok 1
    refused 2 "'1x' is not a whole number from 0 to 1000000" fork 1x
    refused 2 "'-1' is not a whole number from 0 to 1000000" fork -1
    refused 2 "there is no target 'huge', but tiny, silent, static, dynamic, script, mebibyte, waiter, or a path with a slash" fork 1 huge
}
