#!/bin/sh
# search.sh BUILD-DIR - measures the search on this machine and writes
# docs/benchmarks.md: speed by results and parameters, of the algorithm alone,
# of a model's likelihood and through REST; then how near it comes to the optima
# of the suite in bench/problems.h, and random draws beside it.
#
#   SEEDS (10), TRIALS (120), PARALLEL (8): of the suite
set -eu

build=$(cd "${1:?usage: bench/search.sh BUILD-DIR}" && pwd)
cd "$(dirname "$0")/.."
seeds=${SEEDS:-10} trials=${TRIALS:-120} parallel=${PARALLEL:-8}
out=$(mktemp)
trap 'rm -f "$out"' EXIT

section() {
    printf '\n## %s\n\n```\n' "$1"
    shift
    "$@"
    printf '```\n'
}

{
    printf '# Benchmarks of the search\n\n'
    printf 'Written by `make bench-search` on %s, %s, one thread.\n' \
        "$(date -u +%Y-%m-%d)" \
        "$(sed -n 's/^model name[^:]*: //p' /proc/cpuinfo | head -n 1)"
    printf 'The keys are explained in bench/bench_search.c, bench_model.c,\n'
    printf 'bench_ask.py and bench_regret.c.\n'
    section 'Time of a suggestion' "$build/bench/bench_search"
    section 'Likelihood with gradient, beside dpotrf' "$build/bench/bench_model"
    section 'Suggestions of a server, through REST' \
        python3 bench/bench_ask.py "$build/bin"
    section "BAYESIAN_SEARCH, $seeds seeds" \
        "$build/bench/bench_regret" BAYESIAN_SEARCH "$seeds" all "$trials"
    section "BAYESIAN_SEARCH, $parallel trials at a time" \
        "$build/bench/bench_regret" BAYESIAN_SEARCH "$seeds" all "$trials" \
        "$parallel"
    section "RANDOM_SEARCH, $seeds seeds" \
        "$build/bench/bench_regret" RANDOM_SEARCH "$seeds" all "$trials"
} | tee "$out"
cp "$out" docs/benchmarks.md
