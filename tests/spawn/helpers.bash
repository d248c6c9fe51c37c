# What the bats files share. FORKLESS_SOURCE: the top directory. FORKLESS_LIBRARY: the shared library.
# shellcheck shell=bash disable=SC2154 # bats sets $lines

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
            [[ ${lines[1]} == 'clone: cannot create the child: Operation not supported' ]]
        done
    done
}
