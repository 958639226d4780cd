#!/bin/sh
# inside.sh WHEEL - in a bare Debian with python3-venv: installs the wheel without
# a network and runs the main job with it, as tests/wheel.sh has it.
set -u
wheel=$1 n=0 failed=0
cd "$(mktemp -d)" || exit 1

ok() { # sentence command...
    sentence=$1
    shift
    n=$((n + 1))
    if said=$("$@" 2>&1); then
        echo "ok $n - $sentence"
    else
        failed=$((failed + 1))
        echo "$said" | sed 's/^/# /'
        echo "not ok $n - $sentence"
    fi
}

install_it() {
    python3 -m venv v && v/bin/pip install -q --no-index "$wheel"
}

bare() { # nothing that a build would bring
    ! command -v gcc && ! ls /usr/lib/*/libgsl* /usr/lib/*/libnng*
}

tune() {
    cat >train.py <<'PYTHON'
import sys

import hypertune

rate = float(sys.argv[1].split("=")[1])
for step in range(3):
    hypertune.report(step=step, loss=abs(rate - 0.3) + 1 / (1 + step))
PYTHON
    v/bin/hypertune run --name digits --minimize loss --param rate=0..1.0 \
        -n 8 -p 2 -- python3 train.py &&
        v/bin/hypertune best digits -o args | grep -q -- --rate= &&
        v/bin/hypertune trials digits --state succeeded -o name | wc -l |
        grep -qx 8
}

notebook() { # its programs are found without an activated environment
    env HYPERTUNE_STATE="$PWD/other" v/bin/python -c '
import hypertune
study = hypertune.Client().create_study(
    "q", "loss", "MINIMIZE", [hypertune.Double("x", 0, 1)])
for trial in study.ask(3):
    trial.complete((trial.params["x"] - 0.3) ** 2)
assert study.best_trial.value < 1'
}

doctor() {
    v/bin/hypertune doctor -o json >found
    ! grep -q '"fail"' found || { cat found; return 1; }
}

manual() { v/bin/hypertune help run | grep -q usage; }

removed() {
    v/bin/pip uninstall -q -y hypertune && [ ! -e v/bin/hypertune ] &&
        [ ! -e v/lib/hypertune/libs ]
}

ok "the Debian is bare" bare
ok "pip installs it without a network" install_it
ok "hypertune run tunes a trainer" tune
ok "a client starts a server of its own" notebook
ok "doctor finds nothing that fails" doctor
ok "help is there" manual
ok "pip removes it whole" removed
for server in "$HOME"/.local/state/hypertune other; do
    kill "$(sed -n 's/.*"pid": *\([0-9]*\).*/\1/p' "$server/server.json")"
done
echo "1..$n"
echo "$((n - failed)) passed, $failed failed"
[ "$failed" -eq 0 ]
