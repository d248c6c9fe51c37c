# For the tests of forkless-bench --resume: a small run, whole, and what must come of its parts.
# shellcheck shell=bash
# shellcheck disable=SC2034,SC2154  # used by the tests; support.bash sets the variables

# Four cells in two rounds, of two sizes of parent.
small=(-r 2 --strategy 'vfork,forkless_start' --rss '0,4MiB' --gap 1ms --at-once 1 --samples 40 -f '^spawn/(vfork|forkless)')

valid() { "$BATS_TEST_DIRNAME/../results/validate" "$SCHEMA" "$@"; }
cells() { jq -r 'select(.kind == "cell") | "\(.round) \(.cell) \(.state)"' "$1" | sort; }

# resumes FILE: it is valid, goes on to the cells of whole.jsonl, and is valid then.
resumes() {
    valid "$1"
    "$bench" --resume "$1" >/dev/null 2>said || { cat said; false; }
    valid "$1"
    cells "$1" | cmp - whole.cells
    [ "$(tail -n 1 "$1" | jq -c '[.kind, .interrupted]')" = '["end",false]' ]
    # No cell is without the block that it was measured in.
    jq -s -e '(map(select(.kind == "block") | [.round, .rss]) | unique | length) == 4' "$1" >/dev/null
    sane_file "$1"
}
sane_file() { [ "$(head -n 1 "$1" | jq -r .kind)" = run ] && [ -z "$(left)" ]; }

make_whole() {
    "$bench" "${small[@]}" -s 5 -o whole.jsonl >/dev/null 2>&1
    cells whole.jsonl >whole.cells
    [ "$(wc -l <whole.cells)" -eq 8 ]
}
