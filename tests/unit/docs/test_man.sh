#!/bin/sh
# test_man.sh BIN - the manuals are well formed and as the programs are.
set -u

bin=$1
man=docs/man
scratch=$(mktemp -d)
trap 'rm -rf "$scratch"' EXIT
n=0
failed=0

# verdict NAME: the case passed when $scratch/faults is empty.
verdict() {
    n=$((n + 1))
    if [ -s "$scratch/faults" ]; then
        sed 's/^/# /' "$scratch/faults"
        echo "not ok $n - $1"
        failed=1
    else
        echo "ok $n - $1"
    fi
    : >"$scratch/faults"
}
: >"$scratch/faults"

# Flags that a help text lists, with one dash less, as mdoc has them.
flags() {
    grep -oE '(^|[ ,])--[a-z][a-z-]*([^a-z=-]|$)' |
        sed -E 's/.*--([a-z-]+).*/-\1/' | sort -u
}
# The words behind a macro of a page: flags of Fl, commands of Ic.
words() { # PAGE MACRO
    grep -oE "\\b$2 -?[a-z][a-z-]*" "$man/$1" | cut -d' ' -f2 | sort -u
}

# differ WHAT PAGE HELP: neither may have what the other lacks.
differ() {
    comm -23 "$scratch/page" "$scratch/help" |
        sed "s/^/$2 has $1, no help knows: /" >>"$scratch/faults"
    comm -13 "$scratch/page" "$scratch/help" |
        sed "s/^/$2 lacks $1: /" >>"$scratch/faults"
}

if command -v mandoc >/dev/null; then
    for page in "$man"/*.[1-8]; do
        mandoc -T lint -W warning "$page" >>"$scratch/faults" 2>&1
    done
    verdict "mandoc finds no fault"
else
    n=$((n + 1))
    echo "ok $n - mandoc finds no fault # SKIP mandoc is not installed"
fi

commands=$("$bin/hypertune" help | sed -n '/^Studies:/,/^Global/s/^  \([a-z][a-z-]*\) .*/\1/p')
echo "$commands" | sort -u >"$scratch/help"
grep -oE '^\.It Ic [a-z-]+' "$man/hypertune.1" | cut -d' ' -f3 | sort -u \
    >"$scratch/page"
differ command hypertune.1
verdict "hypertune.1 has every command and no other"

for command in $commands; do
    case $command in
    report | checkpoint | should-stop | params | serve | runner) ;; # pages of their own
    *) "$bin/hypertune" help "$command" ;;
    esac
done | flags >"$scratch/help"
words hypertune.1 Fl | grep '^-' >"$scratch/page"
differ flag hypertune.1
verdict "hypertune.1 has every flag and no other"

for command in report checkpoint should-stop params; do
    "$bin/hypertune-trial" help "$command"
done | flags >"$scratch/help"
words hypertune-trial.1 Fl | grep '^-' >"$scratch/page"
differ flag hypertune-trial.1
verdict "hypertune-trial.1 has every flag and no other"

for program in hypertuned hypertune-runner; do
    "$bin/$program" --help | grep '^ *--' | flags >"$scratch/help"
    words "$program.8" Fl | grep '^-' >"$scratch/page"
    differ flag "$program.8"
    verdict "$program.8 has every flag and no other"
done

grep -oE '^ +[a-z_]+;' hypertune/hypertune.map | tr -d ' ;' | sort -u \
    >"$scratch/help"
grep -oE '^\.F[no] [a-z_]+' "$man/libhypertune.3" | cut -d' ' -f2 | sort -u \
    >"$scratch/page"
differ function libhypertune.3
verdict "libhypertune.3 has every exported function and no other"

PYTHONDONTWRITEBYTECODE=1 python3 "$man/spec.py" >"$scratch/spec.5"
if ! diff "$man/hypertune-spec.5" "$scratch/spec.5" >>"$scratch/faults"; then
    echo "renew it: python3 $man/spec.py > $man/hypertune-spec.5" \
        >>"$scratch/faults"
fi
verdict "hypertune-spec.5 says what the grammar says"

echo "1..$n"
exit "$failed"
