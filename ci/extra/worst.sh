#!/usr/bin/env bash
# The worst case of each call of each heap on an emulated Cortex-M4, in instructions (not cycles) and bytes of stack: what a search
# found, and a static bound of the same image (firmware/bound/). A call above its bound fails, and so does a call of what the bound
# leaves out. Prints the table, and compares it with firmware/worst/cortex-m4.csv: a figure that is more than 2 % above or below fails.
# Another compiler makes other code: then the table is only printed. Some nine minutes.
# usage: worst.sh [--write]      --write: writes the file instead
set -euo pipefail
cd "$(dirname "$0")/../.."
folder=$(realpath -m "${SUREFIT_TOOLCHAIN:-target/toolchain}")
host=${CARGO_TARGET_DIR:-}
export CARGO_TARGET_DIR=$folder/target CARGO_INCREMENTAL=0

. ci/fetch.sh
. ci/figures.sh

if ! fetch rust || ! fetch boards arm; then
  echo "NOT RUN: the worst case of each call ($why)"
  exit 0
fi
export RUSTC=$folder/rustc RUSTC_BOOTSTRAP=1
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
worst_image "$work"
new=$work/new.csv

# emulate ARGUMENTS OPTION…: runs the image.
emulate() {
  local arguments=$1 options
  shift
  # An instruction takes 256 ns of the emulator's time: the board's timer ticks 6.4 times.
  options=(-M mps2-an386 -display none -serial none -monitor none -icount shift=8)
  options+=(-semihosting-config "enable=on,target=native,$arguments" -kernel "$image")
  timeout 3600 "$folder/qemu-system-arm" "${options[@]}" "$@"
}

# complete LOG: whether the image came to its end. An emulator that is ended by a signal exits with 0.
complete() { grep -q '^all heaps were searched' <<<"$1"; }

log=$(emulate arg=worst) && complete "$log" || { echo "$log" && echo "FAILED: the image worst" && exit 1; }
grep -v '^csv,' <<<"$log"
{
  echo "heap,event,instructions,bound,per_copied_byte,stack_bytes,compiler"
  sed -n "s/^csv,\([^,]*,[^,]*,[^,]*\),\(.*\)/\1,,\2,$(compiler)/p" <<<"$log"
} >"$new"
surefit_bound bound "$image" "$work/listing" "$new"

# The same calls once more. The emulator logs which of the functions that the bound leaves out run, and in which kind of call.
mkfifo "$work/run"
surefit_bound watched "$work/listing" >"$work/watched"
emulate arg=worst,arg=marks -d in_asm,exec,nochain -dfilter "$(cat "$work/watched")" -D "$work/run" >"$work/log" &
emulator=$!
surefit_bound ran "$work/listing" "$work/run" >"$work/ran"
wait "$emulator" && complete "$(cat "$work/log")" || { cat "$work/log" && echo "FAILED: the image worst, with marks" && exit 1; }
grep '^mark,' "$work/log" >"$work/marks"
surefit_bound obeys "$work/listing" "$work/marks" "$work/ran"

if [ "${1:-}" = --write ]; then
  cp "$new" "$figures"
  chmod 644 "$figures"
  exit
fi
if [ "$(committed)" != "$(compiler)" ]; then
  echo "NOT RUN: the comparison with $figures: it is of $(committed), this is $(compiler)"
  exit 0
fi
compare "$new"
echo "test result: ok. $(($(wc -l <"$new") - 1)) passed; 0 failed; 0 ignored"
