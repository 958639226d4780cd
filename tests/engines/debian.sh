#!/bin/sh
# debian.sh CACHE [SOCKET] - makes CACHE/SUITE.tar, a small Debian as the
# registries' debian:bookworm-slim, from the packages of the mirror that apt
# uses, unless it is there; gives it to an engine as localhost/debian:1. SUITE is
# a variable, bookworm when it is not set.
set -eu
. "$(dirname "$0")/lib.sh"
[ $# -ge 1 ] || { echo "usage: debian.sh CACHE [SOCKET]" >&2; exit 2; }
mkdir -p "$1" && cache=$(cd "$1" && pwd)

suite=${SUITE-bookworm}

mirror() {
    apt-get indextargets --format '$(SITE) $(RELEASE) $(CREATED_BY)' |
        awk '$2 == "bookworm" && $3 == "Packages" { print $1; exit }'
}

if [ ! -s "$cache/$suite.tar" ]; then
    work=$(mktemp -d)
    trap 'rm -rf "$work"' EXIT
    debootstrap --variant=minbase "$suite" "$work" "$(mirror)" >"$cache/log" ||
        { tail -n 5 "$cache/log" >&2; exit 1; }
    rm -rf "$work"/var/cache/apt/archives/*.deb "$work"/var/lib/apt/lists/*
    tar -C "$work" --numeric-owner --exclude='./usr/share/doc/*' \
        --exclude='./usr/share/locale/*' --exclude='./usr/share/man/*' \
        --exclude='./dev/*' -cf "$cache/$suite.new" .
    mv "$cache/$suite.new" "$cache/$suite.tar"
fi
[ $# -gt 1 ] || exit 0
call "${2#unix://}" POST \
    '/images/create?fromSrc=-&repo=localhost%2Fdebian:1&changes=CMD%20bash' \
    -H 'Content-Type: application/x-tar' -T "$cache/$suite.tar" >/dev/null
