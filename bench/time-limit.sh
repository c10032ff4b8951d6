#!/usr/bin/env bash
# Bounds under a time limit, beside busy loops: how long they take, and how far they are above those of an idle machine.
#
#   cargo build --release && bench/time-limit.sh [LOOPS [RUNS]]
#
# Each line: instance, limit, wall-clock time over the limit (the whole process, reading included), bound over the bound
# without a limit less one, and what was given up. Exit 1 if a run takes more than 1.25 times its limit, or if the first
# instance is more than 1e-3 above its idle bound. Nothing else should run on the machine.
set -euo pipefail
cd "$(dirname "$0")/.."
program=target/release/gambeson
loops=${1:-4}
runs=${2:-5}
# Instance, limit in seconds, gap. Limits in which an undisturbed proof fits at least twice.
cases=(
    "qp:4000:1 8 1e-6"
    "qp:500:1 2 1e-6" "qp:2000:1 2 1e-6" "qp:4000:1 4 1e-6" "qp:6000:1 12 1e-4" "qp:8000:1 20 1e-4"
    "psd:1000:1 2 1e-6" "psd:4000:1 6 1e-6"
)

busy=()
trap '[ ${#busy[@]} -eq 0 ] || kill "${busy[@]}" 2>/dev/null || true' EXIT
value() { sed -E "s/.*\"$1\":\"?([^,\"}]*).*/\1/" <<<"$2"; }

failed=0
for case in "${cases[@]}"; do
    read -r instance limit gap <<<"$case"
    idle=$(value upper "$("$program" bound --random "$instance" --gap "$gap" --json || true)")
    busy=()
    for ((k = 0; k < loops; k++)); do
        (while :; do :; done) &
        busy+=($!)
    done
    [ "$instance $limit" = "qp:4000:1 8" ] && count=$runs || count=1
    for ((k = 0; k < count; k++)); do
        started=$EPOCHREALTIME
        json=$("$program" bound --random "$instance" --gap "$gap" --time-limit "$limit" --json || true)
        ended=$EPOCHREALTIME
        upper=$(value upper "$json")
        awk -v name="$instance" -v limit="$limit" -v wall="$started $ended" -v upper="$upper" -v idle="$idle" \
            -v given="$(value given_up "$json")" -v strict="$count" 'BEGIN {
                split(wall, at, " "); part = (at[2] - at[1]) / limit; excess = upper / idle - 1
                printf "%-10s limit %2d s  took %.2f of it  bound %+.1e  given up %s\n", name, limit, part, excess, given
                exit part > 1.25 || (strict > 1 && excess > 1e-3)
            }' || failed=1
    done
    [ "$loops" -eq 0 ] || kill "${busy[@]}"
    wait 2>/dev/null || true
    busy=()
done
exit "$failed"
