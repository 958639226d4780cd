#!/bin/sh
# check.sh PACKAGE - installs the package as root, tunes something with it as
# an ordinary user, reads its manual, removes it again. For throwaway machines.
set -eu
package=$(realpath "$1")
failed=0 n=0

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

tune() {
    home=$(mktemp -d)
    chown nobody "$home"
    setpriv --reuid=nobody --regid=nogroup --clear-groups \
        env -i HOME="$home" PATH=/usr/bin:/bin sh -c '
        cd && hypertune run --name tryout --minimize loss --param x=0..1.0 \
            -n 4 -- sh -c "hypertune report loss=\${1#--x=}" trial &&
        hypertune best tryout -o args | grep -q -- --x= &&
        python3 -c "import hypertune; hypertune.Client().study(\"tryout\")" &&
        pid=$(sed -n "s/.*\"pid\": *\([0-9]*\).*/\1/p" \
            .local/state/hypertune/server.json) && kill "$pid"'
    status=$?
    rm -rf "$home"
    return $status
}

removed() {
    apt-get purge -y hypertune && ! command -v hypertune &&
        [ ! -e /lib/systemd/system/hypertuned.service ]
}

export DEBIAN_FRONTEND=noninteractive
ok "lintian finds no error" lintian --fail-on error "$package"
ok "it installs with its dependencies" \
    apt-get install -y --no-install-recommends "$package"
ok "an ordinary user tunes with it" tune
ok "the library is found by pkg-config" pkg-config --exists hypertune
ok "it can be removed without a trace" removed
echo "$((n - failed)) passed, $failed failed"
[ "$failed" -eq 0 ]
