#!/bin/sh
# slurm.sh BUILD-DIR [NAME...] - runs the tests that need a Slurm: all on that
# of this machine, and those in which versions differ on Slurm 24.11 besides,
# see slurm-24.11.sh. With NAMEs only tests whose path contains one of them run,
# on both.
#
# Where 24.11 cannot be had, a line that begins with "skip" says why, and that
# is no failure.
set -u
here=$(cd "$(dirname "$0")" && pwd)
[ $# -ge 1 ] || { echo "usage: slurm.sh BUILD-DIR [NAME...]" >&2; exit 2; }
build=$(cd "$1" && pwd) || exit 2
shift

work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT

# on VERSION TEST...: prints what they say, and keeps it for the sum.
on() {
    version=$1
    shift
    echo "on Slurm $version:"
    {
        HYPERTUNE_TESTS_AT_ONCE=3 HYPERTUNE_TEST_SECONDS=1200 \
            "$here/../run.sh" "$build" "$@" 2>&1 || : >"$work/failed"
    } | tee "$work/said.$version"
}

unset HT_SLURM
if [ $# -gt 0 ]; then
    on here "$@"
else
    on here e2e/test_slurm_
    set -- e2e/test_slurm_options e2e/test_slurm_rest e2e/test_slurm_trials \
        e2e/test_slurm_ways
fi
if why=$("$here/slurm-24.11.sh" "$build/slurm-24.11" 2>&1); then
    export HT_SLURM="$build/slurm-24.11"
    on 24.11 "$@"
else
    echo "skip: Slurm 24.11 cannot be had:" $why
    echo "0 passed, 0 failed, 1 skipped" >"$work/said.24.11"
fi
awk '/^[0-9]+ passed, / { passed += $1; failed += $3; skipped += $5 }
     END { printf "%d passed, %d failed, %d skipped\n",
                  passed, failed, skipped }' "$work"/said.*
[ ! -e "$work/failed" ]
