#!/bin/sh
# previous.sh BUILD-DIR - runs studies with programs of the previous release
# beside those of this one, which are in BUILD-DIR. Builds the previous release
# from the repository's history, in BUILD-DIR/previous, unless it is there.
set -eu
[ $# -eq 1 ] || { echo "usage: previous.sh BUILD-DIR" >&2; exit 2; }
cd "$(dirname "$0")/.."
unset MAKEFLAGS MFLAGS MAKELEVEL
# The commit of the previous release: a new release changes it.
commit=f4c5df18935d12ee08750f7f999e035019e62058
previous=$1/previous

if ! git cat-file -e "$commit^{commit}" 2>/dev/null; then
    echo "skip: the history of this clone does not reach $commit"
    echo "0 passed, 0 failed, 1 skipped"
    exit
fi
if [ "$(cat "$previous/commit" 2>/dev/null)" != $commit ]; then
    rm -rf "$previous"
    mkdir -p "$previous/source"
    git archive $commit | tar -C "$previous/source" -xf -
    make -C "$previous/source" -s -j"$(nproc)" MODE=debug B=build WERROR= all
    mv "$previous"/source/build/* "$previous"
    rm -rf "$previous/source"
    echo $commit >"$previous/commit"
fi
tests/run.sh "$1" e2e/test_previous_release
