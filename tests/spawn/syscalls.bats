#!/usr/bin/env bats
# Counted with strace: every system call from the launch until the exec, of both processes.
# shellcheck disable=SC2034,SC2154 # helpers.bash reads $launch, and sets $parent, $child and $default_tail

bats_require_minimum_version 1.5.0
load helpers

setup() {
    need strace
    launch=${LAUNCH:?}
    cd "$BATS_TEST_TMPDIR" || exit
}

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

@test "forkless-exec: two execs, no fork" {
    [[ -n ${FORKLESS_EXEC:-} ]] || skip "no FORKLESS_EXEC"
    for how in spawn start; do
        traced -- "$how" score:500 /bin/true
        echo "$how: $parent / $child"
        [[ $(<out) == *'exited 0' ]]
        calls='^(newf|f)stat(at)? (newf|f)stat(at)? pipe2 clone3 close( (ppoll|read|close|waitid|(newf|f)?stat(at)?))*$' # where it takes long it looks
        [[ $parent =~ $calls ]]
        pid=$(sed -nE 's/^clone3\(.* = ([0-9]+)$/\1/p' trace.* | tail -1)
        calls=$(sed '/^execve(/q' "trace.$pid" | names)
        echo "$calls"
        [[ $calls == "close_range dup3 dup3 rt_sigaction rt_sigprocmask execveat fcntl fcntl lseek mmap rt_sigaction fcntl fcntl openat write close write rt_sigaction execve" ]]
    done
    [[ -z $(grep -E '^(fork|vfork|clone)\(' trace.* || true) ]]
}
