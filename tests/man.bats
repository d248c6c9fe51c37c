#!/usr/bin/env bats
# docs/man: each program has a page, each flag of its --help is in it, and no other.
# shellcheck disable=SC2154  # meson and run set the variables

bats_require_minimum_version 1.5.0

programs() { find "$BUILD" -maxdepth 2 -type f -perm -u+x \( -name forkless -o -name 'forkless-*' \) | sort; }
pages() { find "$SOURCE/docs/man" -name '*.scd' | sort; }

# The flags among the words of standard input, but for the three that argp gives to every program.
flags() { grep -oE '(^|[^[:alnum:]-])--?[[:alnum:]][[:alnum:]-]*' | grep -oE -- '-.*' | grep -vxE -- '-V|--(help|usage|version)' | sort -u; }

# An option stands at the beginning of its line, before what is said about it.
flags_of_help() { "$1" --help | grep -E '^ {2,6}-' | sed -E 's/([^ ])  .*/\1/' | flags; }
flags_of_page() { grep -E '^[*_]-' "$1" | flags; }

@test "each program has a page, and each page its program" {
    diff <(programs | sed 's|.*/||' | sort) <(pages | sed 's|.*/||; s|\.1\.scd$||' | sort)
}

@test "each page is built and installed" {
    [ -n "$SCDOC" ] || skip "scdoc is missing"
    for page in $(pages); do
        [ -s "$BUILD/docs/$(basename "$page" .scd)" ]
        jq -e --arg page "$BUILD/docs/$(basename "$page" .scd)" 'has($page)' "$BUILD/meson-info/intro-installed.json" >/dev/null
    done
}

@test "scdoc and man have nothing to say about any page" {
    [ -n "$SCDOC" ] || skip "scdoc is missing"
    for page in $(pages); do
        roff=$BATS_TEST_TMPDIR/$(basename "$page" .scd)
        "$SCDOC" <"$page" >"$roff" 2>"$BATS_TEST_TMPDIR/said"
        if command -v man >/dev/null; then
            MANWIDTH=80 LC_ALL=C.UTF-8 man --warnings "$roff" >/dev/null 2>>"$BATS_TEST_TMPDIR/said"
        fi
        cat "$BATS_TEST_TMPDIR/said"
        [ ! -s "$BATS_TEST_TMPDIR/said" ]
    done
}

@test "the name of a page is its title, its program and its file" {
    for page in $(pages); do
        name=$(basename "$page" .1.scd)
        [ "$(sed -n 1p "$page" | cut -d' ' -f1)" = "$name(1)" ]
        grep -q "^$name - " "$page"
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
