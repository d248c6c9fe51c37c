#!/usr/bin/env bats
# docs/completions: what bash and zsh offer.
# shellcheck disable=SC2154  # meson and run set the variables

bats_require_minimum_version 1.5.0

setup() { cd "$BATS_TEST_TMPDIR" || return; }

# offers WORD...: what is offered for the last word, sorted.
offers() {
    # shellcheck disable=SC2016
    bash -euo pipefail -c 'source "$0"
        COMP_WORDS=("$@") COMP_CWORD=$(($# - 1)) COMPREPLY=()
        _forkless
        [ "${#COMPREPLY[@]}" -eq 0 ] || printf "%s\n" "${COMPREPLY[@]}"' \
        "$SOURCE/docs/completions/forkless.bash" "$BUILD/harness/forkless" "$@" | sort
}

lines() { printf '%s\n' "$@" | sort; }

@test "it is registered for forkless" {
    # shellcheck disable=SC2016
    run -0 bash -c 'source "$0"; complete -p forkless' "$SOURCE/docs/completions/forkless.bash"
    [ "$output" = "complete -F _forkless forkless" ]
}

@test "the commands of --help" {
    commands=$("$BUILD/harness/forkless" --help | sed -nE '/^ Commands:/,/^$/s/^  ([a-z]+) .*/\1/p' | sort)
    [[ $commands == *bench* ]]
    [ "$(offers '')" = "$commands" ]
    [ "$(offers help '')" = "$commands" ]
    [ "$(offers be)" = bench ]
    [ "$(offers x)" = "" ]
}

@test "the flags of --help, of each program" {
    diff <(offers --) <(lines --help --usage --version)
    for program in "$BUILD"/*/forkless-*; do
        [ -f "$program" ] && [ -x "$program" ] || continue
        diff <(offers "${program##*/forkless-}" --) \
            <("$program" --help | grep -E '^ {2,6}-' | grep -oE -- '^ {2,6}(-., )?--[a-z-]+' | grep -oE -- '--.*' | sort)
    done
    [ "$(offers bench --ou)" = --output ]
    [ "$(offers no-such-command --)" = "" ]
}

@test "matrices and matrix files" {
    touch my.yaml my.jsonl
    mkdir folder
    diff <(offers bench '') <(lines quick standard full calibrate my.yaml folder)
    [ "$(offers bench q)" = quick ]
    for matrix in "$SOURCE"/cases/*.yaml; do
        [ ! -e "$matrix" ] || offers bench '' | grep -x "$(basename "$matrix" .yaml)"
    done
}

@test "the strategies that there are, also in a list" {
    strategies=$("$BUILD/harness/forkless" bench standard --list | cut -d/ -f2 | grep -vx null | sort -u)
    [ "$(offers bench --strategy '')" = "$strategies" ]
    [ "$(offers bench --strategy = '')" = "$strategies" ]
    [ "$(offers bench --strategy = posix_spawn_)" = posix_spawn_read ]
    diff <(offers bench --strategy fork,forkless_s) <(lines fork,forkless_spawn fork,forkless_start)
}

@test "the attributes that there are, also in a list" {
    attributes=$("$BUILD/harness/forkless" bench --list | sed -n '/^attributes/,$p' | tr ',' '\n' | tr -d ' ' | sed 's/^attributes//' | grep . | sort)
    [[ $attributes == *each* && $attributes == *env* ]]
    [ "$(offers bench --attributes '')" = "$attributes" ]
    diff <(offers bench --attributes none,env_) <(lines none,env_250)
    [ "$(offers bench --fds '')" = "" ]
    [ "$(offers bench --spawners '')" = "" ]
}

@test "targets and files" {
    touch 'a file' dump
    diff <(offers bench --target '') <(lines tiny silent static dynamic script mebibyte waiter 'a file' dump)
    diff <(offers bench --target d) <(lines dynamic dump)
    diff <(offers bench -o '') <(lines 'a file' dump)
    diff <(offers bench --resume = du) <(lines dump)
    diff <(offers report '') <(lines 'a file' dump)
    diff <(offers compare '') <(lines 'a file' dump)
    diff <(offers compare --figure = '') <(lines call ready total cpu)
    [ "$(offers compare --fail-above '')" = "" ]
    [ "$(offers bench --rounds '')" = "" ]
    touch page.md
    diff <(offers report --format '') <(lines text html markdown csv json google-benchmark)
    [ "$(offers report --format = h)" = html ]
    [ "$(offers report --splice '')" = page.md ]
    diff <(offers report -o pa) <(lines page.md)
    [ "$(offers report --predict '')" = "" ]
}

@test "processes, commands, and what can be forbidden" {
    [ -x "$BUILD/trace/forkless-trace" ] || skip "there is no forkless-trace"
    [ "$(offers trace -p $$)" = $$ ]
    [ "$(offers trace --forbid = '')" = fork ]
    [ "$(offers trace --duration '')" = "" ]
    offers trace bas | grep -qx bash
    touch page
    [ "$(offers trace -o pa)" = page ]
}

@test "processes and commands for cow" {
    [ -x "$BUILD/trace/forkless-cow" ] || skip "there is no forkless-cow"
    touch a.svg
    offers cow -p '' | grep -qx "$$"
    [ "$(offers cow --svg '')" = a.svg ]
    offers cow ca | grep -qx cat
    [ "$(offers cow --duration '')" = "" ]
}

@test "zsh can read its own" {
    command -v zsh >/dev/null || skip "there is no zsh"
    zsh -n "$SOURCE/docs/completions/_forkless"
}
