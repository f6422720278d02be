#!/usr/bin/env bash
# The step of tests/run.sh: fixed rounds, which must not differ except as known.tsv lists, and fresh ones, whose seed is
# printed. A difference in fresh rounds is shown, but fails only if the server crashed.
# usage: step.sh PORT REFERENCE_PORT
set -euo pipefail
fuzz=("${SELKIE_PYTHON:-python3}" "$(dirname "$0")/fuzz.py" "$1" "$2")
serious=gone,rows,error
"${fuzz[@]}" --seed 41 --rounds 20 --seconds 30 --only relations --kinds $serious
"${fuzz[@]}" --seed 7 --rounds 25 --seconds 15 --only functions --kinds $serious
"${fuzz[@]}" --seed 3 --rounds 12 --seconds 15 --only sessions --kinds $serious
seed=${SELKIE_SEED:-$RANDOM}
echo "differential: fresh --seed $seed"
timeout 120 "${fuzz[@]}" --seed "$seed" --seconds 25 --kinds $serious --fail-on gone || [ $? -eq 124 ]
