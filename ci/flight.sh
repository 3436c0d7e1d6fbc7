#!/usr/bin/env bash
# Flies the load of firmware/flight on an emulated Cortex-M4 and an emulated XScale. The image fails if the controller misses a deadline or
# is refused anything. The flight is the same as on this machine: the vehicle's path, and all calls of each process; on other
# heaps, and where interrupts come anywhere, the path. The figures of the table in docs/flight.md are within 5 % of those of 10,000
# periods, but for the flight with interrupts anywhere. On the Cortex-M4 every call of the shared heap is within its static bound, and the
# longest response and period within those that follow from it. `ci/toolchain.sh` fetches what this needs: what cannot be fetched is NOT RUN.
# usage: flight.sh [PERIODS]      10,000, unless another number is given
set -euo pipefail
cd "$(dirname "$0")/.."
periods=${1:-10000} only=${2:-}
folder=$(realpath -m "${SUREFIT_TOOLCHAIN:-target/toolchain}")
host=${CARGO_TARGET_DIR:-} far=0

. ci/fetch.sh
. ci/figures.sh

work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT

# What is the same everywhere: the path, and each process with the sum over its calls.
common() {
  sed -n 's/^vehicle: .*path /path /p' "$1"
  awk 'length($NF) == 8 && $NF !~ /[^0-9a-f]/ && $1 != "vehicle:" { print $1, $NF }' "$1"
}

# on_this_machine WORD: flies.
on_this_machine() {
  cargo run --locked --quiet --release --manifest-path firmware/Cargo.toml -p surefit-flight -- fly "$periods" $1
}

on_this_machine "" >"$work/host"
common "$work/host" >"$work/expected"
[ "$(wc -l <"$work/expected")" -eq 6 ] || { cat "$work/host" && echo "FAILED: no flight on this machine" && exit 1; }

# A flight without the guest: the calls of all others are the same.
on_this_machine alone >"$work/alone"
diff <(common "$work/alone" | grep -v guest) <(grep -v guest "$work/expected") || { echo "FAILED: the guest changes calls of the others" && exit 1; }
on_this_machine collector >"$work/collector"
common "$work/collector" >"$work/expected-collector"
diff <(grep -v mission "$work/expected-collector") <(grep -v mission "$work/expected") || { echo "FAILED: a collector changes calls of the others" && exit 1; }
passed=1

if ! fetch rust || ! fetch boards arm; then
  echo "NOT RUN: the flight on boards ($why)"
  exit 0
fi
export RUSTC=$folder/rustc RUSTC_BOOTSTRAP=1 CARGO_TARGET_DIR=$folder/target CARGO_INCREMENTAL=0
# The lines of the source are for the bound; they change no code.
export CARGO_PROFILE_RELEASE_DEBUG=line-tables-only

# build TARGET [OPTION]: builds the image.
build() {
  local name=${1//-/_}
  export "CARGO_TARGET_${name^^}_LINKER=$folder/arm-none-eabi-ld" "CARGO_TARGET_${name^^}_RUSTFLAGS=-Clinker-flavor=ld "
  (cd firmware && cargo build --locked --quiet --release -Zbuild-std=core --target "$1" -p surefit-flight "${@:2}")
  image=$CARGO_TARGET_DIR/$1/release/surefit-flight
}

# The options of the emulator for a board, and the heap.
options() {
  printf '%s\n' -M "$1" -display none -serial none -monitor none
  printf '%s\n' -semihosting-config "enable=on,target=native,arg=flight,arg=$periods,arg=$2"
  case $1 in
    verdex)
      # It begins in its flash of 32 MiB. An instruction takes 1,024 ns of the emulator's time.
      "$folder/arm-none-eabi-objcopy" -O binary "$image" "$work/flash"
      truncate -s 32M "$work/flash"
      printf '%s\n' -icount shift=10 -drive "if=pflash,format=raw,readonly=on,file=$work/flash"
      ;;
    *) printf '%s\n' -icount shift=8 -kernel "$image" ;;
  esac
}

# The figures of a row of docs/flight.md: the longest response, period, critical section, allocation and free.
figures() {
  sed -n 's/^controller: .*longest response \([0-9]*\) .*/\1/p; s/^period: longest \([0-9]*\) .*/\1/p
    s/^critical section: longest \([0-9]*\) .*/\1/p; s/^calls: longest allocation \([0-9]*\), free \([0-9]*\),.*/\1\n\2/p' "$1"
}

