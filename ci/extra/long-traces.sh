#!/usr/bin/env bash
# A trace of so many events (10^9 without an argument) is made, checked, summarised and replayed, each in memory that follows its live
# objects. Prints seconds, events a second and peak resident memory of each step, and fails if a step takes more than 256 MiB, or if
# the check takes fewer than 10^7 events a second. The trace takes some three bytes of disk an event, twice while it is made.
set -euo pipefail
cd "$(dirname "$0")/../.."
events=${1:-1000000000}
surefit=${SUREFIT:-}
if [ -z "$surefit" ]; then
  cargo build --locked --release -p surefit-lab
  surefit=$(cargo metadata --format-version 1 --no-deps | sed 's/.*"target_directory":"\([^"]*\)".*/\1/')/release/surefit
fi
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
trace=$folder/long.sft
most_kib=$((256 * 1024))
failed=0

# Runs a step: its name, the fewest events a second, the command.
step() {
  local name=$1 least=$2 before after
  shift 2
  before=$(date +%s%N)
  # The most resident memory of the children that ended, in KiB, is what the shell that waits for one of them is told.
  python3 - "$@" >"$folder/said" <<'PY'
import resource, subprocess, sys
status = subprocess.run(sys.argv[1:], stdout=subprocess.DEVNULL).returncode
print(resource.getrusage(resource.RUSAGE_CHILDREN).ru_maxrss)
sys.exit(status)
PY
  after=$(date +%s%N)
  awk -v name="$name" -v t=$((after - before)) -v n="$events" -v kib="$(cat "$folder/said")" -v most="$most_kib" -v least="$least" '
    BEGIN { s = t / 1e9; printf "%-8s %8.1f s %12.0f events/s %8.1f MiB resident\n", name, s, n / s, kib / 1024
      if (kib > most) { print "FAILED: " name " takes more than " most / 1024 " MiB"; bad = 1 }
      if (n / s < least) { print "FAILED: " name " takes fewer than " least " events a second"; bad = 1 }
      exit bad }' || failed=1
}

step gen 0 "$surefit" gen emacs-paper --allocations $((events / 2)) -o "$trace"
step check 10000000 "$surefit" trace check "$trace"
step stats 0 "$surefit" trace stats "$trace"
step replay 0 "$surefit" replay "$trace" --allocator cf --stream
exit $failed
