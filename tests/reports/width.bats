#!/usr/bin/env bats
# The page in a browser without a screen fits a phone and a desktop.

load browser

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
