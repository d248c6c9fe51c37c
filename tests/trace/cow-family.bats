#!/usr/bin/env bats
# forkless-cow: who is followed, and until when.
# shellcheck disable=SC2030,SC2031,SC2154  # bats runs each test in a subshell; meson and run set the variables

bats_require_minimum_version 1.5.0
load cow

@test "the children of a process that is there are followed, to their end" {
    follow "$WRITER"
    attach --json
    grep -qx 'forkless-cow: following 3 processes' talk.txt
    touch go
    wait "$cow"
    read_mine
    [ "$mine" = '[1994,0,0,0]' ]
    [ "$(by_stack 'main;preforked;write_when_told;write_pages')" -eq 1994 ]
    jq -e '.sharing[0] | .processes == 3 and .share > 0.5 and .shared <= .resident and .proportional < .resident' found.json
}

@test "a program that was deleted still has its names, one without symbols has places" {
    cp "$WRITER" deleted
    follow ./deleted
    rm deleted
    attach --json
    touch go
    wait "$cow"
    [ "$(by_stack 'main;preforked;write_when_told;write_pages')" -eq 1994 ]
    rm go
    strip -s -o bare "$WRITER"
    follow ./bare
    attach --json
    touch go
    wait "$cow"
    read_mine
    [ "$mine" = '[1994,0,0,0]' ]
    [ "$(by_stack ';bare+0x')" -ge 1994 ]
}

@test "in a pid namespace of its own, and from outside of one" {
    unshare --pid --fork --mount-proc true || skip "no namespaces here"
    unshare --pid --fork --mount-proc "$FORKLESS_COW" --json -- "$WRITER" copies . >found.json
    read_mine
    [ "$mine" = '[997,31,0,0]' ]
    [ "$(by_stack 'write_both_ways;write_pages')" -eq 966 ]
    "$FORKLESS_COW" --json -- unshare --pid --fork --mount-proc "$WRITER" copies . >found.json
    read_mine
    [ "$mine" = '[997,31,0,0]' ]
    [ "$(by_stack 'write_both_ways;write_pages')" -eq 966 ]
}

@test "after --duration the command is ended" {
    run -0 --separate-stderr "$FORKLESS_COW" --json -d 300ms sleep 1000
    [ -z "$stderr" ]
    jq -e '.processes == 1' <<<"$output"
}

@test "an interrupt shows what was seen until then, and leaves the others alone" {
    follow "$WRITER"
    attach --json
    kill -INT "$cow"
    code=0
    wait "$cow" || code=$?
    [ "$code" -eq 130 ]
    jq -e '.processes == 3' found.json
    kill -0 "$writer"
    touch go
    wait "$writer"
}

@test "an interrupt that only we had is passed on to the command" {
    "$FORKLESS_COW" --json -- sh -c 'trap "touch had; exit" TERM; touch there; while :; do sleep 0.02; done' >found.json 3>&- &
    cow=$!
    until [ -e there ]; do sleep 0.02; done
    kill -TERM "$cow"
    code=0
    wait "$cow" || code=$?
    [ "$code" -eq 130 ]
    until [ -e had ]; do sleep 0.02; done
}
