#!/usr/bin/env bats
# How the source is written.

setup() {
    cd "$SOURCE" || return
    git rev-parse --git-dir >/dev/null 2>&1 || skip "not a git checkout"
}

@test "C and C++ are as clang-format has them" {
    git ls-files '*.c' '*.h' '*.cc' | xargs clang-format --dry-run --Werror
}

@test "shell is clean under shellcheck" {
    git ls-files 'scripts/*' .ci/run '*.bats' '*.bash' | xargs shellcheck -x
}
