#!/usr/bin/env bats
# docs/examples: each is built without a warning, and does what it says.
# shellcheck disable=SC2030,SC2031,SC2154  # bats runs each test in a subshell; meson and run set the variables

bats_require_minimum_version 1.5.0

load examples

setup_file() {
    cd "$BATS_FILE_TMPDIR" || return
    build capture hello job log many pipeline run terminal
    make_tree
}

setup() { cd "$BATS_FILE_TMPDIR" || return; }

@test "each example is installed, and tried here" {
    for example in "$SOURCE"/docs/examples/*.*; do
        name=$(basename "${example%.*}")
        grep -q "^@test \"$name: " "$BATS_TEST_DIRNAME"/{examples,loops}.bats
        jq -e --arg example "$example" 'has($example)' "$BUILD/meson-info/intro-installed.json" >/dev/null
    done
}

@test "hello: the README's example" {
    # shellcheck disable=SC2016
    diff <(sed -n '/^```c$/,/^```$/{/^```/d;p}' "$SOURCE/README.md") "$SOURCE/docs/examples/hello.c"
    run -0 ./hello
    [ "$output" = hello ]
}

@test "run: the README's lines, but for the deadline's" {
    # shellcheck disable=SC2016
    snippet=$(sed -n '/^    forkless_run_options options/,/^    forkless_result_free/p' "$SOURCE/README.md")
    [ -n "$snippet" ]
    run -0 diff <(grep -vE 'deadline_in|/\*' <<<"$snippet") <(grep -xFf <(echo "$snippet") "$SOURCE/docs/examples/run.c")
}

@test "run: output, errors and status" {
    run -7 --separate-stderr ./run 10 sh -c 'echo out; echo err >&2; exit 7'
    [ "$output" = out ]
    [ "$stderr" = err ]
    run -0 ./run 10 cat
    [ -z "$output" ]
    run -0 bash -c './run 20 head -c 1000000 /dev/zero | wc -c'
    [ "$output" -eq 1000000 ]
    run -1 ./run 10 /nonexistent/program
    [[ $output == 'run: '*'/nonexistent/program: No such file or directory'* ]]
}

@test "run: at the deadline all that it has started is ended, and what it wrote is shown" {
    run -143 --separate-stderr ./run 1 ./tree run.pids
    [ "$output" = begun ]
    [ "$stderr" = 'run: it took too long' ]
    gone run.pids
    run -1 ./run -1 true
    [[ $output == 'run: '* ]]
}

@test "capture: output, status and errors" {
    run -0 ./capture 10 echo a b
    [ "$output" = 'a b' ]
    run -7 ./capture 10 sh -c 'echo out; echo err >&2; exit 7'
    [ "$output" = $'out\nerr' ] || [ "$output" = $'err\nout' ]
    run -0 ./capture 10 cat
    [ -z "$output" ]
    run -1 ./capture 10 /nonexistent/program
    [[ $output == 'capture: '*'/nonexistent/program'*'No such file or directory'* ]]
}

@test "capture: more than a pipe holds" {
    run -0 bash -c './capture 20 head -c 1000000 /dev/zero | wc -c'
    [ "$output" -eq 1000000 ]
}

@test "capture: the deadline ends a child that is silent, and one that never stops" {
    run -137 ./capture 0.2 sleep 60
    [ "$output" = 'capture: it takes too long' ]
    run -137 ./capture 0.2 sh -c 'exec >&-; exec sleep 60'
    [ "$output" = 'capture: it takes too long' ]
    run -137 bash -c './capture 0.2 yes >/dev/null'
    [ "$output" = 'capture: it takes too long' ]
}

@test "capture: what it has started ends with it" {
    run -137 --separate-stderr ./capture 1 ./tree capture.pids
    [ "$output" = begun ]
    gone capture.pids
}

@test "capture: it does not wait for whom the child left behind" {
    run -0 timeout 20 ./capture 60 sh -c 'sleep 30 >&1 2>/dev/null & echo $!; echo done'
    kill "${lines[0]}"
    [ "${lines[1]}" = 'done' ]
}

@test "pipeline: sort | uniq -c" {
    run -0 ./pipeline
    [ "$(tr -d ' ' <<<"$output")" = $'2apple\n1fig\n3pear' ]
}

@test "log: output and errors in one file, appended, and nothing to read" {
    rm -f file
    run -0 ./log file sh -c 'echo out; echo err >&2; cat; readlink /proc/self/fd/0'
    [ -z "$output" ]
    run -3 ./log file sh -c 'echo again; exit 3'
    [ "$(cat file)" = $'out\nerr\n/dev/null\nagain' ]
    run -1 ./log /nonexistent/file true
    [[ $output == 'log: '*'/nonexistent/file'*'No such file or directory' ]]
}

@test "many: one command, a child for each argument" {
    run -0 ./many $$ "$PPID" $$
    [ "${#lines[@]}" -eq 3 ]
    [ "$(grep -cE "^ *$$ " <<<"$output")" -eq 2 ]
    [ "$(grep -cE "^ *$PPID " <<<"$output")" -eq 1 ]
    run -0 ./many
}

@test "terminal: a session with a terminal of its own" {
    run -0 ./terminal tty
    [[ $output == /dev/pts/* ]]
    # shellcheck disable=SC2016
    run -0 ./terminal sh -c 'ps -o sid=,tpgid= -p $$; echo $$ $$; echo there >/dev/tty'
    read -r session foreground <<<"${lines[0]%$'\r'}"
    [ "$session $foreground" = "${lines[1]%$'\r'}" ]
    [ "${lines[2]%$'\r'}" = there ]
    run -4 ./terminal sh -c 'exit 4'
}

@test "job: it has the terminal, and gives it back" {
    # shellcheck disable=SC2016
    run -0 ./terminal ./job sh -c 'ps -o pgid=,tpgid= -p $$; echo $$ $$'
    read -r group foreground <<<"${lines[0]%$'\r'}"
    [ "$group $foreground" = "${lines[1]%$'\r'}" ]
    # shellcheck disable=SC2016
    run -0 ./terminal sh -c './job true && ./job /nonexistent; ps -o tpgid= -p $$; echo $$'
    [[ ${lines[0]} == 'job: '*'/nonexistent'* ]]
    [ "$(tr -d '\r ' <<<"${lines[1]}")" = "${lines[2]%$'\r'}" ]
    run -1 ./job true </dev/null
    [[ $output == 'job: '* ]]
}
