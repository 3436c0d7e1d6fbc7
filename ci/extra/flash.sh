#!/usr/bin/env bash
# The flash of the least program of each heap on a Cortex-M4: it makes the heap over a static region, allocates 24 bytes and frees
# them (firmware/flash/). Prints what each takes more than the program without a heap, and the largest functions of ours.
# o1heap is a C file: it is in the table if a checkout of it is given, and arm-none-eabi-gcc is installed.
# usage: flash.sh [O1HEAP_FOLDER]
set -euo pipefail
o1heap=${1:+$(realpath "$1")}
cd "$(dirname "$0")/../.."
folder=$(realpath -m "${SUREFIT_TOOLCHAIN:-target/toolchain}")
export CARGO_TARGET_DIR=$folder/target CARGO_INCREMENTAL=0

. ci/fetch.sh

if ! fetch rust || ! fetch boards arm; then
  echo "NOT RUN: the flash of each heap ($why)"
  exit 0
fi
for tool in rustc arm-none-eabi-{ld,size,nm}; do
  [ -x "$folder/$tool" ] || { echo "flash.sh: no $folder/$tool: remove that folder, or name another one in SUREFIT_TOOLCHAIN" >&2 && exit 1; }
done
target=thumbv7em-none-eabihf
export RUSTC=$folder/rustc RUSTC_BOOTSTRAP=1
export CARGO_TARGET_THUMBV7EM_NONE_EABIHF_LINKER=$folder/arm-none-eabi-ld
export CARGO_TARGET_THUMBV7EM_NONE_EABIHF_RUSTFLAGS="-Clinker-flavor=ld "
(cd firmware/flash && cargo build --locked --quiet --release -Zbuild-std=core,alloc --target $target)
images=$CARGO_TARGET_DIR/$target/release

# The flash of an image, in bytes.
bytes() { "$folder/arm-none-eabi-size" "$1" | awk 'NR == 2 { print $1 + $2 }'; }

nothing=$(bytes "$images/nothing")
printf '%-14s %8s\n' heap flash/B
for heap in rlsf embedded_tlsf embedded_llff talc tlsf cf keys; do
  printf '%-14s %8d\n' "$heap" $(($(bytes "$images/$heap") - nothing))
done
if [ -z "$o1heap" ]; then
  echo "NOT RUN: o1heap (no checkout of it was given)"
elif ! command -v arm-none-eabi-gcc >/dev/null; then
  echo "NOT RUN: o1heap (no arm-none-eabi-gcc)"
else
  work=$(mktemp -d)
  trap 'rm -rf "$work"' EXIT
  # Debian's compiler has its C headers from picolibc.
  specs=()
  [ ! -d /usr/lib/picolibc/arm-none-eabi ] || specs=(--specs=picolibc.specs)
  arm-none-eabi-gcc "${specs[@]}" -mcpu=cortex-m4 -mfloat-abi=hard -mfpu=fpv4-sp-d16 -Os -ffunction-sections -DNDEBUG -I"$o1heap/o1heap" \
    -c "$o1heap/o1heap/o1heap.c" -o "$work/o1heap.o"
  "$folder/arm-none-eabi-ld" --gc-sections -e o1heapInit -u o1heapAllocate -u o1heapFree --defsym memset=0 --defsym memcpy=0 \
    -o "$work/o1heap" "$work/o1heap.o"
  printf '%-14s %8d\n' o1heap "$(bytes "$work/o1heap")"
fi
for heap in tlsf cf keys; do
  echo "-- $heap: its largest functions and tables"
  "$folder/arm-none-eabi-nm" -S --size-sort -C "$images/$heap" | awk '$3 !~ /[bB]/ && !/__INTERRUPTS/' | tail -n 8 |
    while read -r _ size _ name; do printf '%6d %s\n' "0x$size" "$name"; done
done
