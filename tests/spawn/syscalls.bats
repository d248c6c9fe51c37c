#!/usr/bin/env bats
# Counted with strace: every system call from the launch until the exec, of both processes.

bats_require_minimum_version 1.5.0
load helpers

setup_file() {
    need strace gcc
    compile gcc -O2
}

setup() {
    cd "$BATS_TEST_TMPDIR" || exit
}

names() {
    sed -nE 's/^([a-z0-9_]+)\(.*/\1/p' | paste -sd' '
}

# traced STRACE_OPTION... -- ARGUMENT...: sets $parent and $child to the calls of the second launch
traced() {
    local options=() trace between pid
    while [[ $1 != -- ]]; do
        options+=("$1")
        shift
    done
    shift
    rm -f trace.*
    strace -qq -e signal=none "${options[@]}" -ff -o trace "${launch:?}" "$@" >out
    trace=$(grep -c '^getppid(' trace.* | sort -t: -nk2 | sed -n '$s/:.*//p')
    between=$(awk '/^getppid/ {n++; next} n == 3' "$trace")
    parent=$(names <<<"$between")
    pid=$(sed -nE 's/^clone3?\(.* = ([0-9]+)$/\1/p' <<<"$between")
    child=$(sed '/^execve/q' "trace.$pid" | names)
}

# table CALLS ARGUMENT...: what the child calls, of spawn and of start
table() {
    local want=$1 how
    shift
    for how in spawn start; do
        traced -- "$how" "$@"
        echo "$how $*: $parent / $child"
        [[ $parent == clone3 ]]
        [[ $child == "$want" ]]
    done
}

default_tail='rt_sigaction rt_sigprocmask execve'

@test "the default command: five calls in all" {
    table "close_range $default_tail" /bin/true
}

@test "one map takes one call more" {
    table "close_range dup3 $default_tail" 5:0 /bin/true
    table "close_range dup3 dup3 dup3 $default_tail" 5:0 6:1 2:1 /bin/true
}

@test "b01: the same number takes one call more" {
    table "close_range fcntl $default_tail" 2:2 /bin/true
}

@test "b02: a swap takes three calls more, a chain none" {
    table "close_range fcntl dup3 dup3 $default_tail" 1:2 2:1 /bin/true
    table "close_range fcntl dup3 dup3 dup3 $default_tail" 0:1 1:2 2:0 /bin/true
    table "close_range dup3 dup3 dup3 $default_tail" 3:2 2:1 1:0 /bin/true
}

@test "a missing program: until the exit" {
    traced -- spawn /nonexistent
    [[ $parent == 'clone3 '*' waitid' && $parent != *clone*clone* ]] # between them it looks for the reason
    [[ $child == "close_range $default_tail" ]]
    [[ $(cat trace.*) == *'exit_group(127)'* ]]
    traced -- start /nonexistent
    [[ $parent == clone3 ]]
    [[ $child == "close_range $default_tail" ]]
}

@test "b19: the limit of descriptors costs nothing" {
    ulimit -n "$(ulimit -Hn)"
    table "close_range $default_tail" /bin/true
}

@test "b59: masks are of eight bytes" {
    traced -e trace=rt_sigprocmask,rt_sigaction,getppid,clone3,execve -- spawn /bin/true
    pid=$(sed -nE 's/^clone3\(.* = ([0-9]+)$/\1/p' trace.* | tail -1)
    grep -q '^rt_sigprocmask(SIG_SETMASK, \[\], NULL, 8) = 0' "trace.$pid"
    grep -q '^rt_sigaction(SIGPIPE, {sa_handler=SIG_DFL.*, 8) = 0' "trace.$pid"
}

@test "b103: clone3 is asked for once, then clone" {
    for how in spawn start; do
        traced -e inject=clone3:error=ENOSYS -- "$how" /bin/true
        [[ $parent == 'rt_sigprocmask clone rt_sigprocmask' ]]
        [[ $(grep -c '^clone3(' "$(grep -l getppid trace.*)") == 1 ]]
        [[ $child == *" close_range $default_tail" ]]
        [[ $(<out) == 'clone_vfork, exited 0'* ]]
    done
}

@test "b21: without close_range, no loop over numbers" {
    ulimit -n "$(ulimit -Hn)"
    traced -e inject=close_range:error=ENOSYS -- spawn 5:0 /bin/true
    echo "$child"
    [[ $child == "close_range openat getdents64 "*"getdents64 close dup3 $default_tail" ]]
    (($(wc -w <<<"$child") < 20))
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
    table "umask close_range $default_tail" umask /bin/true
    table "chdir close_range $default_tail" cwd /bin/true
    table "fchdir close_range $default_tail" cwd_fd /bin/true
    table "setpgid close_range $default_tail" group /bin/true
    table "setsid close_range $default_tail" session /bin/true
    table "close_range prlimit64 $default_tail" rlimit /bin/true
    table "close_range prctl $default_tail" no_new_privs /bin/true
    table "close_range ioprio_set $default_tail" io_priority /bin/true
    table "close_range sched_setaffinity $default_tail" affinity /bin/true
    table "close_range setpriority $default_tail" nice /bin/true
    table "close_range sched_setscheduler $default_tail" scheduler /bin/true
    table "close_range rt_sigaction rt_sigaction $tail" sigint /bin/true
    table "umask chdir setsid close_range prlimit64 prctl ioprio_set sched_setaffinity setpriority \
sched_setscheduler $default_tail" scheduler nice affinity io_priority no_new_privs rlimit session cwd umask /bin/true
}

@test "all signals take 62 calls, a death signal three" {
    counts all_signals /bin/true
    ((spawned == 4 + 62 && started == 4 + 62))
    traced -- start death_signal /bin/true
    [[ $parent == 'getpid clone3' ]]
    [[ $child == "close_range prctl getppid $default_tail" ]]
}

@test "each descriptor takes one or two calls, a memory three, a pipe three of the parent" {
    table "close_range openat dup3 $default_tail" file /bin/true
    table "close_range memfd_create pwrite64 dup3 $default_tail" memory /bin/true
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

@test "b21: a refused unshare is asked for once, a lack each time" {
    traced -e inject=close_range:error=EPERM -- spawn /bin/true
    echo "$parent"
    [[ $parent == clone3 ]]
    [[ $(cat trace.* | grep -c '^close_range(3, 4294967295, CLOSE_RANGE_UNSHARE)') == 1 ]]
    traced -e inject=close_range:error=ENOMEM -- spawn /bin/true
    echo "$parent"
    [[ $parent == 'clone3 waitid clone3' ]]
    [[ $(<out) == *'exited 0'*'exited 0' ]]
}
