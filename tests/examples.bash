# The examples of docs/examples, built without a warning. Sourced by the tests that run them.
# shellcheck shell=bash disable=SC2154  # meson sets the variables

# What an example needs beside the library.
flags() {
    case $1 in
    uv) pkg-config --cflags --libs libuv ;;
    glib) pkg-config --cflags --libs glib-2.0 ;;
    esac
}

# build NAME...: here, by gcc; clang only looks at it. By rustc, if it is there.
build() {
    local name arguments
    for name; do
        if [ -e "$SOURCE/docs/examples/$name.rs" ]; then
            command -v rustc >/dev/null || continue
            rustc --edition 2021 -D warnings -L "$(dirname "$LIBRARY")" -l static=forkless "$SOURCE/docs/examples/$name.rs"
            continue
        fi
        # shellcheck disable=SC2207
        arguments=(-Wall -Wextra -Wshadow -Wconversion -Werror -I"$SOURCE/spawn" "$SOURCE/docs/examples/$name.c"
            "$LIBRARY" $(flags "$name") -pthread)
        clang -fsyntax-only -Wno-unused-command-line-argument "${arguments[@]}"
        gcc "${arguments[@]}" -o "$name"
    done
}

# tree [FILE] is a program that starts another and stays; their pids are in FILE, or in tree.pids.
make_tree() {
    cat >tree <<'END'
#!/bin/sh
sleep 600 &
echo $! $$ >"${1-tree.pids}"
echo begun
wait
END
    chmod +x tree
}

# gone FILE: of those whose pids are in it nobody is left, or will be in a moment.
gone() {
    local pids
    pids=$(tr ' ' , <"$1")
    for _ in {1..100}; do
        [[ $(ps -o stat= -p "$pids") =~ ^(Z[^[:space:]]*[[:space:]]*)*$ ]] && return
        sleep 0.1
    done
    ps -fp "$pids"
    false
}
