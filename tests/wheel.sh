#!/bin/sh
# wheel.sh BUILD-DIR [SUITE...] - makes the wheel, looks into it, and runs the main
# job with it in bare Debians: bookworm, or the SUITEs that are named. Needs root;
# BUILD-DIR/images keeps the Debians.
set -eu
[ $# -ge 1 ] || { echo "usage: wheel.sh BUILD-DIR [SUITE...]" >&2; exit 2; }
mkdir -p "$1" && images=$(cd "$1" && pwd)/images
shift
[ $# -gt 0 ] || set -- bookworm
cd "$(dirname "$0")/.."
unset MAKEFLAGS MFLAGS MAKELEVEL

make -s wheel
wheel=$(ls "$PWD"/build/wheel/*.whl)
work=$(mktemp -d)
trap 'rm -rf --one-file-system "$work"' EXIT
PYTHONPATH=tests/lib python3 tests/wheel/contents.py "$wheel" | tee "$work/tap" || true
passed=$(grep -c '^ok' "$work/tap" || true)
failed=$(grep -c '^not ok' "$work/tap" || true)

if ! why=$(unshare --mount --pid --fork true 2>&1); then
    echo "skip: a bare Debian cannot be entered here: $why"
    echo "$passed passed, $failed failed, 1 skipped"
    [ "$failed" -eq 0 ]
    exit
fi
.ci/deps fresh
for suite in "$@"; do
    SUITE=$suite tests/engines/debian.sh "$images"
    root=$work/$suite
    mkdir "$root"
    tar -C "$root" -xf "$images/$suite.tar"
    mkdir -p "$root/dev"
    cp -L /etc/resolv.conf /etc/hosts "$root/etc"
    apt-config dump | grep -E '^Acquire::(https?|Check)' \
        >"$root/etc/apt/apt.conf.d/90caller" || true
    cp "$wheel" tests/wheel/inside.sh "$root/root"
    unshare --mount --pid --fork --kill-child sh -euc '
        mount -t proc proc "$1/proc"
        mount --rbind /dev "$1/dev"
        exec chroot "$1" /usr/bin/env -i HOME=/root TERM=dumb \
            ${http_proxy+http_proxy="$http_proxy"} \
            ${https_proxy+https_proxy="$https_proxy"} \
            PATH=/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin \
            sh -euc "$2"' wheel "$root" "
        export DEBIAN_FRONTEND=noninteractive
        { apt-get update -qq
        apt-get install -y --no-install-recommends python3-venv; } >/dev/null
        sh /root/inside.sh /root/$(basename "$wheel")" | tee "$work/tap" || true
    echo "== $suite"
    passed=$((passed + $(grep -c '^ok' "$work/tap" || true)))
    failed=$((failed + $(grep -c '^not ok' "$work/tap" || true)))
    # One that ended early has no plan.
    grep -q '^1\.\.' "$work/tap" || failed=$((failed + 1))
done
echo "$passed passed, $failed failed"
[ "$failed" -eq 0 ]
