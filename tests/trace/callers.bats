#!/usr/bin/env bats
# forkless-trace: the caller's stack by names.
# shellcheck disable=SC2016,SC2153,SC2154  # meson and bats set the variables; what is quoted is for another shell

load trace

@test "who called, by name, without frame pointers" {
    traced -- "$CREATOR" vfork 3 20000
    [ "$(count '.stack | index("vfork_exec") != null and index("main") == index("vfork_exec") + 1')" -eq 3 ]
    traced -- "$CREATOR" fork-exec 3 20000
    [ "$(count '.stack | index("fork_exec") != null and index("main") == index("fork_exec") + 1')" -eq 3 ]
}

@test "who called, of programs that end at once" {
    traced -- sh -c "for i in 1 2 3 4 5; do '$CREATOR' refused 1; done"
    [ "$(count '.program == "creator" and (.stack | index("refused") != null and index("main") == index("refused") + 1)')" -eq 5 ]
}

@test "who called, through libc's wrappers of clone, which say nothing about their frames" {
    traced -- "$CREATOR" posix_spawn 3 20000
    [ "$(count '.stack | index("posix_spawn") != null and index("spawn") == index("posix_spawn") + 1 and index("main") == index("spawn") + 1')" -eq 3 ]
    traced -- "$CREATOR" clone-vm 3 20000
    [ "$(count '.stack | index("clone_vm") == 1 and index("main") == 2')" -eq 3 ]
}

@test "who called, where nothing but frame pointers tells it" {
    traced -- "$CREATOR_FRAMES" clone3 3 20000
    [ "$(count '.stack | index("clone3_fork") != null and index("main") == index("clone3_fork") + 1')" -eq 3 ]
}

# told KIND FIRST...: call sites that take turns at one depth; the tracer knows all of them from the first time on.
told() {
    local kind=$1
    shift
    for creator in "$CREATOR" "$CREATOR_FRAMES"; do
        traced -- "$creator" "$kind" $((60 * $#)) 2000
        for site; do
            [ "$(count ".stack | index(\"$site\") != null")" -eq 60 ]
        done
        # They took turns.
        jq -r 'select(.event == "creation").stack | map(select(endswith("_site")))[]' lines >sites
        [ "$(uniq sites | wc -l)" -eq $((60 * $#)) ]
    done
}

@test "call sites that only a register, or one word of the stack, tells apart" {
    told sites-by-register first_site second_site
    told sites-by-stack third_site fourth_site
}

@test "call sites whose return addresses an earlier call has left on the stack" {
    told sites-left-behind ninth_site tenth_site
}

@test "more call sites of one depth than the kernel is told of" {
    told sites-many third_site fourth_site fifth_site sixth_site seventh_site eighth_site
}

@test "stacks that are known are not copied: none is left out while nobody empties the ring" {
    mkfifo go
    sh -c "read -r _ <go; exec '$CREATOR' sites-by-stack 1000 1000" >/dev/null &
    creator=$!
    begin --json -p $creator
    echo >go
    until { grep -q third_site lines && grep -q fourth_site lines; } || ! kill -0 "$tracer"; do sleep 0.02; done
    kill -STOP "$tracer"
    wait "$creator"
    kill -CONT "$tracer"
    wait "$tracer"
    [ "$(jq -s '.[-1].lost.records + .[-1].lost.stacks' lines)" -eq 0 ]
    [ "$(count '.stack | index("third_site") != null')" -eq 500 ]
    [ "$(count '.stack | index("fourth_site") != null')" -eq 500 ]
}
