#!/usr/bin/env bats
# The pages of forkless-report: HTML, Markdown, CSV; their pictures; where they are written.
# To make the golden pages anew, after looking at the difference: GOLDEN=write bats pages.bats
# shellcheck disable=SC2016  # backticks in sed

bats_require_minimum_version 1.5.0

setup() {
    here=$BATS_TEST_DIRNAME
    report=${FORKLESS_REPORT:?}
    reference=$here/../../results/reference/2026-11-29-quick.jsonl
    mkdir "$BATS_TEST_TMPDIR/work" # bats keeps files of its own beside it
    cd "$BATS_TEST_TMPDIR/work" || return
    cp "$here"/runs/*.jsonl .
}

with_gnuplot() { command -v gnuplot >/dev/null || skip "there is no gnuplot"; }

# fake SCRIPT: a gnuplot that does so, the only one.
fake() {
    mkdir -p bin
    printf '#!/bin/bash\n%s\n' "$1" >bin/gnuplot
    chmod +x bin/gnuplot
}

# golden NAME STATUS: the run's page in every format, without gnuplot and the style sheet.
golden() {
    local format status file expected=$2
    for format in text html markdown csv; do
        status=0 file=$here/golden/$1.${format/text/txt}
        PATH=/nowhere "$report" -f $format "$1.jsonl" >page 2>said.txt || status=$?
        [ "$status" -eq "$expected" ]
        sed '/<style>/,/<\/style>/d' page >found
        [ "${GOLDEN:-}" != write ] || cp found "$file"
        diff -u "$file" found
        if [ $format = html ]; then
            [ "$(<said.txt)" = "forkless-report: the page has no pictures: gnuplot is not installed" ]
        else
            [ ! -s said.txt ]
        fi
    done
}

# refused STATUS SENTENCE ARGUMENT...: that sentence, and no file is new or other than before.
refused() {
    local before expected=$1 sentence=$2
    shift 2
    before=$(find . -type f -exec md5sum {} + | sort)
    run --separate-stderr "$report" "$@"
    [ "$status" -eq "$expected" ]
    [ -z "$output" ]
    # shellcheck disable=SC2154  # bats sets it
    diff <(echo "forkless-report: $sentence") <(echo "$stderr")
    [ "$before" = "$(find . -type f -exec md5sum {} + | sort)" ]
}

@test "a small run in every format" { golden resumed 0; }

@test "a run with more descriptors, several spawners and attributes, in every format" { golden axes 3; }

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

@test "every page is well-formed, self-contained and readable aloud" {
    with_gnuplot
    for run in *.jsonl; do
        "$report" -o page.html "$run" || [ $? -eq 3 ]
        "$here/check-page" page.html
    done
    PATH=/nowhere "$report" -f html odd.jsonl >page.html || [ $? -eq 3 ]
    "$here/check-page" page.html
}

@test "runs that were cut off make well-formed pages" {
    for cut in 3000 5000 9000; do
        head -c $cut resumed.jsonl >part.jsonl
        PATH=/nowhere "$report" -f html part.jsonl >page.html
        "$here/check-page" page.html
        PATH=/nowhere "$report" -f csv part.jsonl >page.csv
        [ "$(wc -l <page.csv)" -eq 10 ]
    done
}

@test "pictures are all that gnuplot adds" {
    with_gnuplot
    for run in resumed odd; do
        "$report" -f html $run.jsonl | sed '/<figure>/,/<\/figure>/d; /<style>/,/<\/style>/d' >with || true
        diff <(grep -v '^<p>There is no picture here: gnuplot is not installed\.</p>$' "$here/golden/$run.html") with
    done
}

@test "every drawn point has a title, and there are as many as the run has" {
    with_gnuplot
    "$report" -o page.html resumed.jsonl
    # Eight cells; three strategies of 24 samples at 1 GiB; two figures of four strategies there.
    diff <(printf '%s\n' 'cost 8' 'tails 72' 'order 72' 'cpu 8') <("$here/check-page" page.html)
    grep -F 'all 72 samples are drawn' page.html
    grep -F '<title>fork at 1 GiB: ' page.html
    grep -E '<title>fork, round 7, sample 3: [0-9.]+ ms</title>' page.html
}

@test "samples are thinned to 2,000 points, and the page says so" {
    with_gnuplot
    "$report" -o page.html "$reference"
    "$here/check-page" page.html >points
    drawn=$(sed -n 's/^order //p' points)
    [ "$drawn" -gt 1000 ]
    grep -F "$drawn of 8100 samples are drawn" page.html
    [ "$(stat -c %s page.html)" -lt 1000000 ]
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

@test "without a gnuplot that works there is a page without pictures, and the reason" {
    check() {
        PATH=$PWD/bin:/usr/bin:/bin "$report" -o page.html resumed.jsonl 2>said.txt
        [ "$(<said.txt)" = "forkless-report: the page has no pictures: $1" ]
        [ -z "$("$here/check-page" page.html)" ]
        grep -F "There is no picture here: " page.html
    }
    fake 'cat >/dev/null; echo "line 0: no & <svg>" >&2; exit 3'
    check 'gnuplot printed nothing: line 0: no & <svg> '
    fake 'cat >/dev/null; echo "<svg>"; exit 3'
    check 'gnuplot ended with status 3'
    fake 'kill -9 $$'
    check 'gnuplot was killed by signal 9'
    fake 'exit 0'
    check 'gnuplot printed nothing'
    chmod -x bin/gnuplot
    PATH=$PWD/bin "$report" -o page.html resumed.jsonl 2>said.txt
    grep -F 'no pictures: gnuplot cannot be started: Permission denied' said.txt
}

@test "no text of the run comes to gnuplot" {
    fake "tee -a $PWD/script | /usr/bin/gnuplot -d -"
    PATH=$PWD/bin:/usr/bin:/bin "$report" -f html odd.jsonl >page.html || [ $? -eq 3 ]
    [ "$(grep -c '<svg' page.html)" -ge 4 ]
    [ "$(grep -c 'set terminal' script)" -ge 4 ]
    run ! grep -E 'fork|script>|=1' script
}

@test "CSV is RFC 4180 with a line for each cell" {
    "$report" -o page.csv odd.jsonl || [ $? -eq 3 ]
    python3 - <<'PYTHON'
import csv, json
cells = json.loads(open("odd.jsonl").readline())["cells"]
text = open("page.csv", newline="", encoding="utf-8").read()
assert text.count("\r\n") == len(cells) + 1 and text.count("\n") == len(cells) + 1
rows = list(csv.DictReader(text.splitlines(), strict=True))
assert len(rows) == len(cells)
for row, cell in zip(rows, cells):
    assert None not in row and None not in row.values()
    assert (int(row["rss"]), int(row["gap"]), int(row["at_once"])) == (cell["rss"], cell["gap"], cell["at_once"])
    assert row["target"] == cell["target"] and row["rounds"] == row["samples"]
    assert row["state"] == ("failed" if row["rounds"] == "0" else "measured")
    assert not row["call"] or float(row["call_low"] or 0) <= float(row["call"]) <= float(row["call_tail"])
assert all((row["fds"], row["spawners"], row["attributes"]) == ("0", "1", "none") for row in rows)
assert rows[5]["call_tail_is"] == "max" and float(rows[1]["multiple_of_floor"]) > 0
PYTHON
}

@test "the ending of the file says what is written" {
    for pair in page.html:html page.md:markdown page.csv:csv page.txt:text page.json:json folder.md/page.htm:html; do
        mkdir -p folder.md
        PATH=/nowhere "$report" -o "${pair%:*}" resumed.jsonl 2>/dev/null
        cmp "${pair%:*}" <(PATH=/nowhere "$report" -f "${pair#*:}" resumed.jsonl 2>/dev/null)
    done
    "$report" -o odd-name -f csv resumed.jsonl
    cmp odd-name page.csv
    for name in page page.pdf .html/page html page.HTML ''; do
        refused 2 "--output: '$name' does not end in .html, .md, .csv, .json or .txt" -o "$name" resumed.jsonl
    done
    refused 2 "--format: 'pdf' is none of text, html, markdown, csv, json, google-benchmark" -f pdf resumed.jsonl
}

@test "no run is overwritten, and no half of a report stays" {
    cp resumed.jsonl run.csv
    ln run.csv same.txt
    refused 2 "run.csv: is the run itself, and is not overwritten" -o run.csv run.csv
    refused 2 "same.txt: is the run itself, and is not overwritten" -o same.txt run.csv
    refused 2 "run.csv: is a forkless results file, and is not overwritten" -o run.csv odd.jsonl
    mkdir folder.html
    refused 2 "folder.html: is not a regular file" -o folder.html resumed.jsonl
    refused 1 "absent/page.csv: cannot be written: No such file or directory" -o absent/page.csv resumed.jsonl
    echo before >page.csv
    trap '' XFSZ
    status=0
    said=$( (ulimit -f 0 && "$report" -o page.csv resumed.jsonl) 2>&1) || status=$?
    [ "$status" -eq 1 ]
    [ "$said" = "forkless-report: page.csv: cannot be written: File too large" ]
    [ "$(<page.csv)" = before ]
    [ "$(ls -d page.csv*)" = page.csv ]
}

@test "a report that is there already is replaced, with its rights, and through a link" {
    echo before >page.csv
    chmod 604 page.csv
    ln -s page.csv link.csv
    "$report" -o link.csv resumed.jsonl
    [ -L link.csv ]
    cmp page.csv <("$report" -f csv resumed.jsonl)
    [ "$(stat -c %a page.csv)" = 604 ]
    (umask 027 && "$report" -o new.csv resumed.jsonl)
    [ "$(stat -c %a new.csv)" = 640 ]
}

@test "a bad run makes no report" {
    head -c 100 resumed.jsonl >bad
    refused 2 "bad: there is no complete line: no run began" -o page.html bad
    refused 2 "absent: cannot be opened: No such file or directory" -o page.html absent
    echo '{"a":1}' >bad
    refused 2 "bad:1: this is no forkless results file" -o page.md bad
    sed '1s/"schema":2/"schema":9/' resumed.jsonl >bad
    refused 2 "bad:1: schema 9 is newer than 2, the newest known here" -o page.csv bad
}

@test "what cannot be asked for together" {
    for pair in "--output page.csv --predict 1GiB" "--format csv --splice x.md" "--bounds x --splice y"; do
        # shellcheck disable=SC2086  # words
        run -2 "$report" $pair resumed.jsonl
        [[ $output == *" exclude each other"* ]]
    done
}

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