# compare_figures BOARD FLIGHT FIGURES: with that row. What is far off fails at the end.
compare_figures() {
  local page
  page=$(sed -n "s/^| $1 | $2 | //p" docs/flight.md | tr -d ',' | cut -d '|' -f 1-5 | tr '|' '\n')
  paste <(xargs -n 1 <<<"$3") <(xargs -n 1 <<<"$page") | awk 'NF != 2 || $1 > 1.05 * $2 + 2 || $1 < .95 * $2 - 2 { far = 1 } END { exit far || !NR }' ||
    { echo "FAILED: docs/flight.md says of $2 on $1: $(xargs <<<"$page"); counted: $(xargs <<<"$3")" && far=1; }
}

# bounds BOARD LOG: the static bound of an allocation and of a free, and what follows from them: a process runs as long as without the heap
# and in handlers, and makes as many calls as its budget has. No refusal of the guest has a bound: the longest is what the flight found.
bounds() {
  local bounds
  "$folder/arm-none-eabi-objdump" -d "$image" >"$work/listing"
  surefit_bound flight "$image" "$work/listing" >"$work/bounds" || { cat "$work/bounds" && echo "FAILED: the static bounds" && exit 1; }
  cat "$work/bounds"
  bounds=$(awk '
    FILENAME ~ /bounds$/ { if ($1 == "allocation" || $1 == "free") { call[$1] = $2; longest = $2 > longest ? $2 : longest }; next }
    FILENAME ~ /load.txt$/ { if ($1 == "process") calls[$2] = $8; next }
    $1 in calls { most = $1 == "guest" && $12 > longest ? $12 : longest; sum[$1] = $14 + $15 + calls[$1] * most; all += sum[$1] }
    END { print sum["controller"], all, call["allocation"], call["free"] }' "$work/bounds" firmware/flight/load.txt "$2")
  paste <(figures "$2" | sed 3d) <(xargs -n 1 <<<"$bounds") | awk '{ printf "%s ÷ bound %s = %.2f\n", $1, $2, $1 / $2 } NF != 2 || $1 > $2 { above = 1 } END { exit above || NR != 4 }' ||
    { echo "FAILED: response, period, allocation or free is above its bound" && exit 1; }
  compare_figures "$1" bound "$bounds"
}

# flown BOARD HEAP: flies, and prints the log.
flown() {
  local start=$SECONDS log=$work/$1-$2
  mapfile -t emulator < <(options "$1" "$2")
  timeout 14400 "$folder/qemu-system-arm" "${emulator[@]}" >"$log" || { tail -n 20 "$log" && echo "FAILED: the flight on $1, $2" && exit 1; }
  [ -z "${SUREFIT_FLIGHT_LOGS:-}" ] || cp "$log" "$SUREFIT_FLIGHT_LOGS/$1-$2.log"
  echo "-- $1, $2: $periods periods (in $((SECONDS - start)) s)"
  grep -v '^row,' "$log"
  diff <(common "$log" | grep path) <(grep path "$work/expected") || { echo "FAILED: another path than on this machine" && exit 1; }
  # About every 50th period an interrupt comes in the middle of a call.
  [ "$2" != anywhere ] || awk -v periods="$periods" '/^radio: / { inside = $2 } END { exit 200 * inside < periods }' "$log" ||
    { echo "FAILED: hardly an interrupt came in the middle of a call" && exit 1; }
  # Where interrupts come changes with any instruction.
  [ "$periods" -ne 10000 ] || [ "$2" = anywhere ] || compare_figures "$1" "$2" "$(figures "$log")"
  passed=$((passed + 1))
}

for board in mps2-an386:thumbv7em-none-eabihf verdex:armv5te-none-eabi; do
  target=${board#*:} board=${board%:*}
  build "$target" --no-default-features
  flown "$board" compact-fit
  common "$work/$board-compact-fit" | diff - "$work/expected" || { echo "FAILED: another flight than on this machine" && exit 1; }
  "$folder/arm-none-eabi-size" "$image" | awk 'NR == 2 { print $1 + $2 " bytes of flash, " $2 + $3 " of RAM beside the stack" }'
  [ "$board" = verdex ] || bounds "$board" "$work/$board-compact-fit"
  [ "$only" != compact-fit ] || continue
  flown "$board" tlsf
  flown "$board" first-fit
  [ "$board" = verdex ] || flown "$board" anywhere
  build "$target"
  flown "$board" collector
  common "$work/$board-collector" | diff - "$work/expected-collector" || { echo "FAILED: another flight than on this machine" && exit 1; }
done
[ "$far" -eq 0 ] || exit 1
echo "test result: ok. $passed passed; 0 failed; 0 ignored"
