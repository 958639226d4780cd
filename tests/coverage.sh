#!/bin/sh
# coverage.sh BUILD-DIR - lines and branches that the tests took in a build of
# MODE=coverage, for each of FOLDERS; the exit code is 1 below the limits.
#
# Programs that were killed have written nothing, so what tests kill counts less.
# Not counted are branches that no test can take: the failing side of assert().
set -u
LINES=90 BRANCHES=80
FOLDERS="proto tuner hypertune/lib"

[ $# -eq 1 ] || { sed -n '2,7s/^# \{0,1\}//p' "$0" >&2; exit 2; }
cd "$(dirname "$0")/.." || exit 2
failed=0
for folder in $FOLDERS; do
    echo "==== $folder"
    gcovr --root . --object-directory "$1/obj" --filter "$folder/" \
        --exclude-branches-by-pattern '.*\bassert\(.*' \
        --sort-uncovered --print-summary --fail-under-line $LINES \
        --fail-under-branch $BRANCHES "$1/obj/$folder" 2>&1 || failed=1
done
exit $failed
