#!/usr/bin/env bats
# What each attribute and each descriptor costs, counted as in syscalls.bats; and that nothing forks.
# shellcheck disable=SC2034,SC2154 # helpers.bash reads $launch, and sets $parent, $child and $default_tail

bats_require_minimum_version 1.5.0
load helpers

setup() {
    need strace
    launch=${LAUNCH:?}
    cd "$BATS_TEST_TMPDIR" || exit
}

# counts ARGUMENT...: sets $spawned and $started to how many calls in all, of both processes
counts() {
    local how n
    for how in spawn start; do
        traced -- "$how" "$@"
        n=$(wc -w <<<"$parent $child")
        echo "$how $*: $n: $parent / $child"
        [[ $(<out) == *'exited 0' ]]
        if [[ $how == spawn ]]; then spawned=$n; else started=$n; fi
    done
}

@test "a command that changes nothing: two calls in all" {
    table execve inherit_fds mask sigpipe /bin/true
}

@test "an inherited mask takes no call, by clone one" {
    table 'close_range rt_sigaction execve' mask /bin/true
    traced -e inject=clone3:error=ENOSYS -- spawn mask /bin/true
    [[ $parent == 'rt_sigprocmask clone rt_sigprocmask' ]]
    [[ $child == *' close_range rt_sigaction rt_sigprocmask execve' ]]
}

@test "each attribute takes one call more, in its place" {
    local tail=${default_tail#rt_sigaction }
    exec 20</
    table "fchdir setpgid close_range $default_tail" cwd_fd group /bin/true
    table "close_range rt_sigaction rt_sigaction $tail" sigint /bin/true
    table "umask chdir setsid close_range prlimit64 prctl rt_sigaction ioprio_set sched_setaffinity \
setpriority sched_setscheduler $tail" scheduler nice affinity io_priority no_new_privs rlimit session cwd umask /bin/true
}

@test "all signals take 62 calls, a death signal three" {
    counts all_signals /bin/true
    ((spawned == 4 + 62 && started == 4 + 62))
    traced -- start death_signal /bin/true
    [[ $parent == 'getpid clone3' ]]
    [[ $child == "close_range prctl getppid $default_tail" ]]
}

@test "each descriptor takes one or two calls, a memory four, a pipe three of the parent" {
    table "close_range openat dup3 $default_tail" file /bin/true
    table "close_range memfd_create rt_sigprocmask pwrite64 dup3 $default_tail" memory /bin/true
    table "close_range memfd_create dup3 $default_tail" empty /bin/true
    table "close_range dup3 $default_tail" same /bin/true
    for how in spawn start; do
        traced -- $how pipe /bin/true
        echo "$parent / $child"
        [[ $parent == 'pipe2 clone3 close' ]]
        [[ $child == "close_range dup3 $default_tail" ]]
    done
}

@test "directory, group, three descriptors: at most twelve in all" {
    counts cwd group 0:1 1:2 2:0 /bin/true
    ((spawned <= 12 && started <= 12))
    counts cwd group 5:0 6:1 7:2 /bin/true
    ((spawned <= 12 && started <= 12))
}

@test "none forks: every clone shares memory" {
    local attributes=(umask cwd session rlimit file memory pipe same death_signal 5:0)
    for how in spawn start; do
        for inject in none clone3 close_range; do
            options=(-e 'trace=clone,clone3,fork,vfork,execve,getppid,close_range')
            [[ $inject == none ]] || options+=(-e "inject=$inject:error=ENOSYS")
            traced "${options[@]}" -- $how "${attributes[@]}" /bin/true
            [[ $(<out) == *'exited 0' ]]
            calls=$(cat trace.* | grep -E '^(v?fork|clone3?)\(')
            echo "$how $inject: $calls"
            [[ -n $calls ]]
            run ! grep -v CLONE_VM <<<"$calls"
        done
    done
}
