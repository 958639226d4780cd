#!/bin/sh
# fresh.sh BUILD-DIR [NAME...] - README's two commands in a fresh Debian 12, which
# has git and make alone, on a clone of HEAD: `make demo`, then `make check`, or
# of its tests those whose path contains a NAME. Another python3 comes first in
# PATH, which must not matter. Needs root; BUILD-DIR/images keeps the Debian.
set -eu
[ $# -ge 1 ] || { echo "usage: fresh.sh BUILD-DIR [NAME...]" >&2; exit 2; }
mkdir -p "$1" && build=$(cd "$1" && pwd)
shift
cd "$(dirname "$0")/.."

if ! why=$(unshare --mount --pid --fork true 2>&1); then
    echo "skip: a fresh Debian cannot be entered here: $why"
    echo "0 passed, 0 failed, 1 skipped"
    exit 0
fi
.ci/deps fresh
tests/engines/debian.sh "$build/images"
work=$(mktemp -d)
trap 'rm -rf --one-file-system "$work"' EXIT
root=$work/root
mkdir "$root"
tar -C "$root" -xf "$build/images/bookworm.tar"
chmod 755 "$root" # the archive has the mode of the folder that it was made in
mkdir -p "$root/dev" "$root/opt/other"
cp -L /etc/resolv.conf /etc/hosts "$root/etc"
apt-config dump | grep -E '^Acquire::(https?|Check)' \
    >"$root/etc/apt/apt.conf.d/90caller" || true
printf '#!/bin/sh\nexit 1\n' >"$root/opt/other/python3"
chmod +x "$root/opt/other/python3"
# Who owns this tree does not matter.
printf '[safe]\n\tdirectory = *\n' >"$work/.gitconfig"
HOME=$work git clone -q . "$root/root/hypertune"

if [ $# -eq 0 ]; then
    tests='make check'
else
    tests="make deps-check && tests/run.sh build/gcc-release $*"
fi
# What is mounted and what is started ends with the namespace. A root of its own,
# as chroot would forbid the user namespaces that trials run in.
unshare --mount --pid --fork --kill-child sh -euc '
    mount --bind "$1" "$1"
    cd "$1"
    mount -t proc proc proc
    mount --rbind /sys sys
    mount --rbind /dev dev
    pivot_root . .
    umount -l .
    cd /
    exec /usr/bin/env -i HOME=/root TERM=dumb \
        ${http_proxy+http_proxy="$http_proxy"} \
        ${https_proxy+https_proxy="$https_proxy"} \
        PATH=/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin \
        sh -euc "$2"' fresh "$root" "
    export DEBIAN_FRONTEND=noninteractive
    apt-get update -qq
    apt-get install -y --no-install-recommends git make >/dev/null
    export PATH=/opt/other:\$PATH
    cd /root/hypertune
    make demo
    $tests"
