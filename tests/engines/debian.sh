#!/bin/sh
# debian.sh CACHE SOCKET - gives an engine localhost/debian:1, a small Debian as
# the registries' debian:bookworm-slim, made from the packages of the mirror
# that apt uses. CACHE keeps it as an archive for the next time.
set -eu
. "$(dirname "$0")/lib.sh"
[ $# -eq 2 ] || { echo "usage: debian.sh CACHE SOCKET" >&2; exit 2; }
mkdir -p "$1" && cache=$(cd "$1" && pwd)

mirror() {
    apt-get indextargets --format '$(SITE) $(RELEASE) $(CREATED_BY)' |
        awk '$2 == "bookworm" && $3 == "Packages" { print $1; exit }'
}

if [ ! -s "$cache/debian.tar" ]; then
    work=$(mktemp -d)
    trap 'rm -rf "$work"' EXIT
    debootstrap --variant=minbase bookworm "$work" "$(mirror)" >"$cache/log" ||
        { tail -n 5 "$cache/log" >&2; exit 1; }
    rm -rf "$work"/var/cache/apt/archives/*.deb "$work"/var/lib/apt/lists/*
    tar -C "$work" --numeric-owner --exclude='./usr/share/doc/*' \
        --exclude='./usr/share/locale/*' --exclude='./usr/share/man/*' \
        --exclude='./dev/*' -cf "$cache/debian.new" .
    mv "$cache/debian.new" "$cache/debian.tar"
fi
call "${2#unix://}" POST \
    '/images/create?fromSrc=-&repo=localhost%2Fdebian:1&changes=CMD%20bash' \
    -H 'Content-Type: application/x-tar' -T "$cache/debian.tar" >/dev/null
