#!/usr/bin/env bats
# The page in a browser without a screen: says nothing on the console, dark at night.

load browser

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
