#!/usr/bin/env bats
# Where the pages of forkless-report are written.
# shellcheck disable=SC2016,SC2154  # backticks in sed; setup and run set the variables

load pages

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
