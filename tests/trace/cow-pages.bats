#!/usr/bin/env bats
# forkless-cow: exactly the copies that were made, of pages of every kind.
# shellcheck disable=SC2030,SC2031,SC2154  # bats runs each test in a subshell; meson and run set the variables

bats_require_minimum_version 1.5.0
load cow

@test "a private mapping of a file is copied, whether it was read before or not" {
    for way in file file_read_first; do
        write_by "$way"
        [ "$mine" = '[997,0,0,0]' ]
        jq -e '.mappings[] | select(.name == "pages").copies == 997' found.json
    done
}

@test "of a huge page, the small ones are counted that were written to" {
    run -0 "$FORKLESS_COW" --json -- "$WRITER" huge .
    [[ $stderr$output != *"status 77"* ]] || skip "no huge pages here"
    printf '%s\n' "$output" >found.json
    read_mine
    [ "$mine" = '[997,0,0,0]' ]
}

@test "two threads that write to a page at the same moment copy it once" {
    write_by threads
    [ "$mine" = '[997,0,0,0]' ]
}

@test "in three generations each has its copies" {
    write_by grandchild
    [ "$mine" = '[1994,0,0,0]' ]
}

@test "the same page can be copied many times" {
    write_by again
    [ "$mine" = '[97,0,0,0]' ]
}
