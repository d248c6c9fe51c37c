#!/usr/bin/env bats
# docs/man: each program has a page, each flag of its --help is in it, and no other; each function and each step
# of the library is in its page, as the header has it.
# shellcheck disable=SC2030,SC2031,SC2154  # bats runs each test in a subshell; meson and run set the variables

bats_require_minimum_version 1.5.0

# Those that people call: forkless-phases is the benchmark's own.
programs() { find "$BUILD" -maxdepth 2 -type f -perm -u+x \( -name forkless -o -name 'forkless-*' \) ! -name forkless-phases | sort; }
pages() { find "$SOURCE/docs/man" -name "*${1-}.scd" | sort; } # of a section, such as .3

# The functions of the library.
functions() { sed -nE 's/^ *(forkless_[a-z0-9_]+);$/\1/p' "$SOURCE/spawn/forkless.map" | sort; }

# The names at the head of a page of functions.
names() { sed -n '/^# NAME$/,/^# SYNOPSIS$/s/ - .*//p' "$1" | tr -d ' ' | tr , '\n'; }

# The flags among the words of standard input, but for the three that argp gives to every program.
flags() { grep -oE '(^|[^[:alnum:]-])--?[[:alnum:]][[:alnum:]-]*' | grep -oE -- '-.*' | grep -vxE -- '-V|--(help|usage|version)' | sort -u; }

# An option stands at the beginning of its line, before what is said about it.
flags_of_help() { "$1" --help | grep -E '^ {2,6}-' | sed -E 's/([^ ])  .*/\1/' | flags; }
flags_of_page() { grep -E '^[*_]-' "$1" | flags; }

@test "each program has a page, and each page its program" {
    diff <(programs | sed 's|.*/||' | sort) <(pages .1 | sed 's|.*/||; s|\.1\.scd$||' | sort)
}

# What is installed, by the paths in the build.
setup_file() {
    INSTALLED=$(jq -r 'keys[] | "<\(.)>"' "$BUILD/meson-info/intro-installed.json")
    export INSTALLED
}
is_installed() { [[ $INSTALLED == *"<$1>"* ]]; }

# The name of a page, from its path: with its section, or without.
base() {
    name=${1##*/}
    name=${name%.scd}
}
base_alone() {
    base "$1"
    name=${name%.*}
}

@test "each page is built and installed" {
    [ -n "$SCDOC" ] || skip "scdoc is missing"
    for page in $(pages); do
        base "$page"
        [ -s "$BUILD/docs/$name" ]
        is_installed "$BUILD/docs/$name"
    done
}

@test "scdoc and man have nothing to say about any page; no name is broken, no line of the library's too long" {
    [ -n "$SCDOC" ] || skip "scdoc is missing"
    for page in $(pages); do
        base "$page"
        "$SCDOC" <"$page" >/dev/null 2>"$BATS_TEST_TMPDIR/said"
        if command -v man >/dev/null; then
            MANWIDTH=80 LC_ALL=C.UTF-8 man --warnings -l "$BUILD/docs/$name" >"$BATS_TEST_TMPDIR/page" 2>>"$BATS_TEST_TMPDIR/said"
            run -1 grep '‐$' "$BATS_TEST_TMPDIR/page"
            [[ $page == *.1.scd ]] || LC_ALL=C.UTF-8 run -1 grep -E '^.{81}' "$BATS_TEST_TMPDIR/page"
        fi
        cat "$BATS_TEST_TMPDIR/said"
        [ ! -s "$BATS_TEST_TMPDIR/said" ]
    done
}

@test "the name of a page is its title, its program and its file" {
    for page in $(pages); do
        base "$page"
        section=${name##*.}
        name=${name%.*}
        read -r title _ <"$page"
        [ "$title" = "$name($section)" ]
        [ "$section" = 3 ] || grep -q "^$name - " "$page"
    done
}

@test "each function is at the head of one page, and its name is a page" {
    diff <(functions) <(for page in $(pages .3); do names "$page"; done | sort)
    [ -n "$SCDOC" ] || skip "scdoc is missing"
    for page in $(pages .3); do
        base_alone "$page"
        for function in $(names "$page"); do
            built=$BUILD/docs/$function.3
            [ "$function" = "$name" ] || [ "$(<"$built")" = ".so man3/$name.3" ]
            is_installed "$built"
        done
    done
}

@test "the functions at the head of a page are those of its synopsis" {
    for page in $(pages .3); do
        diff <(names "$page" | sort) \
            <(sed -n '/^# SYNOPSIS$/,/^# [^S]/p' "$page" | grep -oE 'forkless_[a-z0-9_]+\(' | tr -d '(' | sort)
    done
}

@test "synopses are as the header has it, quotes as the examples have it" {
    "$BATS_TEST_DIRNAME/check-quotes" "$SOURCE"
}

@test "what the pages name is in the header" {
    words() { grep -ohE '\b(forkless|FORKLESS)_[A-Za-z0-9_]*[A-Za-z0-9]' "$@" | sort -u; }
    known=$(words "$SOURCE/spawn/forkless.h" && pages .3 | sed 's|.*/||; s|\.3\.scd$||')
    # shellcheck disable=SC2046
    run -1 grep -vxF "$known" <(words $(pages .3) $(pages .7))
}

@test "every step is in the table of forkless_error(3), and has its errors there" {
    page=$SOURCE/docs/man/forkless_error.3.scd
    steps=$(sed -n '/^enum forkless_step {/,/^};/s/^ *\(FORKLESS_STEP_[A-Z_]*\),.*/\1/p' "$SOURCE/spawn/forkless.h")
    [ -n "$steps" ]
    diff <(echo "$steps") <(grep -oE '^FORKLESS_STEP_[A-Z_]+' "$page")
    diff <(echo "$steps" | sed 's/FORKLESS_STEP_//' | tr '[:upper:]' '[:lower:]' | grep -vx none | sort) \
        <(sed -n '/^# ERRORS$/,/^# NOTES$/p' "$page" | grep '^_' | grep -oE '_[a-z_]+_' | sed 's/^_//; s/_$//' | sort)
}

@test "the pages that a page names are there" {
    [ -n "$SCDOC" ] || skip "scdoc is missing"
    named=$(cat "$SOURCE"/docs/man/*.scd | grep -oE '\*(lib)?forkless[a-z_-]*\*\([1-9]\)' | tr -d '*)' | tr '(' . | sort -u)
    for name in $named; do
        [ -s "$BUILD/docs/$name" ] || { echo "$name is not there"; false; }
    done
}

@test "the flags of --help are those of the page, and the other way round" {
    bad=
    for program in $(programs); do
        name=$(basename "$program")
        page=$SOURCE/docs/man/$name.1.scd
        [ -e "$page" ] || continue
        echo "$name: --help (<) and its page (>)"
        diff <(flags_of_help "$program") <(flags_of_page "$page") || bad=1
    done
    [ -z "$bad" ]
}

@test "the commands of forkless are those of its page" {
    commands=$("$BUILD/harness/forkless" --help | sed -nE '/^ Commands:/,/^$/s/^  ([a-z]+) .*/\1/p' | sort)
    [ -n "$commands" ]
    diff <(echo "$commands") <(sed -n '/^# COMMANDS/,/^# OPTIONS/s/^\*\([a-z]*\)\*.*/\1/p' "$SOURCE/docs/man/forkless.1.scd" | sort)
}
