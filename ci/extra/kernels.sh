#!/usr/bin/env bash
# The adapters of the C interface for kernels, on emulated boards, under each kind of raw heap; first the stack of each call.
# With a folder of FreeRTOS's sources (github.com/FreeRTOS/FreeRTOS-Kernel), on a Cortex-M4 (qemu's mps2-an386): two of its tasks allocate and free
# while a third one makes and deletes tasks, and checks the heap. With a folder of Zephyr's (github.com/zephyrproject-rtos/zephyr), on a 32-bit RISC-V
# (qemu's virt): two threads and k_heap in the same way, k_aligned_alloc, and a thread that waits for memory. It needs what Zephyr's build needs: cmake,
# ninja, dtc, riscv64-unknown-elf-gcc, and Python with PyYAML, pyelftools, pykwalify and packaging.
# Without a folder, the adapter runs on a stand-in of ours, on the Cortex-M4. What is not installed or cannot be downloaded is NOT RUN.
# usage: kernels.sh [FREERTOS_FOLDER [ZEPHYR_FOLDER]]      $SUREFIT_FREERTOS and $SUREFIT_ZEPHYR if not given
set -euo pipefail
freertos=${1:-${SUREFIT_FREERTOS:-}}
[ -z "$freertos" ] || freertos=$(realpath "$freertos")
zephyr=${2:-${SUREFIT_ZEPHYR:-}}
[ -z "$zephyr" ] || zephyr=$(realpath "$zephyr")
cd "$(dirname "$0")/../.."
folder=$(realpath -m "${SUREFIT_TOOLCHAIN:-target/toolchain}")
c=crates/surefit-c

not_run() {
  echo "NOT RUN: adapters for kernels on an emulated board ($*)"
  exit 0
}

for tool in arm-none-eabi-gcc qemu-system-arm; do
  command -v "$tool" >/dev/null || not_run "no $tool here"
done
echo 'int main(void) { return 0; }' | arm-none-eabi-gcc --specs=picolibc.specs -fsyntax-only -x c - 2>/dev/null || not_run "no picolibc here"
status=0
said=$(bash ci/toolchain.sh rust) || status=$?
[ "$status" -ne 3 ] || not_run "${said##*$'\n'}"
[ "$status" -eq 0 ] || { echo "$said" && echo "FAILED: ci/toolchain.sh rust" && exit 1; }

export CARGO_TARGET_DIR=$folder/target CARGO_INCREMENTAL=0
# library TARGET: builds libsurefit_c.a as ci/targets.sh does, and sets `library` to its path.
library() {
  RUSTC=$folder/rustc RUSTC_BOOTSTRAP=1 cargo build --locked --quiet --release -Zbuild-std=core --target "$1" -p surefit-c \
    --no-default-features --features panic-handler,words16,direct,tiny,tlsf,segregated
  library=$CARGO_TARGET_DIR/$1/release/libsurefit_c.a
}
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT

machine=(-mcpu=cortex-m4 -mthumb -mfloat-abi=hard -mfpu=fpv4-sp-d16)
# picolibc's start code, table of interrupts and output by semihosting; the memory of the board.
libc=(--specs=picolibc.specs --oslib=semihost --crt0=semihost -Wl,-z,noexecstack)
for symbol in __flash=0 __flash_size=4M __ram=0x20000000 __ram_size=4M __stack_size=8K; do libc+=("-Wl,--defsym=$symbol"); done

# board SOURCE…: compiles a program with $flags, and runs it. The board counts time by instructions: each run does the same.
board() {
  arm-none-eabi-gcc "${machine[@]}" -O2 -g -Wall -Wextra "${flags[@]}" -I$c/include -I$c/adapters "$@" "$library" "${libc[@]}" -o "$work/program.elf"
  arm-none-eabi-size "$work/program.elf" | awk 'NR == 2 { printf "text %d, data %d, bss %d bytes\n", $1, $2, $3 }'
  timeout 60 qemu-system-arm -M mps2-an386 -display none -chardev stdio,id=here -icount shift=6 \
    -semihosting-config enable=on,target=native,chardev=here -kernel "$work/program.elf" || { echo "FAILED: status $?" && exit 1; }
}

