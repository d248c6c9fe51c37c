#!/usr/bin/env bats
# USDT probes: in the library where <sys/sdt.h> is there, none where it is not, and none in the child's code.

bats_require_minimum_version 1.5.0
load helpers

# The probes of these files: NAME ARGUMENTS, sorted; nothing where they have none.
probes() {
    readelf -nW "$@" | sed -nE '/Provider: forkless$/,/Arguments:/p' |
        awk '/Name:/ {name = $2} /Arguments:/ {print name, NF - 1}' | sort -u
}

# built COMPILER [FLAG]...: child.o, and those with probes
built() {
    cd "$BATS_TEST_TMPDIR" || exit
    "$@" -std=gnu17 -D_GNU_SOURCE -c "$FORKLESS_SOURCE"/spawn/{child,stamps,start}.c
}

all='asked 2
created 4
ended 5
execed 5
failed 6'

has_header() {
    echo '#include <sys/sdt.h>' | "$@" -E -o /dev/null - 2>/dev/null
}

@test "they are in the library, with their arguments" {
    [[ -n ${FORKLESS_LIBRARY:-} ]] || skip "no FORKLESS_LIBRARY"
    has_header cc || skip "no <sys/sdt.h>"
    probes "$FORKLESS_LIBRARY"
    [[ $(probes "$FORKLESS_LIBRARY") == "$all" ]]
}

@test "they are in what each compiler makes; none is in the child's code" {
    has_header gcc || skip "no <sys/sdt.h>"
    for compiler in gcc clang; do
        [[ -n $(command -v $compiler) ]] || continue
        built $compiler -O0
        [[ $(probes {stamps,start}.o) == "$all" ]]
        [[ -z $(probes child.o) ]]
    done
}

@test "without leave there are none" {
    built gcc -O1 -DFORKLESS_NO_PROBES
    [[ -z $(probes {stamps,start}.o) ]]
}

@test "without the header there are none" {
    need musl-gcc
    ! has_header musl-gcc || skip "musl-gcc has the header"
    built musl-gcc -O1
    [[ -z $(probes {stamps,start}.o) ]]
}

# seen ARGUMENT...: what gdb reads at every probe of a launch; numbers but the small ones are N
seen() {
    local words i
    while read -ra words; do
        printf 'break -probe-stap forkless:%s\ncommands\nsilent\nprintf "seen %s\\n"' "${words[0]}" "${words[*]}"
        for ((i = 0; i < ${#words[@]} - 1; i++)); do
            printf ', $%s%d' _probe_arg $i
        done
        printf '\ncontinue\nend\n'
    done >script <<'END'
asked %s %d
created %d %s %d %ld
execed %d %s %ld %ld %ld
ended %d %s %d %d %ld
failed %d %s %d %s %d %ld
END
    echo run >>script
    timeout 25 gdb -q -batch -nx -x script --args "$LAUNCH" "$@" 2>&1 |
        sed -nE '/^seen /{s/^seen //; s/ [0-9]{2,}/ N/g; p}'
}

@test "a tracer reads their arguments" {
    need gdb
    cd "$BATS_TEST_TMPDIR" || exit
    [[ -n ${LAUNCH:-} ]] || skip "no LAUNCH"
    [[ -n $(probes "$LAUNCH") ]] || skip "built without <sys/sdt.h>"
    run -0 seen spawn /bin/false
    once='asked /bin/false 1
created N /bin/false 2 N
execed N /bin/false N N N
ended N /bin/false 1 1 N'
    diff <(printf '%s\n' "$once" "$once") - <<<"$output"
    run -0 seen spawn /nonexistent
    once='asked /nonexistent 1
created N /nonexistent 2 N
failed N /nonexistent -2 exec -1 N'
    diff <(printf '%s\n' "$once" "$once") - <<<"$output"
}
