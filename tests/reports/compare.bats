#!/usr/bin/env bats
# The program forkless-compare: its pages against golden ones, its refusals.
# To make the golden pages anew, after looking at the difference: GOLDEN=write bats compare.bats
# shellcheck disable=SC2016,SC2154  # jq has variables too; bats sets some

load compare

@test "two runs of the same, as text" {
    change .
    golden compare.txt quick.jsonl b.jsonl
    [ "$status" -eq 0 ]
    [ "$(wc -L <out)" -le 80 ]
}

@test "a gate, as text, Markdown and HTML" {
    change 'if .cell == "spawn/fork/rss:4GiB" then .call |= map(2 * .)
        elif .cell == "spawn/posix_spawn/rss:1GiB" then .call |= map(. / 3 | floor)
        elif .cell == "spawn/clone3" then {kind, round, cell, state: "failed", reason: "status <127> | \"x\""} else . end'
    golden compare-gate.txt quick.jsonl b.jsonl --fail-above 5% --ignore-below 2us
    [ "$status" -eq 5 ]
    [ "$(wc -L <out)" -le 80 ]
    rm out
    golden compare-gate.md quick.jsonl b.jsonl --fail-above 5% --ignore-below 2us -o out.md
    [ "$status" -eq 5 ]
    rm out.md
    golden compare-gate.html quick.jsonl b.jsonl --fail-above 5% --ignore-below 2us -o out.html
    [ "$status" -eq 5 ]
    [ -z "$output" ]
}

@test "each format tells one cell's change in its line" {
    change .
    for ending in txt md html; do
        "$compare" quick.jsonl b.jsonl -o "before.$ending"
    done
    slower spawn/vfork/rss:1GiB 3
    for ending in txt md html; do
        "$compare" quick.jsonl b.jsonl -o "after.$ending"
        run -1 diff "before.$ending" "after.$ending"
        [ "$(grep -c '^[<>].*vfork .*+\|^[<>].*vfork/rss:1GiB.*+' <<<"$output")" -ge 1 ]
        [[ $output != *clone3* ]]
    done
}

