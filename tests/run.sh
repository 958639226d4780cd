#!/bin/sh
# run.sh BUILD-DIR [NAME...] - runs the tests, some at a time, and counts cases.
#
# A test is a program test_* in BUILD-DIR/tests/{unit,api,browser,google,fault,
# e2e} or in a folder there, or a script test_*.py or .sh in tests/{...}, started
# with BUILD-DIR/bin as its argument. It runs in the source tree, with TMPDIR,
# HOME and HYPERTUNE_STATE in an empty directory of its own, for at most 600 s or
# HYPERTUNE_TEST_SECONDS, and prints TAP. With NAMEs only tests whose path
# contains one of them run, and none that contains one written as -NAME:
# tests/run.sh BUILD-DIR NAME is the way to start one by hand. Only failing tests
# show their output; what a test leaves running is killed.
#
# Tests get the programs of the system whatever shell this is, see env.sh. A case
# says "ok N - NAME # SKIP X is not installed" where it needs a package that not
# every machine has. With HYPERTUNE_TEST_ALL set, that has failed: where all was
# installed, no skip can hide.
#
# Tests that start a Slurm, tests/e2e/test_slurm_*, are left out unless a NAME
# contains "slurm": `make check-slurm` runs them alone, since their daemons take
# the time that other tests measure. HYPERTUNE_TESTS_AT_ONCE: how many run.
set -u
LIMIT=${HYPERTUNE_TEST_SECONDS:-600}
# A make that a test runs has no part in this one's jobs.
unset MAKEFLAGS MFLAGS MAKELEVEL

# Two more than there are processors, since most of a test is waiting; at most
# four, so that what each of them measures of time is not lost.
AT_ONCE=${HYPERTUNE_TESTS_AT_ONCE:-$(($(nproc) < 2 ? 3 : 4))}

source=$(cd "$(dirname "$0")/.." && pwd)

# Every process a test starts has its TMPDIR, also those in other sessions.
left_behind() { # directory -> pids
    grep -lasF "TMPDIR=$1/tmp" /proc/[0-9]*/environ 2>/dev/null |
        cut -d/ -f3
}

# Prints "passed failed skipped" of the TAP in file $1, given the exit code $2.
count() {
    awk -v code="$2" -v all="${HYPERTUNE_TEST_ALL-}" '
        /^ok .*# *[Ss][Kk][Ii][Pp]/ {
            if (all != "" && / is not installed/) missing++; else skipped++
            next
        }
        /^ok /      { passed++ }
        /^not ok /  { failed++ }
        /^1\.\.[0-9]+/ { planned = substr($1, 4) + 0 }
        END {
            if (!planned || planned != passed + failed + skipped + missing ||
                (code != 0 && failed == 0) || (code == 0 && failed > 0))
                failed++
            print passed + 0, failed + missing + 0, skipped + 0
        }' "$1"
}

run_one() { # build results test
    name=${3#"$1/tests/"}
    name=${name#"$source/tests/"}
    results=$2
    case $3 in
    *.py)
        # Its own imports alone: tests/lib/tap.py takes it out again.
        set -- env "PYTHONPATH=$source/tests/lib:$source/hypertune/python" \
            python3 "$3" "$1/bin"
        ;;
    *.sh) set -- sh "$3" "$1/bin" ;;
    *) set -- "$3" "$1/bin" ;;
    esac
    dir=$(mktemp -d "${TMPDIR:-/tmp}/ht-test.XXXXXX")
    mkdir "$dir/tmp" "$dir/home" "$dir/state"
    code=0
    began=$(date +%s)
    "$source/tests/env.sh" env -u HYPERTUNE_SERVER -u HYPERTUNE_TOKEN_FILE \
        -u HYPERTUNE_REPORT_FILE -u HYPERTUNE_REPORT_URL TMPDIR="$dir/tmp" \
        HOME="$dir/home" HYPERTUNE_STATE="$dir/state" PYTHONDONTWRITEBYTECODE=1 \
        timeout -k 5 "$LIMIT" "$@" >"$dir/output" 2>&1 </dev/null || code=$?
    took=$(($(date +%s) - began))
    left=$(left_behind "$dir")
    [ -z "$left" ] || kill -9 $left 2>/dev/null
    tally=$(count "$dir/output" "$code")
    echo "$tally $name" >>"$results"
    {
        case $tally in
        *" 0 "*)
            echo "ok    $name (${tally%% *}, $took s)"
            grep -iE '^ok .*# *skip' "$dir/output" | sed 's/^/      /'
            ;;
        *)
            echo "FAIL  $name (exit $code)"
            [ "$code" -ne 124 ] || echo "      stopped after $LIMIT s"
            sed 's/^/      /' "$dir/output"
            [ "$code" -ne 0 ] || [ -z "${HYPERTUNE_TEST_ALL-}" ] ||
                echo "      (with HYPERTUNE_TEST_ALL all has to be installed)"
            ;;
        esac
        [ -z "$left" ] || echo "      left running and killed:" $left
    } >"$dir/shown"
    cat "$dir/shown" # in one piece, the other test prints too
    rm -rf "$dir"
}

# Whether a test is to run; says so when it was left out.
is_wanted() { # test NAME...
    path=${1#"$build/tests/"}
    path=${path#"$source/tests/"}
    shift
    chosen=all
    for name in "$@"; do
        case $name in
        -*)
            case $path in
            *"${name#-}"*)
                echo "skip  $path (left out)" >&2
                return 1
                ;;
            esac
            ;;
        *)
            [ $chosen != all ] || chosen=none
            case $path in *"$name"*) chosen=this ;; esac
            ;;
        esac
    done
    [ $chosen != none ] || return 1
    case "$path $*" in
    e2e/test_slurm_*" "*slurm*) ;;
    e2e/test_slurm_*)
        echo "skip  $path (left out, see make check-slurm)" >&2
        return 1
        ;;
    esac
}

if [ "${1-}" = --one ]; then
    run_one "$2" "$3" "$4"
    exit 0
fi
[ $# -ge 1 ] || { echo "usage: tests/run.sh BUILD-DIR [NAME...]" >&2; exit 2; }
build=$(cd "$1" && pwd) || exit 2
shift

cd "$source" || exit 2
results=$(mktemp)
trap 'rm -f "$results"' EXIT
# The long ones first, so that no worker waits alone at the end.
for kind in fault e2e google browser api unit; do
    {
        find "$build/tests/$kind" -type f -name 'test_*' ! -name '*.d'
        find "tests/$kind" -type f \( -name 'test_*.py' -o -name 'test_*.sh' \) |
            sed "s#^#$source/#"
    } 2>/dev/null | sort | while read -r test; do
        is_wanted "$test" "$@" && echo "$test"
    done
done | xargs -P "$AT_ONCE" -I TEST "$0" --one "$build" "$results" TEST

awk '{ passed += $1; failed += $2; skipped += $3 }
     END { printf "%d passed, %d failed, %d skipped\n", passed, failed, skipped
           exit failed > 0 || passed + skipped == 0 }' "$results"
