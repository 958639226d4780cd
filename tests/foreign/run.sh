#!/bin/sh
# run.sh NAME [FOLDER...] - tries our part of a library that is not in Debian:
# lightning, transformers or keras, with the Python packages in the FOLDERs.
# BUILD is the folder of the build, build/gcc-release unless it is set.
set -eu
[ $# -gt 0 ] || { sed -n '2,4s/^# //p' "$0" >&2; exit 2; }
root=$(cd "$(dirname "$0")/../.." && pwd)
name=$1
shift
path=$root/hypertune/python
for folder; do
    path=$path:$(cd "$folder" && pwd)
done
folder=$(mktemp -d "${TMPDIR:-/tmp}/ht-foreign.XXXXXX")
mkdir "$folder/home"
code=0
"$root/tests/env.sh" env -u HYPERTUNE_SERVER -u HYPERTUNE_TOKEN_FILE \
    TMPDIR="$folder" HOME="$folder/home" HYPERTUNE_STATE="$folder/state" \
    FOREIGN_PATH="$path" PYTHONDONTWRITEBYTECODE=1 \
    PYTHONPATH="$root/tests/lib:$root/hypertune/python" \
    timeout -k 5 500 python3 "$root/tests/foreign/check.py" \
    "${BUILD:-$root/build/gcc-release}/bin" "$name" || code=$?
rm -rf "$folder"
exit $code
