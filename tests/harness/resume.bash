# For the tests of forkless-bench --resume: a small run, whole, and what must come of its parts.
# shellcheck shell=bash
# shellcheck disable=SC2034,SC2154  # used by the tests; support.bash sets the variables

# Four cells in two rounds, of two sizes of parent.
small=(-r 2 --strategy 'vfork,forkless_start' --rss '0,4MiB' --gap 1ms --at-once 1 --samples 40 -f '^spawn/(vfork|forkless)')

valid() { "$BATS_TEST_DIRNAME/../results/validate" "$SCHEMA" "$@"; }
cells() { jq -r 'select(.kind == "cell") | "\(.round) \(.cell) \(.state)"' "$1" | sort; }

# resumes FILE: it goes on to the cells of whole.jsonl; all_valid has it validated as it was before, and as it is then.
resumes() {
    resumed=$((${resumed-0} + 1))
    cp "$1" "before.$resumed"
    "$bench" --resume "$1" >/dev/null 2>said || { cat said; false; }
    cp "$1" "after.$resumed"
    cells "$1" | cmp - whole.cells
    [ "$(tail -n 1 "$1" | jq -c '[.kind, .interrupted]')" = '["end",false]' ]
    # No cell is without the block that it was measured in.
    jq -s -e '(map(select(.kind == "block") | [.round, .rss]) | unique | length) == 4' "$1" >/dev/null
    sane_file "$1"
}
sane_file() { [ "$(head -n 1 "$1" | jq -r .kind)" = run ] && [ -z "$(left)" ]; }

# In one go: most of the time goes to python's start.
all_valid() { valid before.* after.*; }

make_whole() {
    local made=$BATS_FILE_TMPDIR/whole.jsonl
    [ -e "$made" ] || "$bench" "${small[@]}" -s 5 -o "$made" >/dev/null 2>&1
    cp "$made" whole.jsonl
    cells whole.jsonl >whole.cells
    [ "$(wc -l <whole.cells)" -eq 8 ]
}
