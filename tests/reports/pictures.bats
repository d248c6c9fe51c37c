#!/usr/bin/env bats
# The pictures in the pages of forkless-report, and pages without them.
# shellcheck disable=SC2016,SC2154  # $ in scripts of others; setup and run set the variables

load pages

@test "every page is well-formed, self-contained and readable aloud" {
    with_gnuplot
    for run in *.jsonl; do
        "$report" -o "$run.html" "$run" || [ $? -eq 3 ]
    done
    PATH=/nowhere "$report" -f html odd.jsonl >without.html || [ $? -eq 3 ]
    "$here/check-page" ./*.html
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
