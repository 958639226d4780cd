#!/bin/sh
# build.sh OUT - makes the package from a copy of the tree, so that a build
# leaves nothing behind in it; OUT gets the .deb and its build notes.
set -eu
cd "$(dirname "$0")/.."
out=$(mkdir -p "$1" && cd "$1" && pwd)
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
tar -cf - --exclude=./build --exclude=./.git --exclude='*.pyc' . |
    tar -xf - -C "$(mkdir "$work/hypertune" && echo "$work/hypertune")"
(cd "$work/hypertune" && dpkg-buildpackage -b -us -uc -j2) >"$out/build.log" 2>&1 || {
    tail -n 40 "$out/build.log" >&2
    exit 1
}
rm -f "$out"/*.deb
cp "$work"/*.deb "$out"
for package in "$out"/hypertune_*.deb; do
    echo "$package"
done
