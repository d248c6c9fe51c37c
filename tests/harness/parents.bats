#!/usr/bin/env bats
# forkless-bench: what the parent is and has: kinds of pages, mappings, threads, memory that is rewritten or left out.
# shellcheck disable=SC2016,SC2030,SC2031,SC2154  # targets are scripts; bats runs each test in a subshell; setup and run set the variables

load support

# measure AXIS VALUES STRATEGY RSS [OPTION...]: cells of them, one sample each, with ./target.
measure() {
    "$bench" calibrate -r 1 --samples 1 --"$1" "$2" --strategy "$3" --rss "$4" -t ./target -o run.jsonl "${@:5}" 2>/dev/null >&2
}

# has CELL STATE
has() { jq -s -e --arg cell "$1" --arg state "$2" 'any(.[]; .cell == $cell and .state == $state)' run.jsonl >/dev/null; }

# of_parent FILE KEY KIB: a target that ends well where its parent has at least that.
of_parent() { target "awk '\$1 == \"$2:\" && \$2 >= $3 { well = 1 } END { exit well ? 42 : 1 }' /proc/\$PPID/$1"; }

@test "huge pages are what the parent has, and only where they are asked for" {
    ! grep -qF '[never]' /sys/kernel/mm/transparent_hugepage/enabled || skip "huge pages are off"
    of_parent smaps_rollup AnonHugePages 16384
    measure pages 4k,thp vfork 16MiB || [ $? -eq 3 ]
    has spawn/vfork/rss:16MiB/pages:thp/target:target measured
    has spawn/vfork/rss:16MiB/target:target failed
    jq -s -e '.[0].cells[] | select(.pages) | .pages == "thp" and (.name | test("pages:thp"))' run.jsonl
    jq -s -e '[.[] | select(.kind == "block") | .ballast] | sort == [null, null, "pages:thp"]' run.jsonl
}

@test "shared memory is what the parent has" {
    of_parent smaps_rollup Pss_Shmem 16384
    measure pages 4k,shared vfork 16MiB || [ $? -eq 3 ]
    has spawn/vfork/rss:16MiB/pages:shared/target:target measured
    has spawn/vfork/rss:16MiB/target:target failed
}

@test "a heap is what the parent has" {
    target 'awk "/\[heap\]/ { here = 1 } here && /^Rss:/ { exit \$2 >= 16384 ? 42 : 1 }" /proc/$PPID/smaps; exit $?'
    measure pages 4k,heap vfork 16MiB || [ $? -eq 3 ]
    has spawn/vfork/rss:16MiB/pages:heap/target:target measured
    has spawn/vfork/rss:16MiB/target:target failed
}

@test "simulated memory: the page tables of all of it, and memory for little" {
    of_parent status VmPTE 4096
    measure pages simulated vfork,fork 2GiB
    [ "$(states)" = "3 measured" ]
    jq -s -e '.[] | select(.ballast) | .ballast == "pages:simulated" and .resident >= 2147483648' run.jsonl
    run -0 "$bench" calibrate --plan --strategy fork --rss 64GiB --pages simulated
    [[ $output == *"64GiB/pages:simulated"* && $output =~ "memory   at most 3."[0-9]" GiB" ]]
}

@test "huge pages that are not reserved: said by the plan and in the run, with what would help" {
    free=$(awk '/^HugePages_Free:/ { free += $2 } /^HugePages_Rsvd:/ { free -= $2 } END { print free }' /proc/meminfo)
    total=$(awk '/^HugePages_Total:/ { print $2 }' /proc/meminfo)
    rss=$(((free + 8) * 2))MiB
    says="needs $((free + 8)) huge pages, and $free are reserved and free: sudo sysctl vm.nr_hugepages=$((total + 8))"
    run -0 "$bench" calibrate --plan --strategy vfork --rss "$rss" --pages 4k,hugetlb
    [[ $output == *$'\n'"spawn/vfork/rss:$rss/pages:hugetlb $says"$'\n'"1 of 3 cells would be recorded as unsupported." ]]
    "$bench" calibrate -r 1 --samples 1 --strategy vfork --rss "$rss" --pages 4k,hugetlb -o run.jsonl 2>/dev/null
    [ "$(states)" = $'2 measured\n1 unsupported' ]
    [ "$(reasons | grep -v null)" = "$says" ]
}

@test "mappings are counted by who started the parent" {
    target '[ "$(wc -l </proc/$PPID/maps)" -ge 3000 ] && exit 42'
    measure mappings 0,3000 vfork 0 || [ $? -eq 3 ]
    has spawn/vfork/mappings:3000/target:target measured
    has spawn/vfork/target:target failed
}

@test "threads sleep in the parent" {
    target 'set -- /proc/$PPID/task/*; [ $# -eq 6 ] && exit 42'
    measure threads 0,5 vfork,fork,forkless_start 0 || [ $? -eq 3 ]
    for strategy in vfork fork forkless_start; do
        has spawn/$strategy/threads:5/target:target measured
        has spawn/$strategy/target:target failed
    done
}

@test "memory that is rewritten is copied anew after each fork; idle memory is not" {
    target 'read -r _ _ _ _ _ _ _ _ _ faults _ </proc/$PPID/stat; echo "$faults" >>faults; exit 42'
    for memory in idle rewritten; do
        rm -f faults run.jsonl
        measure memory $memory fork 4MiB --samples 2
        [ "$(states)" = "2 measured" ]
        # The last two of the samples: between them all 1,024 pages were written, or some.
        tail -n 2 faults | { read -r before && read -r after && echo $((after - before)); } >$memory
    done
    [ "$(<rewritten)" -ge 1024 ]
    [ "$(<idle)" -lt 512 ]
}

