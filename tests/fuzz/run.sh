#!/bin/sh
# run.sh BUILD-DIR SECONDS [NAME...] - fuzzes every tests/fuzz/fuzz_NAME.c.
#
# Each target is built with clang, libFuzzer and the address and undefined
# sanitizers, our own sources instrumented, and runs for SECONDS from the seeds
# in tests/fuzz/corpus/NAME with the words of corpus/NAME.dict. A target that
# needs more than libproto names it in a line "fuzz-with: LIBRARY...". Inputs
# that break it are kept in BUILD-DIR/fuzz/found; then the exit code is 1. As
# many run at once as there are processors.
set -u

[ $# -ge 2 ] || {
    sed -n '2,9s/^# \{0,1\}//p' "$0" >&2
    exit 2
}
cd "$(dirname "$0")/../.." || exit 2
unset MAKEFLAGS MFLAGS MAKELEVEL # of a make that started this
build=$1/fuzz seconds=$2
shift 2
scratch=$(mktemp -d) || exit 2
trap 'rm -rf "$scratch"' EXIT
found=$build/found
libs="-lcjson -lyaml -lgnutls -lnettle -lsqlite3 -lmicrohttpd -lnng -lpcre2-8 -lcurl -lopenblas
  -lgsl -lz -lpthread -lm"

# build_target NAME - leaves the program in $scratch/NAME.
build_target() {
    archives=
    for library in $(sed -n 's/.*fuzz-with: *\([a-z ]*\).*/\1/p' \
        "tests/fuzz/fuzz_$1.c") proto; do
        archives="$archives $build/lib/lib$library.a"
    done
    # shellcheck disable=SC2086 # lists of words
    make -s -j"$(nproc)" CC=clang MODE=debug SAN=fuzzer-no-link,address,undefined \
        B="$build" $archives >&2 &&
        clang -std=c17 -g -O1 -I. -D_GNU_SOURCE \
            -fsanitize=fuzzer,address,undefined -fno-sanitize-recover=all \
            -o "$scratch/$1" "tests/fuzz/fuzz_$1.c" $archives \
            -Wl,--as-needed $libs
}

# run_target NAME
run_target() {
    seeds=$scratch/$1.seeds
    mkdir -p "$seeds" "$found"
    cp tests/fuzz/corpus/"$1"/* "$seeds"/ 2>/dev/null
    name=$1
    set --
    [ ! -f "tests/fuzz/corpus/$name.dict" ] ||
        set -- "-dict=tests/fuzz/corpus/$name.dict"
    "$scratch/$name" "$@" -max_total_time="$seconds" -timeout=5 \
        -rss_limit_mb=1024 -max_len=8192 -print_final_stats=1 \
        -artifact_prefix="$found/$name-" "$seeds" >"$scratch/$name.log" 2>&1
    code=$?
    runs=$(sed -n 's/^stat::number_of_executed_units: *//p' "$scratch/$name.log")
    if [ "$code" -eq 0 ]; then
        echo "fuzz_$name: ok, ${runs:-0} runs in $seconds s"
        return 0
    fi
    tail -n 60 "$scratch/$name.log"
    echo "fuzz_$name: FOUND something, the input is in $found"
    return 1
}

if [ $# -eq 0 ]; then
    for source in tests/fuzz/fuzz_*.c; do
        name=${source#tests/fuzz/fuzz_}
        set -- "$@" "${name%.c}"
    done
fi
failed=0 built=
for target in "$@"; do
    if build_target "$target"; then
        built="$built $target"
    else
        echo "fuzz_$target: does not build"
        failed=1
    fi
done
# All take as long, so as many as there are processors end together.
at_once=0
for target in $built; do
    { run_target "$target" || : >"$scratch/failed"; } &
    at_once=$(((at_once + 1) % $(nproc)))
    [ $at_once -ne 0 ] || wait
done
wait
[ ! -e "$scratch/failed" ] || failed=1
exit $failed
