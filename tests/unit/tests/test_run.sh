#!/bin/sh
# The runner of all tests must not take silence, death or delay for success.
set -u
unset PYTHON HYPERTUNE_TEST_ALL

here=$(cd "$(dirname "$0")/../.." && pwd)
build=$(mktemp -d)
trap 'rm -rf "$build"' EXIT
cases=0
failures=0

fake() { # name, then the body of a test program on stdin
    mkdir -p "$build/tests/unit"
    { echo '#!/bin/sh'; cat; } >"$build/tests/unit/test_fake_$1"
    chmod +x "$build/tests/unit/test_fake_$1"
}

# expect "case name" NAMES "PASSED FAILED SKIPPED" EXIT [TEXT THAT IS SHOWN]
expect() {
    cases=$((cases + 1))
    output=$("$here/run.sh" "$build" $2 2>&1)
    code=$?
    want=$(printf '%d passed, %d failed, %d skipped' $3)
    if [ "$(echo "$output" | tail -n 1)" = "$want" ] && [ $code -eq "$4" ] &&
        echo "$output" | grep -qF -- "${5-}"; then
        echo "ok $cases - $1"
    else
        failures=$((failures + 1))
        echo "$output" | sed 's/^/# /'
        echo "not ok $cases - $1"
    fi
}

fake good <<'END'
echo "ok 1 - a"; echo "ok 2 - b # skip: no engine"; echo 1..2
END
fake bad <<'END'
echo "# the cause"; echo "not ok 1 - a"; echo "ok 2 - b"; echo 1..2; exit 1
END
fake unplanned <<'END'
echo "ok 1 - a"
END
fake short <<'END'
echo "ok 1 - a"; echo 1..2
END
fake death <<'END'
echo "ok 1 - a"; echo 1..1; kill -SEGV $$
END
fake liar <<'END'
echo "not ok 1 - a"; echo 1..1
END
fake empty <<'END'
[ -z "$(ls -A "$TMPDIR" "$HOME" "$HYPERTUNE_STATE" | grep -v :)" ] &&
[ -z "${HYPERTUNE_SERVER-}" ] && echo "ok 1 - a" && echo 1..1
END
fake missing <<'END'
echo "ok 1 - a"; echo "ok 2 - b # SKIP R is not installed"; echo 1..2
END
fake nothing <<'END'
echo "1..0 # skip: no engine"
END
fake python <<'END'
[ "$(command -v python3)" = "$WANTED" ] && echo "ok 1 - a"
python3 -c 0 && echo "ok 2 - b"
[ -z "${PYTHONHOME-}${VIRTUAL_ENV-}${CONDA_PREFIX-}" ] && echo "ok 3 - c"
command -v conda || echo "ok 4 - d"
echo 1..4
END
fake litter <<'END'
setsid sleep 300 >/dev/null 2>&1 &
# In the middle of an exec a process has a new name before its environment.
until grep -q sleep /proc/$!/comm && grep -q . /proc/$!/environ; do :; done
echo "ok 1 - a"; echo 1..1
END

expect "passed and skipped cases are counted" test_fake_good \
    "1 0 1" 0
expect "a skip is shown" test_fake_good "1 0 1" 0 \
    "b # skip: no engine"
expect "failed cases fail and are shown" test_fake_bad "1 1 0" 1 \
    "# the cause"
expect "a missing plan fails" test_fake_unplanned "1 1 0" 1
expect "a missing case fails" test_fake_short "1 1 0" 1
expect "a death after the plan fails" test_fake_death "1 1 0" 1
expect "a plan without cases fails" test_fake_nothing "0 1 0" 1
expect "not ok fails whatever the exit code" test_fake_liar "0 2 0" 1
expect "no tests at all fail" test_fake_absent "0 0 0" 1
export HYPERTUNE_SERVER=http://127.0.0.1:1
expect "a test has empty folders and no server" test_fake_empty "1 0 0" 0
expect "what is left running is killed and named" test_fake_litter \
    "1 0 0" 0 "left running and killed"
expect "what is not wanted is left out and named" \
    "test_fake_good test_fake_bad -fake_bad" "1 0 1" 0 \
    "skip  unit/test_fake_bad (left out)"

expect "a skip of what is not installed is shown" test_fake_missing "1 0 1" 0 \
    "b # SKIP R is not installed"
export HYPERTUNE_TEST_ALL=1
expect "a skip of what had to be installed fails" test_fake_missing "1 1 0" 1 \
    "HYPERTUNE_TEST_ALL"
expect "other skips do not" test_fake_good "1 0 1" 0
unset HYPERTUNE_TEST_ALL

# The same of container engines, which no test can bring with it.
mkdir "$build/few"
ln -s "$(command -v dirname)" "$build/few"
printf '#!/bin/sh\necho 0\n' >"$build/few/id"
chmod +x "$build/few/id"
cases=$((cases + 1))
output=$(HYPERTUNE_TEST_ALL=1 PATH=$build/few /bin/sh "$here/engines/run.sh" \
    "$build" 2>&1) && output="it succeeded: $output"
case $output in
dockerd\ is\ not\ installed*) echo "ok $cases - nor one of container engines" ;;
*)
    failures=$((failures + 1))
    echo "# $output"
    echo "not ok $cases - nor one of container engines"
    ;;
esac

# Another python3 that is first in PATH, as pyenv and conda place theirs.
mkdir "$build/conda" "$build/given"
printf '#!/bin/sh\nexit 1\n' | tee "$build/conda/conda" >"$build/conda/python3"
printf '#!/bin/sh\nexit 0\n' >"$build/given/python3"
chmod +x "$build"/conda/* "$build/given/python3"
path=$PATH
export PATH="$build/conda:$PATH" PYTHONHOME="$build/conda" \
    VIRTUAL_ENV="$build/conda" CONDA_PREFIX="$build/conda"
export WANTED=/usr/bin/python3
expect "another python3 first in PATH changes nothing" test_fake_python "4 0 0" 0
export WANTED="$build/given/python3" PYTHON="$build/given/python3"
expect "unless PYTHON names one" test_fake_python "4 0 0" 0
export PYTHON=$build/conda/conda
expect "which has that name" test_fake_python "0 1 0" 1 "is not called python3"
export PYTHON=$build/absent
expect "and is there" test_fake_python "0 1 0" 1 "there is no $build/absent"
unset PYTHON PYTHONHOME VIRTUAL_ENV CONDA_PREFIX
PATH=$path

# A clock of the test's own: seven seconds pass between two looks at it.
mkdir "$build/clock"
echo 100 >"$build/clock/now"
cat >"$build/clock/date" <<END
#!/bin/sh
now=\$(cat "$build/clock/now")
echo "\$now"
echo \$((now + 7)) >"$build/clock/now"
END
chmod +x "$build/clock/date"
PATH=$build/clock:$PATH
expect "prints the seconds" test_fake_good "1 0 1" 0 \
    "unit/test_fake_good (1, 7 s)"
echo "1..$cases"
exit $((failures > 0))
