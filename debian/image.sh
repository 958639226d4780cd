#!/bin/sh
# image.sh PACKAGE OUT - makes OUT, an OCI image of the server as an archive that
# podman, docker and containerd load, from Debian's packages and PACKAGE, without
# a registry and without an engine. Needs root, debootstrap and apt's mirror. The
# folder build/images, or the one that IMAGES names, keeps the Debian below it.
set -eu
[ $# -eq 2 ] || { echo "usage: image.sh PACKAGE OUT" >&2; exit 2; }
package=$(realpath "$1")
mkdir -p "$(dirname "$2")"
out=$(realpath -m "$2")
cd "$(dirname "$0")/.."
cache=${IMAGES-build/images}
tests/engines/debian.sh "$cache"
cache=$(realpath "$cache")
work=$(mktemp -d)
trap 'rm -rf --one-file-system "$work"' EXIT
root=$work/root layout=$work/layout
mkdir -p "$root" "$layout/blobs/sha256"
tar -C "$root" -xf "$cache/bookworm.tar"
chmod 755 "$root" # the archive has the mode of the folder that it was made in
mkdir -p "$root/dev"

# Packages ask for their programs to be run, and apt for the network as it is here.
cp "$package" "$root/hypertune.deb"
cp -L /etc/resolv.conf "$root/etc/resolv.conf"
apt-config dump | grep -E '^Acquire::(https?|Check)' \
    >"$root/etc/apt/apt.conf.d/90caller" || true
unshare --mount --pid --fork --kill-child sh -euc '
    mount --rbind /dev "$1/dev"
    mount -t proc proc "$1/proc"
    exec chroot "$1" /usr/bin/env -i HOME=/root \
        ${http_proxy+http_proxy="$http_proxy"} \
        ${https_proxy+https_proxy="$https_proxy"} \
        PATH=/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin \
        DEBIAN_FRONTEND=noninteractive sh -euc "$2"' image "$root" '
    apt-get update
    apt-get install -y --no-install-recommends ca-certificates /hypertune.deb
    useradd --uid 10001 --user-group --no-create-home --home-dir /data tuner
    install -d -o tuner -g tuner -m 700 /data
    apt-get clean' >"$work/log" 2>&1 || { tail -n 20 "$work/log" >&2; exit 1; }
rm -rf "$root/hypertune.deb" "$root/etc/apt/apt.conf.d/90caller" \
    "$root"/var/lib/apt/lists/* "$root"/var/log/* "$root"/var/cache/* \
    "$root"/usr/share/doc/* "$root"/usr/share/man/* "$root"/usr/share/locale/*
: >"$root/etc/resolv.conf"

# ---- the archive: OCI's layout, and docker's names in it ----

# add FILE: becomes a blob; prints its digest and size.
add() {
    sum=$(sha256sum "$1" | cut -d' ' -f1)
    mv "$1" "$layout/blobs/sha256/$sum"
    printf '"digest":"sha256:%s","size":%s' "$sum" \
        "$(stat -c %s "$layout/blobs/sha256/$sum")"
}
digest() { printf %s "$1" | cut -d'"' -f4; }
blob() { digest "$1" | sed 's|:|/|; s|^|blobs/|'; }

version=$(dpkg-deb -f "$package" Version)
name=localhost/hypertune:$version
date=$(date -u -d "@${SOURCE_DATE_EPOCH:-$(stat -c %Y "$package")}" +%FT%TZ)
tar -C "$root" --sort=name --numeric-owner --exclude='./dev/*' \
    --exclude='./proc/*' --mtime="$date" --clamp-mtime -cf "$work/layer" .
diff=$(sha256sum "$work/layer" | cut -d' ' -f1)
gzip -n "$work/layer"
layer=$(add "$work/layer.gz")
cat >"$work/config" <<END
{"created":"$date","os":"linux",
"architecture":"$(dpkg-deb -f "$package" Architecture)",
"config":{"User":"10001:10001","WorkingDir":"/data","Volumes":{"/data":{}},
"ExposedPorts":{"8470/tcp":{},"8471/tcp":{},"8472/tcp":{}},
"Env":["PATH=/usr/bin:/bin","HOME=/tmp",
"HYPERTUNE_SERVER=http://127.0.0.1:8470","HYPERTUNE_TOKEN_FILE=/data/token"],
"Entrypoint":["hypertuned","--data","/data","--listen","0.0.0.0:8470",
"--report-listen","tcp://0.0.0.0:8471","--insecure"],
"Cmd":["--runner","none"]},
"rootfs":{"type":"layers","diff_ids":["sha256:$diff"]}}
END
config=$(add "$work/config")
oci=application/vnd.oci.image
cat >"$work/manifest" <<END
{"schemaVersion":2,"mediaType":"$oci.manifest.v1+json",
"config":{"mediaType":"$oci.config.v1+json",$config},
"layers":[{"mediaType":"$oci.layer.v1.tar+gzip",$layer}]}
END
manifest=$(add "$work/manifest")
cat >"$layout/index.json" <<END
{"schemaVersion":2,"manifests":[{"mediaType":"$oci.manifest.v1+json",$manifest,
"annotations":{"io.containerd.image.name":"$name",
"org.opencontainers.image.ref.name":"$version"}}]}
END
echo '{"imageLayoutVersion":"1.0.0"}' >"$layout/oci-layout"
cat >"$layout/manifest.json" <<END
[{"Config":"$(blob "$config")","RepoTags":["$name"],
"Layers":["$(blob "$layer")"]}]
END
tar -C "$layout" --sort=name --numeric-owner --owner=0 --group=0 \
    --mtime="$date" -cf "$out.new" .
mv "$out.new" "$out"
echo "$out: $name"
