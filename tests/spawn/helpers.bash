# What the bats files share. FORKLESS_SOURCE: the top directory. FORKLESS_LIBRARY: the shared library.
# shellcheck shell=bash disable=SC2034,SC2154 # the tests read what is set here; bats sets $lines

: "${FORKLESS_SOURCE:=$BATS_TEST_DIRNAME/../..}"

need() {
    local tool
    for tool; do
        [[ -n $(command -v "$tool") ]] || skip "no $tool"
    done
}

# compile COMPILER [FLAG]... : the library and tests/spawn/launch.c, at once, as $launch
launch=$BATS_FILE_TMPDIR/launch
compile() {
    "$@" -std=gnu17 -D_GNU_SOURCE -I"$FORKLESS_SOURCE/spawn" -o "$launch" \
        "$FORKLESS_SOURCE/tests/spawn/launch.c" "$FORKLESS_SOURCE"/spawn/*.c -pthread
}

# smoke [WRAPPER]...: $launch does what it should under the wrapper
smoke() {
    local how
    for how in spawn start; do
        run -0 timeout 15 "$@" "$launch" "$how" 1:2 2:1 5:0 /bin/true
        [[ ${lines[0]} == clone*', exited 0' && ${lines[1]} == "${lines[0]}" ]]
        run -0 timeout 15 "$@" "$launch" "$how" /nonexistent
        [[ ${lines[1]} == *'exec: cannot execute /nonexistent: No such file or directory' ]]
    done
}

# Where no child can be made, both say so, and nothing hangs.
refused() {
    local how program
    for how in spawn start; do
        for program in /bin/true /nonexistent; do
            run -0 timeout 15 "$@" "$launch" "$how" "$program"
            [[ ${lines[1]} == 'clone: cannot create the child: Operation not supported (clone3 is refused'* ]]
        done
    done
}

# ---- system calls, counted with strace ----

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
