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
