#!/usr/bin/env bats
# forkless-bench: what goes on beside a spawn: busy loops on the CPUs, a caller on one CPU, what it does between spawns, many at once.
# shellcheck disable=SC2016,SC2030,SC2031,SC2154  # targets are scripts; bats runs each test in a subshell; setup and run set the variables

load support

# measure OPTION...: cells of vfork, one sample each, with ./target.
measure() {
    "$bench" calibrate -r 1 --samples 1 --strategy vfork --rss 0 -t ./target -o run.jsonl "$@" 2>/dev/null >&2
}

# has CELL STATE
has() { jq -s -e --arg cell "$1" --arg state "$2" 'any(.[]; .cell == $cell and .state == $state)' run.jsonl >/dev/null; }

# The busy loops of this test that live.
hogs() {
    local pid
    for pid in $(pgrep -f '^/proc/self/exe --hog' || true); do
        [ ! "/proc/$pid/cwd" -ef . ] || echo "$pid"
    done
}

@test "a busy loop on each CPU, or on each but one, and only where it is asked for" {
    target 'pgrep -c -P $PPID -f -- --hog >>seen; exit 42'
    measure --load idle,others,all
    [ "$(states)" = "4 measured" ]
    sane
    [ -z "$(hogs)" ]
    # Sampled in this order: none, others, all.
    [ "$(uniq seen | tr '\n' ' ')" = "0 $(($(nproc) - 1)) $(nproc) " ]
}

@test "what the strategies leave is found beside busy loops too" {
    target 'exit 42'
    FAULT_KIND=leak LD_PRELOAD=$FAULT run -3 "$bench" calibrate -r 1 --samples 1 --strategy vfork --rss 1MiB --load all -o run.jsonl
    [ "$(reasons | grep -v null)" = "the strategy left a descriptor behind" ]
    [ -z "$(hogs)" ]
}

@test "busy loops end with a block that is killed" {
    target 'kill -9 $PPID; exit 42'
    measure --load all || [ $? -eq 3 ]
    has spawn/vfork/load:all/target:target failed
    for _ in $(seq 50); do
        [ -n "$(hogs)" ] || break
        sleep 0.1
    done
    [ -z "$(hogs)" ]
}

@test "one CPU: no other is there" {
    [ "$(nproc)" -gt 1 ] || skip "this host has one"
    says="needs a second CPU, and may use one: sudo taskset -pc 0-$(($(getconf _NPROCESSORS_ONLN) - 1)) \$\$"
    plan=$(taskset -c 0 "$bench" calibrate --plan --strategy vfork --rss 0 --load all,others)
    [[ $plan == *$'\n'"spawn/vfork/load:others $says"$'\n'"1 of 3 cells would be recorded as unsupported." ]]
    taskset -c 0 "$bench" calibrate -r 1 --samples 1 --strategy vfork --rss 0 --load all,others -o run.jsonl 2>/dev/null
    [ "$(states)" = $'2 measured\n1 unsupported' ]
    [ "$(reasons | grep -v null)" = "$says" ]
    [ "$(head -n 1 run.jsonl | jq .host.cpus)" -eq 1 ]
}

@test "a caller that is pinned has its children on its CPU" {
    [ "$(nproc)" -gt 1 ] || skip "this host has one CPU"
    target '[ "$(nproc)" -eq 1 ] && exit 42'
    measure --pin none,caller --spawners 1,2 || [ $? -eq 3 ]
    has spawn/vfork/pin:caller/target:target measured
    has spawn/vfork/spawners:2/pin:caller/target:target measured
    has spawn/vfork/target:target failed
    has spawn/vfork/spawners:2/target:target failed
}

@test "a caller that sleeps between spawns uses no CPU" {
    target 'read -r _ _ _ _ _ _ _ _ _ _ _ _ _ ticks _ </proc/$PPID/stat; echo "$ticks" >>ticks; exit 42'
    measure --gap 300ms --between sleep --samples 2
    [ "$(states)" = "2 measured" ]
    tail -n 2 ticks | { read -r before && read -r after && [ $((after - before)) -le 5 ]; }
}

@test "a caller that touches has 32 MiB for it, and only then" {
    target "awk '\$1 == \"Pss_Shmem:\" { exit \$2 >= 32768 ? 42 : 1 }' /proc/\$PPID/smaps_rollup; exit \$?"
    measure --gap 1us --between work,touch || [ $? -eq 3 ]
    has spawn/vfork/gap:1us/between:touch/target:target measured
    has spawn/vfork/gap:1us/target:target failed
}

@test "a thousand at once; more descriptors than are allowed are said" {
    "$bench" calibrate -r 1 --samples 1 --strategy forkless_start --rss 0 --at-once 1024 --attributes none,pipe -o run.jsonl 2>/dev/null >&2
    sane
    [ "$(states)" = "3 measured" ]
    says="needs 1088 descriptors, and the hard limit is 500: sudo prlimit --pid \$\$ --nofile=1088"
    rm run.jsonl
    (ulimit -n 500 && "$bench" calibrate -r 1 --samples 1 --strategy forkless_start --rss 0 --at-once 2,1024 --attributes pipe \
        -o run.jsonl) 2>/dev/null >&2
    [ "$(states)" = $'2 measured\n1 unsupported' ]
    [ "$(reasons | grep -v null)" = "$says" ]
}

@test "a script is a target" {
    "$bench" calibrate -r 1 --samples 1 --strategy vfork,fork,posix_spawn,forkless_spawn,forkless_start --rss 0 -t script -o run.jsonl 2>/dev/null
    [ "$(states)" = "6 measured" ]
    jq -s -e '[.[] | select(.cell and .cell != "spawn/null") | has("ready") | not] | all' run.jsonl
}

@test "values that are none, and that do not go together" {
    run -2 --separate-stderr "$bench" --gap 0 --between sleep
    [ "$stderr" = "forkless-bench: --between: 'sleep' needs time: a gap above 0" ]
    run -2 --separate-stderr "$bench" --load both
    [ "$stderr" = "forkless-bench: --load: 'both' is not one of idle, others, all" ]
    run -2 --separate-stderr "$bench" --pin apart
    [ "$stderr" = "forkless-bench: --pin: 'apart' is not one of none, caller" ]
}
