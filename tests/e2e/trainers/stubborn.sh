#!/bin/sh
# Does not end when it is asked to; nor does its child.
trap '' TERM
hypertune report accuracy=0.5 --step 1
echo "ready"
while :; do
    sleep 60 &
    wait
done
