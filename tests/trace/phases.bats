#!/usr/bin/env bats
# forkless-trace --phases: each phase of a creation, in its order, and nothing that was not seen.
# shellcheck disable=SC2016,SC2153,SC2154  # meson and bats set the variables; what is quoted is for another shell

load trace

phased() { traced --phases "$@"; }

# Of a child that execs: what is known is not negative, and the parts are the whole. The kernel may miss a child's first
# switch where many are made: then `wake` and `enter` are not known.
whole='[.create, .wake, .enter, .set_up, .exec, .load, .run, .reap] as $parts
    | ($parts | all(. == null or . >= 0)) and .ready + .run + .reap == .total
    and if .wake == null then .enter == null and .waited == null
        else ($parts[:6] | add) == .ready and .waited >= 0 and .waited <= .ready end'

@test "the parts of each kind of creation with an exec add up to the whole" {
    for kind in fork-exec vfork posix_spawn clone-vm clone3 thread-vfork thread-exec; do
        phased -- "$CREATOR" "$kind" 23
        [ "$(count "(.phases | $whole) and .phases.call >= .phases.create")" -eq 23 ]
        [ "$(count '.phases.wake != null')" -ge 20 ]
    done
}

@test "phases lie within the caller's own clock" {
    phased -- "$CREATOR" clone3 23
    jq -r 'select(.event == "creation") | "\(.child) \(.phases.call) \(.phases.total)"' lines | sort >seen
    sort printed >own
    [ "$(join seen own | awk '$2 <= $4 && $3 <= $5' | wc -l)" -eq 23 ]
}

@test "a target's own stamp is not before the kernel lets it begin, nor after its end" {
    phased -- sh -c "'$TINY' >stamp; :"
    stamp=$(od -An -t u8 stamp)
    jq -se --argjson s "$stamp" 'map(select(.path // "" | endswith("tiny")))[0]
        | (.asked + .phases.ready) <= $s + 5000 and $s <= .asked + .phases.ready + .phases.run + 5000' lines
}

@test "a caller with VFORK is held until its child execs, another one is not" {
    phased -- "$CREATOR" vfork 23
    [ "$(count '.phases | .call > .create + .wake + .enter + .set_up')" -eq 23 ]
}

@test "a child without an exec has none of its phases" {
    for kind in fork-exit fork-killed fork-missing; do
        phased -- "$CREATOR" "$kind" 23
        [ "$(count '.phases | [.set_up, .exec, .load, .ready] == [null, null, null, null]
            and .ready == null and .create + .run + .reap <= .total')" -eq 23 ]
    done
}

@test "a creation that fails has no phases" {
    phased -- "$CREATOR" refused 23
    [ "$(count '.then == "failed" and .phases == null')" -eq 23 ]
}

@test "the summary has the medians of each program and kind" {
    phased --summary -- "$CREATOR" vfork 23
    jq -se 'map(select(.event == "program" and .program == "creator"))[0].vfork_class.phases
        | .count == 23 and .exec > 0 and .total >= .ready and .ready >= .exec' lines
    "$FORKLESS_TRACE" --phases --summary -o text -- "$CREATOR" fork-exit 23 >printed
    grep -Eq '^  phases   create [0-9.]+ (us|ms), wake ' text
    grep -q 'medians of 23' text
}

@test "live lines show them, and without --phases nothing does" {
    "$FORKLESS_TRACE" --phases -o text -- "$CREATOR" vfork 3 >printed
    [ "$(grep -c '^         phases: create' text)" -eq 3 ]
    traced -- "$CREATOR" vfork 3
    [ "$(count 'has("phases")')" -eq 0 ]
    refused 2 '*either --forbid or --phases*' --phases --forbid fork
}