@test "memory that is left out of copies: the kernel says so, and only then" {
    target 'grep -q "^VmFlags:.* dc" /proc/$PPID/smaps && exit 42'
    measure memory idle,dontfork vfork 4MiB || [ $? -eq 3 ]
    has spawn/vfork/rss:4MiB/memory:dontfork/target:target measured
    has spawn/vfork/rss:4MiB/target:target failed
}

@test "a parent that did not become what was asked for fails" {
    FAULT_KIND=lie LD_PRELOAD=$FAULT run -3 "$bench" calibrate -r 1 --samples 1 --strategy vfork --rss 64MiB --pages shared -o run.jsonl
    [[ "$(reasons | grep -v null)" =~ ^"the block has "[0-9]+" MiB of resident memory, not 64 MiB"$ ]]
    rm run.jsonl
    FAULT_KIND=no-huge LD_PRELOAD=$FAULT run -3 "$bench" calibrate -r 1 --samples 1 --strategy vfork --rss 64MiB --pages thp -o run.jsonl
    [[ "$(reasons | grep -v null)" == "the block's memory is not of the kind asked for: 0 MiB huge,"* ]]
    rm run.jsonl
    FAULT_KIND=no-dontfork LD_PRELOAD=$FAULT run -3 "$bench" calibrate -r 1 --samples 1 --strategy vfork --rss 1MiB --memory dontfork \
        -o run.jsonl
    [ "$(reasons | grep -v null)" = "the memory cannot be left out of copies: Input/output error" ]
    rm run.jsonl
    FAULT_KIND=no-mprotect LD_PRELOAD=$FAULT run -3 "$bench" calibrate -r 1 --samples 1 --strategy vfork --rss 4KiB --mappings 2000 -o run.jsonl
    [[ "$(reasons | grep -v null)" =~ ^"the block has "[0-9]+" mappings, not 2000"$ ]]
}

@test "a parent that does not become again what it was fails with all its cells" {
    FAULT_KIND=no-dofork LD_PRELOAD=$FAULT run -3 "$bench" calibrate -r 1 --samples 1 --strategy vfork --rss 1MiB --memory idle,dontfork \
        -o run.jsonl
    [ "$(states)" = $'2 failed\n1 measured' ]
    [ "$(reasons | grep -v null)" = "the block: the memory is still left out of copies: Input/output error" ]
    rm run.jsonl
    FAULT_KIND=no-unpin LD_PRELOAD=$FAULT run -3 "$bench" calibrate -r 1 --samples 1 --strategy vfork --rss 1MiB --pin none,caller -o run.jsonl
    [ "$(states)" = $'2 failed\n1 measured' ]
    [ "$(reasons | grep -v null)" = "the block: the caller is still pinned to a CPU: Input/output error" ]
}

# wrong SENTENCE OPTION...
wrong() {
    run -2 --separate-stderr "$bench" calibrate --strategy vfork "${@:2}" -o new
    [ "$stderr" = "forkless-bench: $1" ] || { echo "$stderr"; false; }
    [ ! -e new ]
}

@test "values that are none, and that do not go together" {
    wrong "--pages: 'huge' is not one of 4k, thp, hugetlb, shared, heap, simulated" --pages huge
    wrong "--pages: 'hugetlp' is none; did you mean hugetlb?" --pages hugetlp
    wrong "--pages: 'thp' needs memory: an rss above 0" --rss 0 --pages thp
    wrong "--pages: 'thp' takes an rss of whole 2MiB" --rss 1MiB --pages thp
    wrong "--pages: 'simulated' takes an rss of whole GiB" --rss 64MiB --pages simulated
    wrong "--memory: 'rewritten' needs memory: an rss above 0" --rss 0 --memory rewritten
    wrong "--memory: simulated memory cannot be rewritten: it would become real" --rss 1GiB --pages simulated --memory rewritten
    wrong "--memory: a heap cannot be left out: a copy needs its own" --rss 1MiB --pages heap --memory dontfork
    wrong "--mappings: '50001' is not a whole number from 0 to 50000" --mappings 50001
    wrong "--threads: '65' is not a whole number from 0 to 64" --threads 65
}

@test "tables do not mix parents that differ, and every report shows them" {
    "$bench" calibrate -r 2 --samples 1 --strategy floor_vfork,forkless_spawn,fork --rss 2MiB,4MiB --pages 4k,shared --memory idle,rewritten \
        -o run.jsonl 2>/dev/null
    sane
    run -0 "$FORKLESS_REPORT" run.jsonl
    [[ $output == *"at 2 MiB by pages: medians"* && $output == *"at 4 MiB, pages shared, memory rewritten: medians"* ]]
    for format in html markdown csv json google-benchmark; do
        "$FORKLESS_REPORT" -f $format run.jsonl 2>/dev/null | grep -q 'pages.*shared'
    done
    run -0 "$FORKLESS_COMPARE" run.jsonl run.jsonl
    [[ $output == *$'\nspawn/*/rss:2MiB/pages:shared/memory:rewritten\n'* ]]
    "$FORKLESS_REPORT" -f json run.jsonl | jq -e '[.growth[] | select(.figure == "call" and .strategy == "fork")]
        | map([.pages, .memory]) | sort == [[null, null], [null, "rewritten"], ["shared", null], ["shared", "rewritten"]]'
}
