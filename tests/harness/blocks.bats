#!/usr/bin/env bats
# forkless-bench: a block that goes wrong.
# shellcheck disable=SC2030,SC2031,SC2154  # bats runs each test in a subshell; setup and run set the variables

load support

@test "a block that crashes: failed, and the rest is measured" {
    FAULT_KIND=crash LD_PRELOAD=$FAULT run -3 --separate-stderr "$bench" -r 2 -f '^spawn/vfork(/rss:256MiB)?$' -o run.jsonl
    sane
    [ "$(states)" = $'2 failed\n2 measured' ]
    [ "$(reasons | grep -v null)" = "the block was killed by signal 11 (Segmentation fault)" ]
}

@test "a block that hangs: timeout" {
    FAULT_KIND=hang LD_PRELOAD=$FAULT run -3 --separate-stderr "$bench" -r 1 -d 1 -f '^spawn/vfork/rss:256MiB$' -o run.jsonl
    sane
    [ "$(states)" = "1 timeout" ]
    [ "$(reasons)" = "the block was not done after 1 s" ]
}

@test "a block that lies about its memory: failed" {
    FAULT_KIND=lie LD_PRELOAD=$FAULT run -3 --separate-stderr "$bench" -r 1 -f '^spawn/vfork/rss:256MiB$' -o run.jsonl
    sane
    [[ $(reasons) =~ ^"the block has "[0-9]+" MiB of resident memory, not 256 MiB"$ ]]
}

@test "a block that loses its memory while it measures: failed, though it measured" {
    FAULT_KIND=shrink LD_PRELOAD=$FAULT run -3 --separate-stderr "$bench" -r 1 -f '^spawn/vfork/rss:256MiB$' -o run.jsonl
    sane
    [ "$(states)" = "1 failed" ]
    [[ $(reasons) =~ ^"the block has 1"[0-9]+" MiB of resident memory, not 256 MiB"$ ]]
}

@test "no memory for a size: unsupported, exit 0, and the rest is measured" {
    FAULT_KIND=no-memory LD_PRELOAD=$FAULT run -0 --separate-stderr "$bench" -r 1 -f '^spawn/vfork(/rss:256MiB)?$' -o run.jsonl
    sane
    [ "$(states)" = $'1 measured\n1 unsupported' ]
    [ "$(reasons | grep -v null)" = "the machine gave no memory for the ballast: Cannot allocate memory" ]
}

@test "a cgroup that leaves too little memory: unsupported, before anything is tried" {
    group=/sys/fs/cgroup/memory/forkless-test-$$
    mkdir "$group" 2>/dev/null || skip "no cgroup v1 of memory to write to"
    echo $((200 << 20)) >"$group/memory.limit_in_bytes"
    status=0
    (echo "$BASHPID" >"$group/cgroup.procs" && exec "$bench" -r 1 -f '^spawn/vfork(/rss:256MiB)?$' -o run.jsonl) \
        2>/dev/null || status=$?
    rmdir "$group"
    [ "$status" -eq 0 ]
    [ "$(states)" = $'1 measured\n1 unsupported' ]
    [[ $(reasons | grep -v null) =~ ^"needs 0.3 GiB of memory, 0."[0-9]" GiB are available"$ ]]
}

@test "an address space too small for the ballast: unsupported" {
    (ulimit -Sv 1000000 && "$bench" -r 1 -f '^spawn/vfork(/rss:1GiB)?$' -o run.jsonl)
    sane
    [ "$(reasons | grep -v null)" = "needs 1.1 GiB of memory, 1.0 GiB are available: ulimit -v unlimited" ]
    run -0 bash -c 'ulimit -v 1000000 && "$@"' - "$bench" --plan -f '^spawn/vfork(/rss:1GiB)?$'
    [[ $output == *$'\n'"1GiB needs 1.1 GiB of memory, 1.0 GiB are available: sudo prlimit --pid \$\$ --as=unlimited"$'\n'* ]]
    [ "$(states)" = $'1 measured\n1 unsupported' ]
}
