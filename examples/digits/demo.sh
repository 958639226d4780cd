#!/bin/sh
# demo.sh BUILD-DIR [OPTION...] - tunes the digits network in 40 trials with
# its own server, then trains the best one again from its flags and tests
# it. Options go to `hypertune run`: -n 10 makes it shorter.
set -eu

build=$(cd "${1:?usage: demo.sh BUILD-DIR [OPTION...]}" && pwd)
shift
cd "$(dirname "$0")"
PATH=$build/bin:$PATH
data=$(mktemp -d "${TMPDIR:-/tmp}/hypertune-demo.XXXXXX")
export PATH HYPERTUNE_STATE="$data"
unset HYPERTUNE_SERVER HYPERTUNE_TOKEN_FILE

# Ends the server this script has started, and waits until it has ended.
end_server() {
    pid=$(sed -n 's/.*"pid": *\([0-9][0-9]*\).*/\1/p' "$data/server.json" \
        2>/dev/null) || return 0
    [ -n "$pid" ] && kill "$pid" 2>/dev/null || return 0
    for _ in $(seq 100); do
        kill -0 "$pid" 2>/dev/null || return 0
        sleep 0.1
    done
    echo "demo: server $pid does not end" >&2
}
trap 'end_server; rm -rf "$data"' EXIT
trap 'exit 130' INT
trap 'exit 143' TERM

hypertune run --data "$data" "$@" spec.yaml
flags=$(hypertune best digits -o args)
command=$(sed -n 's/^command: \[\(.*\)\]$/\1/p' spec.yaml | tr -d ,)

echo
echo "Training it again from its flags, then testing it on images that no"
echo "trial has seen:"
echo
echo "  cd $(pwd) && $build/bin/$command $flags"
# shellcheck disable=SC2086 # both are lists of words
$command $flags | tail -n 2 | sed 's/^/  /'
