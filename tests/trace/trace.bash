# What the tests of forkless-trace have in common.
# shellcheck shell=bash disable=SC2154  # run sets the variables

bats_require_minimum_version 1.5.0

setup() {
    cd "$BATS_TEST_TMPDIR" || return
    # Where the kernel or a missing privilege does not allow it, it says so, and there is nothing to test.
    "$FORKLESS_TRACE" -o /dev/null -- true 2>reason || [ $? -ne 4 ] || skip "$(cat reason)"
}

# traced OPTION... -- COMMAND...: its JSON lines are in `lines`; what COMMAND prints in `printed`.
traced() { "$FORKLESS_TRACE" --json -o lines "$@" >printed 2>said; }

# begin OPTION...: a tracer in the background, at work; its number is in $tracer.
begin() {
    "$FORKLESS_TRACE" -o lines "$@" >printed 2>said &
    tracer=$!
    until [ -s lines ] || ! kill -0 "$tracer"; do sleep 0.02; done
}

# How many creations there are that fit a jq condition.
count() { jq -s "map(select(.event == \"creation\" and ($1))) | length" lines; }

# refused CODE PATTERN ARGUMENT...: one sentence on standard error, nothing on standard output.
refused() {
    local code=$1 pattern=$2
    shift 2
    run -"$code" --separate-stderr "$FORKLESS_TRACE" "$@"
    [ "$output" = "" ]
    # shellcheck disable=SC2053
    [[ $stderr == forkless-trace:\ $pattern ]]
    [[ $stderr != *$'\n'* ]]
}
