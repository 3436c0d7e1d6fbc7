#!/usr/bin/env bash
# Our heaps beside heap_4.c of FreeRTOS, on an emulated Cortex-M4 (qemu's mps2-an386): one program (crates/surefit-c/tests/c/freertos/beside/), linked
# with each heap. Prints of each the bytes of flash that the image takes more than the same one with a heap that refuses all; the least
# configTOTAL_HEAP_SIZE, in steps of 64 bytes, with which nothing is refused; the least free heap in 64 KiB; and the most instructions of a call.
# The library has only the feature of the heap, and is compiled as surefit-c's README says for small images.
# Without a folder of FreeRTOS's sources, the release below is fetched from github.com/FreeRTOS/FreeRTOS-Kernel. What cannot be had is NOT RUN.
# usage: freertos.sh [FREERTOS_FOLDER]      $SUREFIT_FREERTOS if not given
set -euo pipefail
freertos=${1:-${SUREFIT_FREERTOS:-}}
[ -z "$freertos" ] || freertos=$(realpath "$freertos")
release=V11.1.0
cd "$(dirname "$0")/../.."
folder=$(realpath -m "${SUREFIT_TOOLCHAIN:-target/toolchain}")
export CARGO_TARGET_DIR=$folder/target CARGO_INCREMENTAL=0
c=crates/surefit-c

. ci/fetch.sh

not_run() {
  echo "NOT RUN: our heaps beside heap_4 of FreeRTOS ($*)"
  exit 0
}

command -v arm-none-eabi-gcc >/dev/null || not_run "no arm-none-eabi-gcc here"
echo 'int main(void) { return 0; }' | arm-none-eabi-gcc --specs=picolibc.specs -fsyntax-only -x c - 2>/dev/null || not_run "no picolibc here"
fetch rust && fetch boards arm || not_run "$why"
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
if [ -z "$freertos" ]; then
  freertos=$work/FreeRTOS
  git clone --quiet --depth 1 --branch $release https://github.com/FreeRTOS/FreeRTOS-Kernel "$freertos" 2>"$work/clone.log" ||
    not_run "no folder of FreeRTOS was given, and it cannot be fetched: $(tail -n 1 "$work/clone.log")"
fi

target=thumbv7em-none-eabihf
# library FEATURE: builds libsurefit_c.a for small images.
library() {
  RUSTC=$folder/rustc RUSTC_BOOTSTRAP=1 CARGO_PROFILE_RELEASE_OPT_LEVEL=s CARGO_PROFILE_RELEASE_LTO=fat CARGO_PROFILE_RELEASE_PANIC=abort \
    cargo rustc --locked --quiet --release -Zbuild-std=core --target $target -p surefit-c --lib --crate-type staticlib \
    --no-default-features --features "panic-handler,words16,$1"
  cp "$CARGO_TARGET_DIR/$target/release/libsurefit_c.a" "$work/$1.a"
}

port=$freertos/portable/GCC/ARM_CM4F
machine=(-mcpu=cortex-m4 -mthumb -mfloat-abi=hard -mfpu=fpv4-sp-d16 -Os -ffunction-sections -fdata-sections)
flags=(--specs=picolibc.specs -I$c/include -I$c/adapters -I$c/tests/c/freertos/kernel -isystem "$freertos/include" -isystem "$port")
flags+=(-DconfigHEAP_CLEAR_MEMORY_ON_FREE=0)
libc=(--oslib=semihost --crt0=semihost -Wl,-z,noexecstack -Wl,--gc-sections)
for symbol in __flash=0 __flash_size=4M __ram=0x20000000 __ram_size=4M __stack_size=8K; do libc+=("-Wl,--defsym=$symbol"); done
compile() { arm-none-eabi-gcc "${machine[@]}" -Wall -Wextra "${flags[@]}" "$@"; }

for source in "$freertos"/{tasks,list,queue}.c "$port/port.c" $c/tests/c/freertos/beside/main.c; do
  compile -c "$source" -o "$work/$(basename "$source" .c).o"
done

cat >"$work/nothing.c" <<'END'
#include "FreeRTOS.h"
void *pvPortMalloc(size_t bytes) { return bytes ? NULL : NULL; }
void vPortFree(void *object) { (void)object; }
size_t xPortGetMinimumEverFreeHeapSize(void) { return 0; }
END

# image HEAP BYTES: links the program with a heap of so many bytes.
image() {
  local heap=$1 bytes=$2 source=$c/adapters/freertos.c extra=()
  case $heap in
    nothing) source=$work/nothing.c ;;
    heap_*) source=$freertos/portable/MemMang/$heap.c ;;
    *) extra=("-DconfigSUREFIT_KIND=SUREFIT_RAW_${heap^^}") ;;
  esac
  compile "${extra[@]}" "-DconfigTOTAL_HEAP_SIZE=((size_t)$bytes)" -c "$source" -o "$work/heap.o" || return 4
  extra=()
  [ ! -f "$work/$heap.a" ] || extra=("$work/$heap.a")
  compile "$work"/{tasks,list,queue,port,main,heap}.o "${extra[@]}" "${libc[@]}" -o "$work/image" || return 4
}

# run HEAP BYTES: what the program says; its status is 3 if the heap refused.
run() {
  image "$@" || return
  timeout 120 "$folder/qemu-system-arm" -M mps2-an386 -display none -chardev stdio,id=here -icount shift=8 \
    -semihosting-config enable=on,target=native,chardev=here -kernel "$work/image"
}

# least HEAP: the least bytes with which nothing is refused, in steps of 64.
least() {
  local refused=12288 serves=65536 middle status
  while [ $((serves - refused)) -gt 64 ]; do
    middle=$(((serves + refused) / 128 * 64)) status=0
    run "$1" $middle >"$work/said" || status=$?
    case $status in
      0) serves=$middle ;;
      3) refused=$middle ;;
      *) cat "$work/said" && echo "FAILED: $1 in $middle bytes: status $status" && exit 1 ;;
    esac
  done
  echo "$serves"
}

flash() { "$folder/arm-none-eabi-size" "$work/image" | awk 'NR == 2 { print $1 + $2 }'; }
# At 256 ns an instruction and 40 ns a tick.
instructions() { echo $(($1 * 40 / 256)); }

echo "FreeRTOS $(awk '$2 == "tskKERNEL_VERSION_NUMBER" { gsub(/"/, "", $3); print $3 }' "$freertos/include/task.h")"
image nothing 65536
nothing=$(flash)
printf '%-12s %8s %14s %18s %12s %10s\n' heap flash/B 'least region/B' 'least free/B of 64K' malloc/instr free/instr
for heap in heap_4 tlsf tiny segregated; do
  case $heap in heap_*) ;; *) library "$heap" ;; esac
  said=$(run "$heap" 65536) || { echo "$said" && echo "FAILED: $heap" && exit 1; }
  read -r live free malloc release < <(sed -E 's/[^0-9]+/ /g' <<<"$said")
  size=$(($(flash) - nothing))
  printf '%-12s %8d %14d %18d %12d %10d\n' "$heap" "$size" "$(least "$heap")" "$free" "$(instructions "$malloc")" "$(instructions "$release")"
done
echo "$live bytes live at most, and one task"
