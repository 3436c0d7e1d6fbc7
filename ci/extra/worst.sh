#!/usr/bin/env bash
# The worst case of each call of each heap on an emulated Cortex-M4, in instructions (not cycles) and bytes of stack. Prints the
# table, and compares it with firmware/worst/cortex-m4.csv: a figure that is more than 2 % above or below fails. Another compiler
# makes other code: then the table is only printed.
# usage: worst.sh [--write]      --write: writes the file instead
set -euo pipefail
cd "$(dirname "$0")/../.."
folder=$(realpath -m "${SUREFIT_TOOLCHAIN:-target/toolchain}")
export CARGO_TARGET_DIR=$folder/target CARGO_INCREMENTAL=0
target=thumbv7em-none-eabihf
figures=firmware/worst/cortex-m4.csv

. ci/fetch.sh

if ! fetch rust || ! fetch boards arm; then
  echo "NOT RUN: the worst case of each call ($why)"
  exit 0
fi
export RUSTC=$folder/rustc RUSTC_BOOTSTRAP=1
export CARGO_TARGET_THUMBV7EM_NONE_EABIHF_LINKER=$folder/arm-none-eabi-ld
export CARGO_TARGET_THUMBV7EM_NONE_EABIHF_RUSTFLAGS="-Clinker-flavor=ld "
(cd firmware && cargo build --locked --quiet --release -Zbuild-std=core --target $target --features worst --bin worst)

new=$(mktemp)
trap 'rm -f "$new"' EXIT
# An instruction takes 256 ns of the emulator's time: the board's timer ticks 6.4 times.
options=(-M mps2-an386 -display none -serial none -monitor none -icount shift=8)
options+=(-semihosting-config "enable=on,target=native,arg=worst" -kernel "$CARGO_TARGET_DIR/$target/release/worst")
log=$(timeout 400 "$folder/qemu-system-arm" "${options[@]}") || { echo "$log" && echo "FAILED: the image worst" && exit 1; }
grep -v '^csv,' <<<"$log"
compiler=$("$RUSTC" --version | cut -d ' ' -f 1,2)
{
  echo "heap,event,instructions,per_copied_byte,stack_bytes,compiler"
  sed -n "s/^csv,\(.*\)/\1,$compiler/p" <<<"$log"
} >"$new"

if [ "${1:-}" = --write ]; then
  cp "$new" "$figures"
  chmod 644 "$figures"
  exit
fi
former=$(sed -n '2s/.*,//p' "$figures")
if [ "$former" != "$compiler" ]; then
  echo "not compared: $figures is of $former, this is $compiler"
  exit 0
fi
awk -F , -v file="$figures" '
  function differs(old, new) { return new > 1.02 * old || new < 0.98 * old }
  FNR == 1 { next }
  NR == FNR { instructions[$1 "," $2] = $3; copied[$1 "," $2] = $4; stack[$1 "," $2] = $5; next }
  { name = $1 "," $2; compared[name] = 1 }
  !(name in instructions) { print "FAILED: " name " is not in " file; failed = 1; next }
  differs(instructions[name], $3) { print "FAILED: " name ": " $3 " instructions, " instructions[name] " in " file; failed = 1 }
  differs(copied[name], $4) { print "FAILED: " name ": " $4 " per copied byte, " copied[name] " in " file; failed = 1 }
  differs(stack[name], $5) { print "FAILED: " name ": " $5 " bytes of stack, " stack[name] " in " file; failed = 1 }
  END {
    for (name in instructions) if (!(name in compared)) { print "FAILED: no call of " name; failed = 1 }
    exit failed
  }' "$figures" "$new"
echo "test result: ok. $(($(wc -l <"$new") - 1)) passed; 0 failed; 0 ignored"
