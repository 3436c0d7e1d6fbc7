#!/usr/bin/env bash
# The worst case of each call of each heap on an emulated Cortex-M4, in instructions (not cycles) and bytes of stack: what a search
# found, and a static bound of the same image (firmware/bound/). A call above its bound fails. Prints the table, and compares it
# with firmware/worst/cortex-m4.csv: a figure that is more than 2 % above or below fails. Another compiler makes other code: then
# the table is only printed.
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
# The lines of the source are for the bound; they change no code.
export CARGO_PROFILE_RELEASE_DEBUG=line-tables-only
(cd firmware && cargo build --locked --quiet --release -Zbuild-std=core --target $target --features worst --bin worst)
image=$CARGO_TARGET_DIR/$target/release/worst

work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
new=$work/new.csv
# An instruction takes 256 ns of the emulator's time: the board's timer ticks 6.4 times.
options=(-M mps2-an386 -display none -serial none -monitor none -icount shift=8)
# It also logs the code that runs.
options+=(-d in_asm -D "$work/run")
options+=(-semihosting-config "enable=on,target=native,arg=worst" -kernel "$image")
log=$(timeout 400 "$folder/qemu-system-arm" "${options[@]}") || { echo "$log" && echo "FAILED: the image worst" && exit 1; }
grep -v '^csv,' <<<"$log"
compiler=$("$RUSTC" --version | cut -d ' ' -f 1,2)
{
  echo "heap,event,instructions,bound,per_copied_byte,stack_bytes,compiler"
  sed -n "s/^csv,\([^,]*,[^,]*,[^,]*\),\(.*\)/\1,,\2,$compiler/p" <<<"$log"
} >"$new"
"$folder/arm-none-eabi-objdump" -d "$image" >"$work/listing"
env -u RUSTC -u RUSTC_BOOTSTRAP cargo run --locked --quiet --manifest-path firmware/Cargo.toml -p surefit-bound -- \
  "$image" "$work/listing" "$work/run" "$new"

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
  function differs(old, new) { return new + 0 > 1.02 * old || new + 0 < 0.98 * old }
  FNR == 1 { next }
  NR == FNR { instructions[$1 "," $2] = $3; bound[$1 "," $2] = $4; copied[$1 "," $2] = $5; stack[$1 "," $2] = $6; next }
  { name = $1 "," $2; compared[name] = 1 }
  !(name in instructions) { print "FAILED: " name " is not in " file; failed = 1; next }
  differs(instructions[name], $3) { print "FAILED: " name ": " $3 " instructions, " instructions[name] " in " file; failed = 1 }
  differs(bound[name], $4) { print "FAILED: " name ": at most " $4 " instructions, " bound[name] " in " file; failed = 1 }
  differs(copied[name], $5) { print "FAILED: " name ": " $5 " per copied byte, " copied[name] " in " file; failed = 1 }
  differs(stack[name], $6) { print "FAILED: " name ": " $6 " bytes of stack, " stack[name] " in " file; failed = 1 }
  END {
    for (name in instructions) if (!(name in compared)) { print "FAILED: no call of " name; failed = 1 }
    exit failed
  }' "$figures" "$new"
echo "test result: ok. $(($(wc -l <"$new") - 1)) passed; 0 failed; 0 ignored"
