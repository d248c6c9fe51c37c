# Completion of forkless for bash. Commands and flags are those that --help lists.
# shellcheck shell=bash

# The long flags of `forkless COMMAND`, or of forkless itself.
_forkless_flags() {
    "$@" --help 2>/dev/null </dev/null | sed -nE 's/^ {2,6}(-., )?(--[a-z-]+).*/\2/p'
}

_forkless_commands() {
    "$1" --help 2>/dev/null </dev/null | sed -nE '/^ *Commands:/,/^$/s/^  ([a-z]+) .*/\1/p'
}

_forkless_attributes() {
    "$1" bench --list 2>/dev/null </dev/null | sed -n '/^attributes /,$ { s/^attributes//; s/,/ /g; p }'
}

# Words for what stands behind the last comma.
_forkless_list() {
    local before=
    [[ $cur != *,* ]] || before=${cur%,*},
    mapfile -t COMPREPLY < <(compgen -P "$before" -W "$1" -- "${cur##*,}")
}

# Files whose names end so, and folders; without an ending, all.
_forkless_files() {
    local found
    mapfile -t found < <(
        [ -z "$1" ] || compgen -d -- "$cur" || true
        compgen -f -X "${1:+!*$1}" -- "$cur"
    )
    COMPREPLY+=("${found[@]}")
    compopt -o filenames 2>/dev/null || true # only while bash completes
}

_forkless_words() { mapfile -t COMPREPLY < <(compgen -W "$1" -- "$cur"); }

_forkless_bench() {
    case $previous in
    -o | --output | --resume) _forkless_files "" ;;
    --strategy) _forkless_list "fork vfork posix_spawn posix_spawn_read clone3 fork_only forkless_run forkless_spawn forkless_start forkless_batch forkless_batch_thread floor_vfork floor_vm limit limit_pinned server" ;;
    --pages) _forkless_list "4k thp hugetlb shared heap simulated" ;;
    --between) _forkless_list "work touch sleep" ;;
    --pin) _forkless_list "none caller" ;;
    --load) _forkless_list "idle others all" ;;
    --memory) _forkless_list "idle rewritten dontfork" ;;
    --victim) _forkless_list "none spinner faulter ticker" ;;
    --place) _forkless_list "free beside away" ;;
    --after) _forkless_list "none living gone" ;;
    --traced) _forkless_list "no phases trace" ;;
    --attributes) _forkless_list "$(_forkless_attributes "$program")" ;;
    -t | --target)
        _forkless_list "tiny silent static dynamic script mebibyte waiter"
        _forkless_files ""
        ;;
    -r | --rounds | -s | --seed | -f | --filter | --rss | --mappings | --threads | --gap | --at-once | --commands | --fds | --spawners | --samples | -d | --deadline) ;;
    *)
        _forkless_words "quick standard full calibrate"
        _forkless_files .yaml
        ;;
    esac
}

_forkless_compare() {
    case $previous in
    -g | --figure) _forkless_words "call ready total cpu" ;;
    -a | --fail-above | -f | --filter | --ignore-below) ;;
    *) _forkless_files "" ;;
    esac
}

_forkless_cow() {
    case $previous in
    -p | --pid) _forkless_words "$(cd /proc && printf '%s ' [0-9]*)" ;;
    -s | --svg | -P | --plot) _forkless_files .svg ;;
    -d | --duration | -i | --interval) ;;
    *) mapfile -t COMPREPLY < <(compgen -c -- "$cur") ;;
    esac
}

_forkless_doctor() {
    case $previous in
    -p | --pid) _forkless_words "$(cd /proc && echo [0-9]*)" ;;
    esac
}

_forkless_report() {
    case $previous in
    -f | --format) _forkless_words "text html markdown csv json google-benchmark" ;;
    -s | --splice) _forkless_files .md ;;
    -p | --predict) ;;
    *) _forkless_files "" ;;
    esac
}

_forkless_trace() {
    case $previous in
    -p | --pid) _forkless_words "$(cd /proc && echo [0-9]*)" ;;
    -f | --forbid) _forkless_words fork ;;
    -o | --output) _forkless_files "" ;;
    -l | --longer-than | -d | --duration | -n | --count) ;;
    *) mapfile -t COMPREPLY < <(compgen -c -- "$cur" | sort -u) ;;
    esac
}

_forkless() {
    local program=${COMP_WORDS[0]} cur=${COMP_WORDS[COMP_CWORD]} previous=
    [ "$COMP_CWORD" -eq 0 ] || previous=${COMP_WORDS[COMP_CWORD - 1]}
    # bash makes --flag=value three words.
    if [ "$cur" = = ]; then
        cur=
    elif [ "$previous" = = ]; then
        previous=${COMP_WORDS[COMP_CWORD - 2]}
    fi
    COMPREPLY=()
    if [ "$COMP_CWORD" -eq 1 ]; then
        case $cur in
        -*) _forkless_words "$(_forkless_flags "$program")" ;;
        *) _forkless_words "$(_forkless_commands "$program")" ;;
        esac
        return
    fi
    case ${COMP_WORDS[1]}/$cur in
    help/*) _forkless_words "$(_forkless_commands "$program")" ;;
    */-*) _forkless_words "$(_forkless_flags "$program" "${COMP_WORDS[1]}")" ;;
    bench/*) _forkless_bench ;;
    compare/*) _forkless_compare ;;
    cow/*) _forkless_cow ;;
    doctor/*) _forkless_doctor ;;
    report/*) _forkless_report ;;
    trace/*) _forkless_trace ;;
    *) _forkless_files "" ;;
    esac
}

complete -F _forkless forkless
