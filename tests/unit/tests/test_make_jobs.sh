#!/bin/sh
# A build uses all processors, unless -j or several targets say otherwise.
set -u
cd "$(dirname "$0")/../../.."
cases=0
failures=0

# expect NAME WANTED GOALS-AND-FLAGS...: the jobs that make gives itself.
expect() {
    cases=$((cases + 1))
    name=$1
    want=$2
    shift 2
    got=$(make -npr "$@" 2>/dev/null | grep -a '^MAKEFLAGS' |
        grep -oE -e '-j[0-9]+')
    if [ "$got" = "$want" ]; then
        echo "ok $cases - $name"
    else
        failures=$((failures + 1))
        echo "# got '$got', want '$want'"
        echo "not ok $cases - $name"
    fi
}

expect "one target has all processors" "-j$(nproc)" help
expect "a number that is given counts" -j3 -j3 help
expect "several targets keep their order" "" help rooms
MAKEFLAGS=-j5
export MAKEFLAGS
expect "so does that of the environment" -j5 help
echo "1..$cases"
[ $failures -eq 0 ]
