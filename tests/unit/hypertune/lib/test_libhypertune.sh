#!/bin/sh
# What a trainer that loads libhypertune.so gets: four functions and libc.
library=$1/../lib/libhypertune.so
failed=0
n=0

check() { # sentence got want
    n=$((n + 1))
    if [ "$2" = "$3" ]; then
        echo "ok $n - $1"
    else
        echo "# got  $2"
        echo "# want $3"
        echo "not ok $n - $1"
        failed=1
    fi
}

check "it exports the functions of hypertune.h and nothing else" \
    "$(nm -D --defined-only "$library" | awk '$2 != "A" { print $3 }' |
        sed 's/@.*//' | sort | tr '\n' ' ')" \
    "hypertune_checkpoint hypertune_flush hypertune_report hypertune_should_stop report_hyperparameter_tuning_metric "
# The sanitizers bring libraries of their own.
check "it needs libc and nothing else" \
    "$(readelf -d "$library" |
        sed -n 's/.*(NEEDED).*\[\(.*\)\]/\1/p' |
        grep -v -e '^lib[a-z]*san\.' -e '^ld-linux' | tr '\n' ' ')" \
    "libc.so.6 "
check "it stays mapped after dlclose, as its thread runs in it" \
    "$(readelf -d "$library" | grep -c NODELETE)" 1
echo "1..$n"
exit $failed
