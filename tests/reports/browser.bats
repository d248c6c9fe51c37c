#!/usr/bin/env bats
# The page in a browser without a screen: says nothing on the console, fits a phone and a desktop, is dark at night.

bats_require_minimum_version 1.5.0

# One page with a frame for each page and width, and what its script sees in them. Chromium takes seconds to start.
setup_file() {
    command -v chromium >/dev/null && command -v gnuplot >/dev/null || return 0 # only setup can skip
    cd "$BATS_FILE_TMPDIR" || return
    local run page width
    for run in resumed odd; do
        "${FORKLESS_REPORT:?}" -o $run.html "$BATS_TEST_DIRNAME/runs/$run.jsonl" || [ $? -eq 3 ]
    done
    echo '<html><body><h1>loud</h1><div style="width:900px">wide</div><script>console.log("heard")</script></body></html>' >loud.html
    {
        echo '<!DOCTYPE html><html><body>'
        for page in loud resumed odd; do
            for width in 360 1280; do
                echo "<iframe src='$page.html' id='$page $width' style='border:0' width='$width' height='800'></iframe>"
            done
        done
        cat <<'HTML'
<script>
addEventListener("load", () => {
    for (const frame of document.querySelectorAll("iframe")) {
        const seen = frame.contentDocument, line = document.createElement("p")
        line.textContent = [frame.id, seen.documentElement.scrollWidth, getComputedStyle(seen.body).backgroundColor,
            seen.querySelector("h1").textContent].join("|")
        document.body.append(line, "\n")
    }
})
</script></body></html>
HTML
    } >frames.html
    local schemes=(dark light) number # as chromium counts them
    for number in 0 1; do
        HOME=$PWD chromium --headless --no-sandbox --disable-gpu --hide-scrollbars --user-data-dir="$PWD/profile" \
            --allow-file-access-from-files --enable-logging=stderr --window-size=1400,900 --virtual-time-budget=3000 \
            --blink-settings=preferredColorScheme=$number --dump-dom "file://$PWD/frames.html" 2>said >dom
        mv said "${schemes[number]}.said"
        sed -n 's|^<p>\(.*\)</p>$|\1|p' dom >"${schemes[number]}"
    done
}

setup() {
    command -v chromium >/dev/null || skip "there is no chromium"
    command -v gnuplot >/dev/null || skip "there is no gnuplot"
    cd "$BATS_FILE_TMPDIR" || return
}

@test "no message on the console" {
    for scheme in dark light; do
        [ "$(grep -c '^[a-z]* [0-9]*|.*|What starting a process costs$' $scheme)" -eq 4 ]
        grep CONSOLE $scheme.said >console
        grep '"heard", source: .*/loud\.html' console
        run ! grep -v '/loud\.html' console
    done
}

@test "no sideways scrolling on a phone or a desktop" {
    for scheme in dark light; do
        for page in resumed odd; do
            grep "^$page 360|360|" $scheme
            grep "^$page 1280|1280|" $scheme
        done
        grep -E '^loud 360\|9[0-9][0-9]\|' $scheme
    done
}

@test "light by day and dark at night" {
    [ "$(grep -cE '^(resumed|odd) .*\|rgb\(13, 17, 23\)\|' dark)" -eq 4 ]
    [ "$(grep -cE '^(resumed|odd) .*\|rgb\(255, 255, 255\)\|' light)" -eq 4 ]
}
