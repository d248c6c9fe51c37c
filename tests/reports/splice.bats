#!/usr/bin/env bats
# What forkless-report writes between the markers of a file.
# shellcheck disable=SC2016,SC2154  # backticks in sed; setup and run set the variables

load pages

marked() {
    printf '# Mine\n'
    for name in "$@"; do
        printf '\nbefore\n<!-- forkless:begin %s -->\nold\n<!-- forkless:end %s -->\nafter\n' "$name" "$name"
    done
}

@test "what the run found comes between the markers, and again" {
    with_gnuplot
    mkdir docs
    marked text verdict table 'picture docs/cost.svg' >README.md
    "$report" --splice README.md resumed.jsonl
    cp README.md once
    "$report" --splice README.md resumed.jsonl
    cmp once README.md
    run ! grep -x old README.md
    [ "$(grep -cx -e before -e after README.md)" -eq 8 ]
    diff <("$report" resumed.jsonl) <(sed -n '/^```text$/,/^```$/p' README.md | sed '1d;$d')
    grep -E '^fork costs its caller ' README.md
    grep -F '| forkless_start | 1 | ' README.md
    grep -Fx '![How long one spawn holds its caller, by the parent'"'"'s memory](docs/cost.svg)' README.md
    python3 -c 'import xml.etree.ElementTree as xml
svg = xml.parse("docs/cost.svg").getroot()
assert svg.tag == "{http://www.w3.org/2000/svg}svg" and "dark" in "".join(svg.itertext())'
    "$report" --splice README.md odd.jsonl
    "$report" --splice README.md odd.jsonl
    "$report" --splice README.md resumed.jsonl
    cmp once README.md
}

@test "markers that are not as they should be" {
    refused 2 "absent.md: cannot be opened: No such file or directory" --splice absent.md resumed.jsonl
    echo '# Mine' >a.md
    refused 2 "a.md: there is no marker '<!-- forkless:begin NAME -->'" --splice a.md resumed.jsonl
    printf '\n<!-- forkless:begin text -->\n' >a.md
    refused 2 "a.md:2: 'text' begins and does not end" --splice a.md resumed.jsonl
    printf '\n<!-- forkless:end text -->\n' >a.md
    refused 2 "a.md:2: 'text' ends and did not begin" --splice a.md resumed.jsonl
    printf '<!-- forkless:begin text -->\n<!-- forkless:end table -->\n' >a.md
    refused 2 "a.md:2: 'table' ends and did not begin" --splice a.md resumed.jsonl
    printf '<!-- forkless:begin text -->\n<!-- forkless:begin table -->\n' >a.md
    refused 2 "a.md:2: 'table' begins inside 'text'" --splice a.md resumed.jsonl
    marked text nonsense >a.md
    refused 2 "a.md: 'nonsense' is none of text, verdict, table, picture FILE.svg" --splice a.md resumed.jsonl
    for file in /tmp/a.svg ../a.svg 'a b.svg'; do
        marked "picture $file" >a.md
        refused 2 "a.md: the picture's file '$file' is no plain name beside it" --splice a.md resumed.jsonl
    done
    marked 'picture a.png' >a.md
    refused 2 "a.md: the picture's file 'a.png' does not end in .svg" --splice a.md resumed.jsonl
    with_gnuplot
    marked 'picture a.svg' 'picture b.svg' >a.md
    refused 2 "a.md: there are two pictures" --splice a.md resumed.jsonl
    marked 'picture a.svg' >a.md
    PATH=/nowhere run "$report" --splice a.md resumed.jsonl
    [ "$status" -eq 1 ]
    [ "$output" = "forkless-report: a.md: there is no picture: gnuplot is not installed" ]
    [ ! -e a.svg ]
    diff <(marked 'picture a.svg') a.md
}
