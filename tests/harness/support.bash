# For the tests of forkless-bench. Each runs in a folder of its own and writes run.jsonl there.
# shellcheck shell=bash
# shellcheck disable=SC2034  # used by the tests

bats_require_minimum_version 1.5.0

setup() {
    bench=${FORKLESS_BENCH:?}
    cd "$BATS_TEST_TMPDIR" || return
}

# A target that does what its arguments say, as a shell script.
target() {
    printf '#!/bin/sh\n%s\n' "$1" >target
    chmod +x target
}

states() { jq -r 'select(.kind == "cell") | .state' run.jsonl | sort | uniq -c | sed 's/^ *//'; }
reasons() { jq -r 'select(.kind == "cell") | .reason' run.jsonl | sort -u; }

# The blocks and targets of this test that live.
left() {
    local pid
    for pid in $(pgrep -f "^/proc/self/exe --block|$PWD/target" || true); do
        [ ! "/proc/$pid/cwd" -ef . ] || echo "$pid"
    done
}

# Every line is JSON, the first is the run, and no process is left.
sane() {
    jq -e . run.jsonl >/dev/null
    [ "$(head -n 1 run.jsonl | jq -r .kind)" = run ]
    [ -z "$(left)" ]
}
