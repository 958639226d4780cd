#!/bin/sh
# train.sh --level=A --trend=B --damping=D - forecasts the flow of the Nile one
# year ahead by damped exponential smoothing and reports the mean error.
set -eu

for word in "$@"; do
    case $word in
    --level=*) level=${word#*=} ;;
    --trend=*) trend=${word#*=} ;;
    --damping=*) damping=${word#*=} ;;
    *) echo "train.sh: what is $word?" >&2; exit 2 ;;
    esac
done

# The first 20 years are there to warm up. A line for every 10 years after.
awk -v a="$level" -v b="$trend" -v d="$damping" '
    NR == 1 { flow = $2; slope = 0; next }
    {
        forecast = flow + d * slope
        miss = $2 - forecast
        if (NR > 20) { sum += miss < 0 ? -miss : miss; n++ }
        flow = forecast + a * miss
        slope = d * slope + a * b * miss
    }
    n > 0 && n % 10 == 0 { print $1, sum / n }
' nile.txt | while read -r year error; do
    hypertune report "error=$error" --step "$year"
done
