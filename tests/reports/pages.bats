#!/usr/bin/env bats
# The pages of forkless-report: HTML, Markdown, CSV; their pictures.
# To make the golden pages anew, after looking at the difference: GOLDEN=write bats pages.bats
# shellcheck disable=SC2016,SC2154  # backticks in sed; setup and run set the variables

load pages

@test "a small run in every format" { golden resumed 0; }

@test "a run with more descriptors, several spawners and attributes, in every format" { golden axes 3; }

@test "a run with captures, in every format" { golden captures 3; }

@test "a run with many commands, in every format" { golden many 3; }

@test "a run with further axes, in every format" { golden further 0; }

@test "memory whose simulation is off is in no table, and its cells say so" {
    jq -c 'if .cell == "spawn/fork/rss:4GiB" then .call |= map(. * 2) else . end' further.jsonl >off.jsonl
    "$report" off.jsonl >off.txt
    [ "$(grep -ci simulat off.txt)" -eq 2 ]
    grep -A1 "60 unsupported: simulation off by" off.txt | grep "^ *2.6 (spawn/forkless_start/rss:4GiB/pages:simulated and 5 more)"
    "$report" -f json off.jsonl | jq -e '[.cells[] | select(.name | test("simulated")) | .measured == 0 and .figures == {}] | all and length == 6'
}

@test "with other axes simulated memory is judged too, by real memory with the same" {
    # At 4 GiB real memory with load takes 4.2 times as long; without it there is none to judge by.
    jq -c 'def loaded: if .name then select(.name | test("rss:4GiB$") | not) | .name |= sub("simulated$"; "simulated/load:all")
                | .name |= sub("rss:1GiB/load:all"; "rss:4GiB/load:all") | if .name | test("4GiB/load") then .rss = 4294967296 else . end else . end;
        if .kind == "run" then .cells |= map(loaded) elif .cell then select(.cell | test("rss:4GiB$") | not)
            | .cell |= (sub("simulated$"; "simulated/load:all") | sub("rss:1GiB/load:all"; "rss:4GiB/load:all"))
            | if .state != "measured" then . elif .cell == "spawn/fork/rss:4GiB/pages:simulated/load:all" then .call |= map(1000000)
              elif .cell == "spawn/fork/rss:4GiB/load:all" then .call |= map(($factor | tonumber) * 1000000) else . end
        else . end' --arg factor 4.2 further.jsonl >off.jsonl
    "$report" off.jsonl >off.txt
    [ "$(grep -ci simulat off.txt)" -eq 2 ]
    grep -A1 "60 unsupported: simulation off by" off.txt | grep "^ *4.2 (spawn/forkless_start/rss:4GiB/pages:simulated/load:all and 5 more)"
    sed 's/4200000/1200000/g' off.jsonl >on.jsonl
    "$report" on.jsonl | grep '^ at 4 GiB, load all  *1.20 (1.20 to 1.20)$'
}

@test "simulated memory stands in no line with real memory" {
    "$report" further.jsonl >all.txt
    grep '^One spawn at 4 GiB, pages simulated: medians$' all.txt
    grep '^One spawn at 16 GiB, pages simulated: medians$' all.txt
    run ! grep -E '^ pages .*simulated' all.txt
}

@test "a run with victims and with what comes after, in every format" { golden others 0; }

@test "a run of captures alone has them in its table, and nothing to compare" {
    jq -c 'if .kind == "run" then .cells |= map(select(.name | test("capture|null")))
        elif .cell // "" | test("spawn/[vf]") then empty else . end' captures.jsonl >alone.jsonl
    for format in text markdown; do
        for file in captures alone; do
            "$report" -f $format $file.jsonl | grep '_run/\|_read/' >$file.$format || [ "${PIPESTATUS[0]}" -eq 3 ]
        done
        [ -s alone.$format ]
        diff captures.$format alone.$format
    done
    # The medians that jq finds of one of them.
    of() { jq -s "[.[] | select(.cell == \"capture/posix_spawn_read/target:mebibyte\") | .$1 | sort | .[1]] | sort | .[1] / 1e6" alone.jsonl; }
    grep -E "^ posix_spawn_read/target:mebibyte +$(printf '%.1f' "$(of total)") ms +$(printf '%.2f' "$(of cpu)") ms\$" alone.text
}

@test "what is at other axes is in no table but its own" {
    jq -c 'if .kind == "run" then .cells |= map(select(.fds or .spawners or .attributes | not))
        elif .cell // "" | test("fds|spawners|attributes") then empty else . end' axes.jsonl >plain.jsonl
    "$report" -f text axes.jsonl | sed -n '/^How long/,/^One spawn/p' | sed '$d' >with || [ "${PIPESTATUS[0]}" -eq 3 ]
    "$report" -f text plain.jsonl | sed -n '/^How long/,/^forkless_start holds/p' | sed '$d' >without
    diff with without
    for section in ranking growth map; do
        PATH=/nowhere "$report" -f html axes.jsonl 2>said.txt >page.html || [ $? -eq 3 ]
        PATH=/nowhere "$report" -f html plain.jsonl 2>said.txt >plain.html
        for page in page plain; do
            sed -n "/id=\"$section\"/,/<h2/p" $page.html | sed '$d' >$page.part
        done
        [ -s page.part ]
        diff page.part plain.part
    done
}

