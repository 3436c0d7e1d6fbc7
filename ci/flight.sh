#!/usr/bin/env bash
# Flies the load of firmware/flight on an emulated Cortex-M4 and an emulated XScale. The image fails if the controller misses a deadline or
# is refused anything. The flight is the same as on this machine: the vehicle's path, and all calls of each process. The figures of
# docs/flight.md are within 5 % of those of 10,000 periods. `ci/toolchain.sh` fetches what this needs: what cannot be fetched is NOT RUN.
# usage: flight.sh [PERIODS]      10,000, unless another number is given
set -euo pipefail
cd "$(dirname "$0")/.."
periods=${1:-10000}
folder=$(realpath -m "${SUREFIT_TOOLCHAIN:-target/toolchain}")

. ci/fetch.sh

work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT

# What is the same everywhere: the path, and each process with the sum over its calls.
common() {
  sed -n 's/^vehicle: .*path /path /p' "$1"
  awk 'length($NF) == 8 && $NF !~ /[^0-9a-f]/ && $1 != "vehicle:" { print $1, $NF }' "$1"
}

cargo run --locked --quiet --release --manifest-path firmware/Cargo.toml -p surefit-flight -- fly "$periods" >"$work/host"
common "$work/host" >"$work/expected"
[ "$(wc -l <"$work/expected")" -eq 6 ] || { cat "$work/host" && echo "FAILED: no flight on this machine" && exit 1; }

# A flight without the guest: the calls of all others are the same.
cargo run --locked --quiet --release --manifest-path firmware/Cargo.toml -p surefit-flight -- fly "$periods" alone >"$work/alone"
diff <(common "$work/alone" | grep -v guest) <(grep -v guest "$work/expected") || { echo "FAILED: the guest changes calls of the others" && exit 1; }
passed=1

if ! fetch rust || ! fetch boards arm; then
  echo "NOT RUN: the flight on boards ($why)"
  exit 0
fi
export RUSTC=$folder/rustc RUSTC_BOOTSTRAP=1 CARGO_TARGET_DIR=$folder/target CARGO_INCREMENTAL=0

# build TARGET: builds the image.
build() {
  local name=${1//-/_}
  export "CARGO_TARGET_${name^^}_LINKER=$folder/arm-none-eabi-ld" "CARGO_TARGET_${name^^}_RUSTFLAGS=-Clinker-flavor=ld "
  (cd firmware && cargo build --locked --quiet --release -Zbuild-std=core --target "$1" -p surefit-flight)
  image=$CARGO_TARGET_DIR/$1/release/surefit-flight
}

# The options of the emulator for a board.
options() {
  printf '%s\n' -M "$1" -display none -serial none -monitor none -semihosting-config "enable=on,target=native,arg=flight,arg=$periods"
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

# The figures of docs/flight.md: the longest response, period and critical section on a board.
figures() {
  sed -n 's/^controller: .*longest response \([0-9]*\) .*/\1/p; s/^period: longest \([0-9]*\) .*/\1/p; s/^critical section: longest \([0-9]*\) .*/\1/p' "$1"
}

compare_figures() {
  local board=$1 page
  page=$(sed -n "s/^| $board | //p" docs/flight.md | tr -d ',' | cut -d '|' -f 1-3 | tr '|' '\n')
  paste <(figures "$work/$board") <(xargs -n 1 <<<"$page") | awk 'NF != 2 || $1 > 1.05 * $2 || $1 < .95 * $2 { exit 1 } END { exit NR != 3 }' ||
    { echo "FAILED: docs/flight.md says of $board: $(xargs <<<"$page"); counted: $(figures "$work/$board" | xargs)" && exit 1; }
}

for board in mps2-an386:thumbv7em-none-eabihf verdex:armv5te-none-eabi; do
  target=${board#*:} board=${board%:*} start=$SECONDS
  build "$target"
  built=$((SECONDS - start))
  mapfile -t emulator < <(options "$board")
  timeout 7200 "$folder/qemu-system-arm" "${emulator[@]}" >"$work/$board" || { tail -n 20 "$work/$board" && echo "FAILED: the flight on $board" && exit 1; }
  echo "-- $board: $periods periods (built in $built s, flown in $((SECONDS - start - built)) s)"
  grep -v '^row,' "$work/$board"
  "$folder/arm-none-eabi-size" "$image" | awk 'NR == 2 { print $1 + $2 " bytes of flash, " $2 + $3 " of RAM beside the stack" }'
  common "$work/$board" | diff - "$work/expected" || { echo "FAILED: another flight than on this machine" && exit 1; }
  [ "$periods" -ne 10000 ] || compare_figures "$board"
  passed=$((passed + 1))
  [ -z "${SUREFIT_FLIGHT_LOGS:-}" ] || cp "$work/$board" "$SUREFIT_FLIGHT_LOGS/$board.log"
done
echo "test result: ok. $passed passed; 0 failed; 0 ignored"