freertos() {
  flags=(-DconfigSUREFIT_KIND="SUREFIT_RAW_$1")
  if [ -z "$freertos" ]; then
    echo "== a stand-in of ours for FreeRTOS, not the kernel itself, on SUREFIT_RAW_$1"
    flags+=(-I$c/tests/c/freertos/alone)
    board $c/adapters/freertos.c $c/tests/c/{worker,freertos/alone/main}.c
    return
  fi
  local port=$freertos/portable/GCC/ARM_CM4F
  echo "== FreeRTOS $(awk '$2 == "tskKERNEL_VERSION_NUMBER" { gsub(/"/, "", $3); print $3 }' "$freertos/include/task.h") on SUREFIT_RAW_$1"
  # What the kernel's headers do is not ours: no warnings of them.
  flags+=(-I$c/tests/c/freertos/kernel -isystem "$freertos/include" -isystem "$port")
  board $c/adapters/freertos.c $c/tests/c/{worker,freertos/kernel/main}.c "$freertos"/{tasks,list,queue}.c "$port/port.c"
}

zephyr() {
  if [ -z "$zephyr" ]; then
    echo "== a stand-in of ours for Zephyr, not the kernel itself, on SUREFIT_RAW_$1"
    flags=(-DSUREFIT_ZEPHYR_KIND="SUREFIT_RAW_$1" -I$c/tests/c/zephyr/alone)
    board $c/adapters/zephyr.c $c/tests/c/zephyr/alone/main.c
    return
  fi
  local version build=$work/zephyr-$1 flags=()
  version=$(awk '/^VERSION_MAJOR|^VERSION_MINOR|^PATCHLEVEL/ { printf "%s%s", dot, $3; dot = "." }' "$zephyr/VERSION")
  echo "== Zephyr $version on SUREFIT_RAW_$1"
  # Older releases do not name the instructions for control registers, which newer assemblers ask for.
  [ "${version%%.*}" -ge 3 ] || flags=(-DEXTRA_CFLAGS=-misa-spec=2.2 -DEXTRA_AFLAGS=-misa-spec=2.2)
  {
    cmake -GNinja -B "$build" -DBOARD=qemu_riscv32 -DZEPHYR_MODULES="" "${flags[@]}" -DSUREFIT_LIBRARY="$riscv" \
      -DSUREFIT_KIND="SUREFIT_RAW_$1" $c/tests/c/zephyr/kernel && ninja -C "$build"
  } >"$work/zephyr.log" 2>&1 || { tail -n 30 "$work/zephyr.log" && echo "FAILED: Zephyr was not built" && exit 1; }
  timeout 60 qemu-system-riscv32 -M virt -bios none -m 256 -display none -chardev stdio,id=here -serial chardev:here -icount shift=6 \
    -kernel "$build/zephyr/zephyr.elf" || { echo "FAILED: status $?" && exit 1; }
}

if [ -n "$zephyr" ]; then
  library riscv32imac-unknown-none-elf
  riscv=$library
  export ZEPHYR_BASE=$zephyr ZEPHYR_TOOLCHAIN_VARIANT=${ZEPHYR_TOOLCHAIN_VARIANT:-cross-compile}
  export CROSS_COMPILE=${CROSS_COMPILE:-$(command -v riscv64-unknown-elf-gcc | sed 's/gcc$//')}
fi
library thumbv7em-none-eabihf
echo "== the stack of each call"
flags=()
board $c/tests/c/stack.c
for kind in DIRECT TINY TLSF SEGREGATED; do
  freertos "$kind"
  zephyr "$kind"
done
[ -n "$freertos" ] || echo "NOT RUN: FreeRTOS itself (no folder of its sources was given)"
[ -n "$zephyr" ] || echo "NOT RUN: Zephyr itself (no folder of its sources was given)"
