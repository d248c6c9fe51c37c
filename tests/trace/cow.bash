# shellcheck shell=bash
# shellcheck disable=SC2034,SC2153,SC2154  # meson and the tests set or use the variables
# For the tests of forkless-cow: what it finds of the writer, alone and beside it.

setup_file() { "$FORKLESS_COW" true >/dev/null 2>"$BATS_FILE_TMPDIR/why" || echo $? >"$BATS_FILE_TMPDIR/code"; }

setup() {
    cd "$BATS_TEST_TMPDIR" || return
    [ "$(cat "$BATS_FILE_TMPDIR/code" 2>/dev/null)" != 4 ] || skip "$(<"$BATS_FILE_TMPDIR/why")"
}

# Runs the writer in one way; what was found is in found.json, the writer's own mapping in `mine`.
write_by() {
    "$FORKLESS_COW" --json -- "$WRITER" "$1" . >found.json || return
    read_mine
}
read_mine() {
    mine=$(jq -c '[.mappings[] | select(.start == 17592186044416)] |
        [(map(.copies) | add // 0), (map(.copies_by_kernel) | add // 0), (map(.reused) | add // 0), (map(.zeros) | add // 0)]' found.json)
    jq -e '.lost | [.stacks, .faults, .processes] == [0, 0, 0]' found.json
}

# Copies whose stack has these names, next to each other.
by_stack() {
    jq --arg names "$1" '[.stacks[] | select(.calls | join(";") | contains($names)) | .copies] | add // 0' found.json
}

# Starts children that wait, and forkless-cow beside them; `go` lets them write.
follow() {
    rm -f said
    "$@" preforked . >said 3>&- &
    writer=$!
    until grep -qs ready said; do sleep 0.02; done
}
attach() {
    rm -f talk.txt
    "$FORKLESS_COW" -p "$writer" "$@" >found.json 2>talk.txt 3>&- &
    cow=$!
    until grep -qs following talk.txt; do
        kill -0 "$cow"
        sleep 0.02
    done
}
