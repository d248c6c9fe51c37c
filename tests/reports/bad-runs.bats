#!/usr/bin/env bats
# Files that are no runs, or no good ones: refused in one sentence that says where.
# shellcheck disable=SC2016,SC2154  # the sentences quote names in backticks; setup and run set the variables

load report

@test "not a results file" {
    cd "$BATS_TEST_TMPDIR"
    refused "absent: cannot be opened: No such file or directory" absent
    refused ".: cannot be read: Is a directory" .
    : >bad
    refused "bad: the file is empty" bad
    echo '{"kind":"benchmark"}' >bad
    refused "bad:1: this is no forkless results file" bad
    echo 'hello' >bad
    refused "bad:1: this is no forkless results file" bad
    echo '[1]' >bad
    refused "bad:1: this is no forkless results file" bad
    head -c 100 "$here/runs/quick.jsonl" >bad
    refused "bad: there is no complete line: no run began" bad
    head -c 5000 /dev/zero >bad
    echo >>bad
    refused "bad:1: this is no forkless results file" bad
}

@test "a newer schema" {
    changed 1 's/"schema":1/"schema":3/'
    refused "bad:1: schema 3 is newer than 2, the newest known here" bad
}

@test "broken JSON in the middle" {
    changed 2 's/"call":\[/"call":[,/'
    refused "bad:2: broken JSON: unexpected token near ','" bad
}

@test "wrong types and impossible values" {
    changed 1 's/"rounds":1/"rounds":"1"/'
    refused 'bad:1: `rounds` is not a whole number' bad
    changed 1 's/"rounds":1/"rounds":0/'
    refused 'bad:1: `rounds` is below 1' bad
    changed 1 's/"rounds":1/"rounds":99999999999/'
    refused 'bad:1: `rounds` is above 10000' bad
    changed 1 's/"matrix":"quick",//'
    refused 'bad:1: `matrix` is missing' bad
    changed 1 's/"cells":.*/"cells":[]}/'
    refused 'bad:1: the run lists no cells' bad
    changed 1 's/"virtual":true/"virtual":1/'
    refused 'bad:1: `virtual` is not true or false' bad
    changed 2 's/"call":\[/"call":[1.5,/'
    refused 'bad:2: sample 1 of `call` is not a whole number of at least 0' bad
    changed 2 's/"call":\[/"call":[-5,/'
    refused 'bad:2: sample 1 of `call` is not a whole number of at least 0' bad
    changed 2 's/"call":\[[0-9,]*\]/"call":[]/'
    refused 'bad:2: `call` has no samples' bad
    changed 2 's/"call":\[/"call":[1,/'
    refused 'bad:2: `total` has 5 samples but `call` has 6' bad
    changed 2 's/"state":"measured"/"state":"fine"/'
    refused 'bad:2: `state` is fine, not one of measured, failed, unsupported, timeout' bad
    changed 2 's/"state":"measured"/"state":"failed"/'
    refused 'bad:2: `reason` is missing' bad
    changed 3 's/"steal":0.002/"steal":"none"/'
    refused 'bad:3: `steal` is not a number' bad
    changed 3 's/"steal":0.002/"steal":NaN/'
    refused "bad:3: broken JSON: invalid token near 'NaN'" bad
}

@test "lines that contradict the run line or each other" {
    changed 2 's/spawn.null/spawn\/other/'
    refused 'bad:2: the cell spawn/other is not one that the run lists' bad
    changed 2 's/"round":0/"round":1/'
    refused 'bad:2: round 1 does not exist: the run has 1, from 0' bad
    changed 2 p
    refused 'bad:3: the cell spawn/null has round 0 twice' bad
    changed 1 's/spawn.vfork/spawn\/posix_spawn/'
    refused 'bad:1: the cell spawn/posix_spawn/rss:1GiB/gap:0/target:dynamic is listed twice' bad
    changed 1 p
    refused 'bad:2: `kind` is not one of cell, block, resume, end' bad
    changed '$' p
    refused 'bad:9: there is a line after the end' bad
}

@test "what schema 2 adds is checked as strictly" {
    altered 'if .kind == "run" then del(.findings) else . end'
    refused 'bad:1: `findings` is missing' bad
    altered 'if .kind == "run" then .findings[1].level = "bad" else . end'
    refused 'bad:1: `level` is bad, not one of good, note, warning, unknown' bad
    altered 'if .kind == "run" then .findings[1].found = 5 else . end'
    refused 'bad:1: `found` is not a text' bad
    altered 'if .kind == "block" then del(.other) else . end'
    refused 'bad:7: `other` is missing' bad
    altered 'if .kind == "block" then .disturbed = true else . end'
    refused 'bad:7: `disturbed` is not a text' bad
    altered 'if .kind == "block" then .round = 4 else . end'
    refused 'bad:7: round 4 does not exist: the run has 4, from 0' bad
}