@test "unlike hosts and axes are refused with what differs, unless --force" {
    change 'if .kind == "run" then .host.kernel = "5.10" | .host.cpus = 4 else . end'
    refused 2 "quick.jsonl and b.jsonl are unlike: cpus (2, 4), kernel (6.18.44, 5.10) (--force compares them all the same)" \
        quick.jsonl b.jsonl
    run -0 --separate-stderr "$compare" --force quick.jsonl b.jsonl
    [ "$stderr" = "${compare##*/}: quick.jsonl and b.jsonl are unlike: cpus (2, 4), kernel (6.18.44, 5.10)" ]
    [[ $output == *" 24 not told apart, "* ]]
    jq -c 'if .kind == "run" then .host.hypervisor = "Xen" else . end' resumed.jsonl >b.jsonl
    refused 2 "resumed.jsonl and b.jsonl are unlike: hypervisor (KVMKVMKVM, Xen) (--force compares them all the same)" \
        resumed.jsonl b.jsonl
    change 'if .kind == "run" then .cells |= map(if .rss == 268435456 then .target = "dynamic" else . end) else . end'
    run -2 --separate-stderr "$compare" quick.jsonl b.jsonl
    [[ $stderr == *"quick.jsonl and b.jsonl are unlike: target dynamic (only B), the axes of spawn/forkless_start/rss:256MiB, "* ]]
    refused 2 "quick.jsonl and standard.jsonl are unlike: rss 256 MiB (only A), at_once 16 (only A) (--force compares them all the same)" \
        quick.jsonl standard.jsonl
    run -0 "$compare" quick.jsonl standard.jsonl --filter 'rss:1GiB$'
    [[ ${output//$'\n    '/ } == *"spawn/fork/rss:1GiB (B): not in this run"* ]]
    [[ $output == *" 2 not told apart, "* ]]
}

@test "the axes that only some cells have tell cells apart" {
    run -0 "$compare" axes.jsonl axes.jsonl
    [[ $output == *$'\nspawn/*/rss:1GiB/fds:19000\n'*$'\nspawn/*/rss:1GiB/spawners:64\n'*$'\nspawn/*/rss:1GiB/attributes:fd\n'* ]]
    jq -c 'if .kind == "run" then .cells |= map(select(.fds or .spawners or .attributes | not))
        elif .cell // "" | test("fds|spawners|attributes") then empty else . end' axes.jsonl >b.jsonl
    run -2 --separate-stderr "$compare" axes.jsonl b.jsonl
    [[ $stderr == *" are unlike: gap 0 (only A), at_once 2 (only A), fds 19000 (only A), fds 100 (only A), spawners 64 (only A), spawners 4 (only A), attributes fd (only A), attributes env (only A), attributes all (only A), attributes late (only A) (--force "* ]]
}

@test "files that cannot be read" {
    refused 2 "absent: cannot be opened: No such file or directory" absent quick.jsonl
    : >empty
    refused 2 "empty: the file is empty" quick.jsonl empty
    head -c 100 quick.jsonl >cut.jsonl
    refused 2 "cut.jsonl: there is no complete line: no run began" cut.jsonl quick.jsonl
    echo '{"kind":"benchmark"}' >foreign
    refused 2 "foreign:1: this is no forkless results file" quick.jsonl foreign
    change 'if .kind == "run" then .schema = 3 else . end'
    refused 2 "b.jsonl:1: schema 3 is newer than 2, the newest known here" quick.jsonl b.jsonl
    change 'if .kind == "run" then .seed = "x" else . end'
    refused 2 'b.jsonl:1: `seed` is not a whole number' quick.jsonl b.jsonl
    change 'if .kind == "run" then .build = 5 else . end'
    refused 2 'b.jsonl:1: `build` is not an object' quick.jsonl b.jsonl
}

@test "a run that was cut off is a shorter run" {
    head -c 60000 quick.jsonl >cut.jsonl
    run -3 "$compare" quick.jsonl cut.jsonl
    [[ $output == *" n=8+"* ]]
}

@test "nothing to compare" {
    refused 3 "nothing.jsonl and nothing.jsonl have no cell that was measured in both with its floor (spawn/vfork, A, B: failed: the target is missing)" \
        nothing.jsonl nothing.jsonl
    refused 3 "one-round.jsonl and one-round.jsonl have no cell that was measured in both with its floor (spawn/vfork/rss:1GiB/gap:0/target:dynamic, A, B: its floor, floor_vfork, is not in its block)" \
        one-round.jsonl one-round.jsonl
    refused 2 "--filter: no cell of quick.jsonl matches 'sprawn'" --filter sprawn quick.jsonl quick.jsonl
    refused 2 "--filter: '(': Unmatched ( or \\(" --filter '(' quick.jsonl quick.jsonl
    change 'if .kind == "run" then .cells |= map(.name |= sub("spawn/fork"; "spawn/knife")) else (.cell | strings) |= sub("spawn/fork"; "spawn/knife") end'
    refused 2 "quick.jsonl and b.jsonl have no cell in common" --filter '^spawn/(fork|knife)' quick.jsonl b.jsonl
    jq -c 'if .kind == "run" then .cells |= map(select(.name | test("floor|null"))) elif .cell then select(.cell | test("floor|null")) else . end' \
        quick.jsonl >floors.jsonl
    refused 2 "floors.jsonl: there are no cells but floors" floors.jsonl quick.jsonl
}

@test "names of any kind harm no format" {
    odd='def odd: sub("fork/"; "\u00e4|*`<script>alert(1)</script>&\"\n\u001b[2J/");
        if .kind == "run" then .cells |= map(.name |= odd | .strategy |= sub("^fork$"; "<b>\"|\n")) elif .cell then .cell |= odd else . end'
    jq -c "$odd" quick.jsonl >'a<i>|&.jsonl'
    change "$odd"
    for ending in txt md html; do
        run -0 "$compare" 'a<i>|&.jsonl' b.jsonl -o "odd.$ending"
        run -1 grep -P '\x1b' "odd.$ending"
    done
    grep -F 'ä|*`<script>' odd.txt
    run -1 grep -E '<(script|b|i)>' odd.html
    grep -F 'ä|*`&lt;script&gt;alert(1)&lt;/script&gt;&amp;&quot;' odd.html
    grep -F 'ä\|\*\`&lt;script&gt;' odd.md
    # every row has as many columns
    [ "$(sed 's/\\|//g' odd.md | grep '^|' | tr -cd '|\n' | sort -u)" = '|||||||||||' ]
}

@test "the page is one file without scripts, and its elements are closed" {
    slower spawn/fork 3
    "$compare" quick.jsonl b.jsonl -o page.html
    run -1 grep -iE '<script|https?:|url\(|@import| on[a-z]+=' page.html
    for element in html head body table thead tbody tr th td p div ul li h1 style title; do
        [ "$(grep -oE "<${element}[ >]" page.html | wc -l)" -eq "$(grep -o "</$element>" page.html | wc -l)" ]
    done
}

@test "colours only on a terminal, and not with NO_COLOR" {
    slower spawn/fork 3
    run -0 "$compare" quick.jsonl b.jsonl
    [[ $output != *$'\033'* ]]
    on_terminal() { script -qec "$1 $compare quick.jsonl b.jsonl" /dev/null </dev/null; }
    command -v script >/dev/null || skip "there is no script"
    run -0 on_terminal "env -u NO_COLOR TERM=xterm"
    [[ $output == *$'\033[31m+'* ]]
    run -0 on_terminal "env NO_COLOR=1 TERM=xterm"
    [[ $output != *$'\033'* ]]
}

@test "usage" {
    for arguments in "" "quick.jsonl" "a b c" "--no-such-option a b" "--fail-above 5x a b" "--fail-above -5% a b" \
        "--fail-above 0 a b" "--ignore-below 2us a b" "--fail-above 5% --ignore-below 2 a b" "--figure x a b" \
        "-o page.pdf a b" "-o page a b" "--fail-above nan a b"; do
        # shellcheck disable=SC2086
        run -2 --separate-stderr "$compare" $arguments
        [ -z "$output" ]
        [ -n "$stderr" ]
    done
    run -0 "$compare" --help
    [[ $output == *"--fail-above=SHARE"* ]]
}

@test "what cannot be written is told" {
    status=0
    "$compare" quick.jsonl quick.jsonl >/dev/full 2>said || status=$?
    [ "$status" -eq 1 ]
    grep ': cannot write the comparison: No space left on device$' said
    ln -s /dev/full full.html
    refused 2 "full.html: is not a regular file" quick.jsonl quick.jsonl -o full.html
    refused 1 "no/page.md: cannot be written: No such file or directory" quick.jsonl quick.jsonl -o no/page.md
    cp quick.jsonl run.txt
    refused 2 "run.txt: is a forkless results file, and is not overwritten" quick.jsonl quick.jsonl -o run.txt
}
