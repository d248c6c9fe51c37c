#!/usr/bin/env bats
# forkless-cow: exactly the copies that were made, by whom.
# shellcheck disable=SC2030,SC2031,SC2154  # bats runs each test in a subshell; meson and run set the variables

bats_require_minimum_version 1.5.0
load cow

@test "997 copies are 997, the 31 that read(2) made among them, and each has its stack" {
    write_by copies
    [ "$mine" = '[997,31,0,0]' ]
    [ "$(by_stack 'main;copies;in_child;write_both_ways;write_pages')" -eq 966 ]
    [ "$(by_stack 'write_both_ways;read_into_pages;read;[kernel]')" -eq 31 ]
    jq -e '(.stacks | map(.copies) | add) == .total.copies and .processes == 2' found.json
}

@test "pages that nobody else has any more are reused, not copied" {
    write_by reused
    [ "$mine" = '[997,31,997,0]' ]
}

@test "what was only read before, or never touched, is not copied" {
    write_by zeros
    [ "$mine" = '[0,0,0,997]' ]
    write_by fresh
    [ "$mine" = '[0,0,0,0]' ]
}

@test "first writes to shared mappings are not copies" {
    for way in shared shared_anonymous; do
        write_by "$way"
        [ "$mine" = '[0,0,0,0]' ]
    done
}
