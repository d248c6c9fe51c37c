#!/usr/bin/env bats
# The page in a browser without a screen: says nothing on the console, fits a phone, dark at night.

bats_require_minimum_version 1.5.0

setup() {
    command -v chromium >/dev/null || skip "there is no chromium"
    command -v gnuplot >/dev/null || skip "there is no gnuplot"
    cd "$BATS_TEST_TMPDIR" || return
    for run in resumed odd; do
        "${FORKLESS_REPORT:?}" -o $run.html "$BATS_TEST_DIRNAME/runs/$run.jsonl" || [ $? -eq 3 ]
    done
}

browse() {
    HOME=$PWD chromium --headless --no-sandbox --disable-gpu --hide-scrollbars --user-data-dir="$PWD/profile" "$@" 2>said.txt
}

@test "no message on the console" {
    echo '<html><body><script>console.log("heard")</script></body></html>' >loud.html
    browse --enable-logging=stderr --dump-dom "file://$PWD/loud.html" >/dev/null
    grep CONSOLE said.txt
    for run in resumed odd; do
        browse --enable-logging=stderr --dump-dom "file://$PWD/$run.html" >dom
        grep -F '<h1>What starting a process costs</h1>' dom
        run ! grep CONSOLE said.txt
    done
}

# widest PAGE WIDTH: how wide the page is in a window of that width; its copy may run a script.
widest() {
    sed 's|<meta http-equiv="Content-Security-Policy"[^>]*/>||
        s|</body>|<script>parent.postMessage(document.documentElement.scrollWidth, "*")</script></body>|' "$1" >copy.html
    cat >frame.html <<HTML
<!DOCTYPE html><html><body><script>
addEventListener("message", message => document.documentElement.setAttribute("data-widest", message.data))
</script><iframe src="copy.html" style="border:0" width="$2" height="800"></iframe></body></html>
HTML
    browse --window-size=1400,900 --virtual-time-budget=3000 --dump-dom "file://$PWD/frame.html" |
        sed -n 's/.*data-widest="\([0-9]*\)".*/\1/p'
}

@test "no sideways scrolling on a phone or a desktop" {
    for run in resumed odd; do
        [ "$(widest $run.html 360)" -eq 360 ]
        [ "$(widest $run.html 1280)" -eq 1280 ]
    done
    echo '<html><body><div style="width:900px">wide</div></body></html>' >wide.html
    [ "$(widest wide.html 360)" -gt 900 ]
}

@test "light by day and dark at night" {
    for scheme in 0 1; do
        sed 's|<meta http-equiv="Content-Security-Policy"[^>]*/>||
            s|</body>|<script>document.body.setAttribute("data-paper", getComputedStyle(document.body).backgroundColor)</script></body>|' \
            resumed.html >copy.html
        browse --blink-settings=preferredColorScheme=$scheme --dump-dom "file://$PWD/copy.html" |
            sed -n 's/.*data-paper="\([^"]*\)".*/\1/p' >paper.$scheme
    done
    [ "$(<paper.0)" = "rgb(13, 17, 23)" ]
    [ "$(<paper.1)" = "rgb(255, 255, 255)" ]
}
