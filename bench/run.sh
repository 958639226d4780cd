#!/bin/sh
# run.sh BUILD-DIR - measures this build on this machine, one key=value a line,
# so that two runs can be compared with diff.
set -eu

build=$(cd "${1:?usage: bench/run.sh BUILD-DIR}" && pwd)
here=$(cd "$(dirname "$0")" && pwd)

"$build/bench/bench_search"
"$build/bench/bench_regret"
"$build/bench/bench_report"
"$build/bench/bench_sync" "${TMPDIR:-/tmp}"
python3 "$here/bench_server.py" "$build/bin"
python3 "$here/bench_connections.py" "$build/bin"
python3 "$here/bench_fairness.py" "$build/bin"
python3 "$here/bench_tls.py" "$build/bin"
python3 "$here/bench_metrics.py" "$build/bin"
python3 "$here/bench_entries.py" "$build/bin"
python3 "$here/bench_dashboard.py" "$build/bin"
python3 "$here/bench_backup.py" "$build/bin"
python3 "$here/bench_store.py" "$build/bin"
