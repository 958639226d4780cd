#!/bin/sh
# run.sh BUILD-DIR [NAME...] - runs the tests that need container engines on a
# dockerd and their own Podman, which are gone afterwards. With NAMEs only
# tests whose path contains one of them run.
#
# An engine that cannot be had here is named in a line that says "skip"; without
# any engine nothing runs and that is no failure, unless HYPERTUNE_TEST_ALL is
# set and one is not installed.
set -u
here=$(cd "$(dirname "$0")" && pwd)
[ $# -ge 1 ] || { echo "usage: run.sh BUILD-DIR [NAME...]" >&2; exit 2; }
build=$(cd "$1" && pwd) || exit 2
shift

if [ "$(id -u)" -ne 0 ]; then
    echo "skip: container engines need root"
    echo "0 passed, 0 failed, 1 skipped"
    exit 0
fi
for engine in dockerd podman; do
    if ! command -v "$engine" >/dev/null && [ -n "${HYPERTUNE_TEST_ALL-}" ]; then
        echo "$engine is not installed, and HYPERTUNE_TEST_ALL wants all" >&2
        exit 1
    fi
done
work=$(mktemp -d "${TMPDIR:-/tmp}/ht-engines.XXXXXX")
finish() {
    for engine in dockerd podman; do
        "$here/$engine.sh" stop "$work/$engine"
    done
    rm -rf "$work"
}
trap finish EXIT
trap 'exit 130' INT TERM

hosts=
for engine in dockerd podman; do
    if ! command -v "$engine" >/dev/null; then
        echo "skip: $engine is not installed"
    elif host=$("$here/$engine.sh" start "$work/$engine" 2>&1) &&
        why=$("$here/images.sh" "$build/images" "${host#unix://}" 2>&1); then
        hosts="$hosts $host"
    else
        echo "skip: $engine cannot be used: $host ${why-}"
    fi
done
if [ -z "$hosts" ]; then
    echo "0 passed, 0 failed, 2 skipped"
    exit 0
fi

if [ $# -eq 0 ]; then
    # Tests that ask for real engines, by their path without the ending.
    set -- $(grep -lE 'HT_DOCKER_HOSTS|engines\.(here|run|PrivateEngine)\(' \
        "$here"/../*/test_*.c "$here"/../*/test_*.py |
        sed 's|.*/\([a-z0-9]*/test_[^.]*\)\..*|\1|')
fi
# One of them builds the whole in a container.
HT_DOCKER_HOSTS=${hosts# } HYPERTUNE_TEST_SECONDS=${HYPERTUNE_TEST_SECONDS:-1200} \
    "$here/../run.sh" "$build" "$@"
