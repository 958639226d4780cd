#!/bin/sh
# images.sh CACHE [SOCKET...] - gives engines the two images that tests use, made
# from Debian packages alone, without a registry:
#   localhost/tiny:1  busybox with its applets, 2 MB
#   localhost/py:1    the same and Debian's Python 3 without pip, 45 MB
# CACHE keeps them as archives for the next time.
set -eu
. "$(dirname "$0")/lib.sh"
[ $# -ge 1 ] || { echo "usage: images.sh CACHE [SOCKET...]" >&2; exit 2; }
mkdir -p "$1" && cache=$(cd "$1" && pwd)
shift

PYTHON="libc6 libgcc-s1 libexpat1 zlib1g libssl3 libbz2-1.0 liblzma5 libffi8
    libuuid1 libsqlite3-0 python3.11-minimal libpython3.11-minimal libpython3.11-stdlib"

archive() { # folder name
    tar -C "$1" --sort=name --numeric-owner --owner=0 --group=0 \
        -cf "$cache/$2.new" .
    mv "$cache/$2.new" "$cache/$2"
}

fetch() { # folder, packages of Debian go there
    cd "$1"
    # As root apt-get would become _apt, which cannot enter our folder.
    apt-get -q -o APT::Sandbox::User=root download busybox-static $PYTHON \
        >/dev/null
}

make() {
    work=$(mktemp -d)
    trap 'rm -rf "$work"' EXIT
    mkdir "$work/debs" "$work/root"
    (fetch "$work/debs") || { apt-get -q update >/dev/null; (fetch "$work/debs"); }
    root=$work/root
    chmod 755 "$root"
    for folder in bin etc root work var/tmp proc sys dev; do
        mkdir -p "$root/$folder"
    done
    mkdir "$root/tmp"
    chmod 1777 "$root/tmp" "$root/var/tmp"
    dpkg --fsys-tarfile "$work"/debs/busybox-static_*.deb |
        tar -C "$root" -xf - ./bin/busybox
    for applet in $("$root/bin/busybox" --list); do
        [ -e "$root/bin/$applet" ] || ln -s busybox "$root/bin/$applet"
    done
    printf '%s\n' 'root:x:0:0:root:/root:/bin/sh' \
        'nobody:x:65534:65534:nobody:/:/bin/false' >"$root/etc/passwd"
    printf '%s\n' root:x:0: nogroup:x:65534: >"$root/etc/group"
    archive "$root" tiny.tar

    # Debian's packages expect these folders to be one with those of /usr.
    mkdir -p "$root/usr/bin" "$root/usr/lib" "$root/usr/lib64"
    ln -s usr/lib "$root/lib"
    ln -s usr/lib64 "$root/lib64"
    for package in "$work"/debs/*.deb; do
        case $package in */busybox*) continue ;; esac
        dpkg --fsys-tarfile "$package" | tar -C "$root" -xf - \
            --keep-directory-symlink --exclude='./usr/share/*'
    done
    ln -s python3.11 "$root/usr/bin/python3"
    archive "$root" py.tar
    rm -rf "$work"
    trap - EXIT
}

load() { # socket archive repository command
    # Podman overlooks the parameter for the tag: it is in the name.
    query="fromSrc=-&repo=$3:1&changes=CMD%20$4"
    query="$query&changes=ENV%20PATH%3D/usr/local/bin:/usr/bin:/bin"
    call "$1" POST "/images/create?$query" -T "$cache/$2" \
        -H 'Content-Type: application/x-tar' >/dev/null
}

[ "$cache/py.tar" -nt "$0" ] || make
for socket in "$@"; do
    socket=${socket#unix://}
    load "$socket" tiny.tar localhost%2Ftiny '%5B%22sh%22%5D'
    load "$socket" py.tar localhost%2Fpy '%5B%22python3%22%5D'
done