@test "every cell of other axes is shown" {
    jq -cs '(.[0].cells | to_entries | map({key: .value.name, value: (1000 + .key)}) | from_entries) as $number
        | .[] | if .state == "measured" then (1000000 * $number[.cell]) as $ns | .call = [$ns] | .total = [$ns] | .cpu = [$ns]
            | del(.ready) else . end' axes.jsonl >numbered.jsonl
    run -3 "$report" numbered.jsonl
    jq -r '.cells // [] | to_entries[] | select(.value | .fds or .spawners) | 1000 + .key' numbered.jsonl >numbers
    [ "$(wc -l <numbers)" -eq 10 ]
    while read -r number; do
        [[ $output == *" $number ms"* ]]
    done <numbers
    # The difference of two numbers, and where there is none to take the number itself.
    of() { jq -r --arg name "$1" '.cells // [] | to_entries[] | select(.value.name == $name) | 1000 + .key' numbered.jsonl; }
    for name in fd env; do
        added=$(($(of "spawn/forkless_spawn/rss:1GiB/attributes:$name") - $(of spawn/forkless_spawn/rss:1GiB)))
        grep -E "^ $name .* $added.0 ms \($added.0 to $added.0\)$" <<<"$output"
    done
    [[ $output == *" $(of spawn/forkless_spawn/gap:0/attributes:fd) ms"* ]]
}

@test "a run of attributes alone: their own figures, since there is nothing to take from them" {
    jq -c 'if .kind == "run" then .cells |= map(select(.attributes == "fd" and .rss > 0))
        elif .cell then select(.cell | test("rss.*attributes:fd")) else . end' axes.jsonl >alone.jsonl
    run -0 "$report" alone.jsonl
    [[ $output == *$'\nOne spawn at 1 GiB, attributes fd: medians\n'* ]]
    [[ $output != *"What each attribute adds"* ]]
}

@test "a run of names and reasons that are markup to somebody, in every format" { golden odd 3; }

@test "runs that were cut off make well-formed pages" {
    for cut in 3000 5000 9000; do
        head -c $cut resumed.jsonl >part.jsonl
        PATH=/nowhere "$report" -f html part.jsonl >part.$cut.html
        PATH=/nowhere "$report" -f csv part.jsonl >page.csv
        [ "$(wc -l <page.csv)" -eq 10 ]
    done
    "$here/check-page" part.*.html
}

@test "other samples of one cell change its lines in every format, and no other's" {
    sed '/"cell":"spawn.posix_spawn.rss:1GiB","state"/s/"call":\[[0-9,]*\]/"call":[723456,723456,723456]/' resumed.jsonl >slower
    for format in text html markdown csv; do
        PATH=/nowhere "$report" -f $format resumed.jsonl >before.page 2>/dev/null
        PATH=/nowhere "$report" -f $format slower >after.page 2>/dev/null
        diff before.page after.page | grep -E '^> .*[0-9]' >changed
        grep posix_spawn changed
        run ! grep -v -e posix_spawn -e slower -e '^> <tr><td>' -e '^> </td>' changed
    done
    [ "$(wc -l <changed)" -eq 1 ]
    with_gnuplot
    "$report" -f html slower >page.html
    grep -F '<title>posix_spawn at 1 GiB: 723 us' page.html
}

@test "a run with the phases of its children, in every format" { golden phases 0; }

@test "what a tracer costs is told by the cell that is like it but for the tracer" {
    # Each cell's call is its own: traced twice the untraced at load all, thrice elsewhere.
    jq -c 'def times: if test("traced") then (if test("load") then 2 else 3 end) else 1 end;
        def own: if test("load") then 900000 elif test("cwd") then 500000 else 100000 end;
        if .kind == "cell" then (.cell | own * times) as $ns | .call |= map($ns) | .total |= map($ns) else . end' phases.jsonl >told.jsonl
    "$report" told.jsonl | grep -E '^(Where the time| (call|total) traced)' | tr -s ' ' >told
    diff - told <<'END'
Where the time of a spawn goes: one spawn at 0 MiB
 call traced 3.00 (3.00 to 3.00) 3.00 (3.00 to 3.00)
 total traced 3.00 (3.00 to 3.00) 3.00 (3.00 to 3.00)
Where the time of a spawn goes: one spawn at 0 MiB, load all
 call traced 2.00 (2.00 to 2.00) 2.00 (2.00 to 2.00)
 total traced 2.00 (2.00 to 2.00) 2.00 (2.00 to 2.00)
Where the time of a spawn goes: one spawn at 0 MiB, attributes cwd
 call traced 3.00 (3.00 to 3.00) 3.00 (3.00 to 3.00)
 total traced 3.00 (3.00 to 3.00) 3.00 (3.00 to 3.00)
Where the time of a spawn goes: one spawn at 0 MiB, load all, attributes cwd
 call traced 2.00 (2.00 to 2.00) 2.00 (2.00 to 2.00)
 total traced 2.00 (2.00 to 2.00) 2.00 (2.00 to 2.00)
END
}
