#!/bin/sh
# Says that it was asked to end and does not; nor does its child.
trap 'echo "asked to end"' TERM
hypertune report accuracy=0.5 --step 1
echo "ready"
while :; do
    (trap '' TERM && exec sleep 60) &
    wait
done
