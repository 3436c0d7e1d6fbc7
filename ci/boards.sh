#!/usr/bin/env bash
# Runs the tests of firmware/ on emulated boards without an operating system. Prints the log of each board, and at the end the
# flash and the RAM of the images. An image must also notice an object that was damaged. With the Cortex-M4, also compares the static
# bound of each heap call with firmware/worst/cortex-m4.csv. `ci/toolchain.sh` fetches what this needs: what cannot be fetched is NOT
# RUN and passes.
# usage: boards.sh [mps2-an386] [virt] [microbit] [verdex]      the first two, unless others are named
set -euo pipefail
cd "$(dirname "$0")/.."
[ $# -gt 0 ] || set -- mps2-an386 virt
folder=$(realpath -m "${SUREFIT_TOOLCHAIN:-target/toolchain}")
host=${CARGO_TARGET_DIR:-}
export CARGO_TARGET_DIR=$folder/target CARGO_INCREMENTAL=0
# As the image for the bounds has them: so libraries are built once. They change no code.
export CARGO_PROFILE_RELEASE_DEBUG=line-tables-only

. ci/fetch.sh
. ci/figures.sh

# Sets what a board is: its processor, its target, its emulator, its binary utilities, the linker's own flags, and how many tests it runs.
describe() {
  emulator=arm utilities=arm-none-eabi linker="" count=12
  case $1 in
    mps2-an386) processor=Cortex-M4 target=thumbv7em-none-eabihf ;;
    microbit) processor=Cortex-M0 target=thumbv6m-none-eabi count=7 ;;
    verdex) processor=XScale target=armv5te-none-eabi ;;
    virt)
      processor=RISC-V target=riscv32imc-unknown-none-elf
      emulator=riscv32 utilities=riscv64-unknown-elf linker=-Clink-arg=-melf32lriscv
      ;;
    *) echo "boards.sh: no board $1" >&2 && exit 2 ;;
  esac
  images=$CARGO_TARGET_DIR/$target/release
}

# build FOLDER OPTION…: builds the images of a package for the board described.
build() {
  local package=$1
  shift
  echo "-- building $(basename "$package") for $target ($SECONDS s)" >&2
  local name=${target//-/_}
  name=${name^^}
  export "CARGO_TARGET_${name}_LINKER=$folder/$utilities-ld"
  export "CARGO_TARGET_${name}_RUSTFLAGS=-Clinker-flavor=ld $linker"
  (cd "$package" && cargo build --locked --quiet --release -Zbuild-std=core --target "$target" "$@")
}

# emulate BOARD IMAGE [ARGUMENT [OPTION…]]: runs an image; its log is our output, its exit status ours.
emulate() {
  local board=$1 image=$2 argument=${3:-} options
  options=(-M "$board" -display none -serial none -monitor none)
  options+=(-semihosting-config "enable=on,target=native,arg=tests${argument:+,arg=$argument}")
  case $board in
    verdex)
      # It begins in its flash of 32 MiB.
      "$folder/$utilities-objcopy" -O binary "$image" "$image.flash"
      truncate -s 32M "$image.flash"
      options+=(-drive "if=pflash,format=raw,readonly=on,file=$image.flash")
      ;;
    virt) options+=(-bios none -kernel "$image") ;;
    *) options+=(-kernel "$image") ;;
  esac
  timeout 120 "$folder/qemu-system-$emulator" "${options[@]}" "${@:4}"
}

# The tests on one board, and a line of the table.
tests() {
  local board=$1 start=$SECONDS log status=0 passed failed built
  build firmware
  built=$((SECONDS - start)) start=$SECONDS
  log=$(emulate "$board" "$images/surefit-firmware") || status=$?
  echo "-- $board ($processor)"
  echo "$log"
  passed=$(grep -c '^ok ' <<<"$log" || true)
  failed=$(grep -c '^FAILED ' <<<"$log" || true)
  if [ "$status" -ne 0 ] || [ "$passed" -ne "$count" ]; then
    echo "FAILED: the tests on $board end with exit status $status; $passed of $count passed"
    exit 1
  fi
  must_notice_damage "$board"
  # In the words of the test runner: .ci/run adds them up.
  echo "test result: ok. $passed passed; $failed failed; 0 ignored"
  "$folder/$utilities-size" "$images/surefit-firmware" |
    awk -v board="$board" -v processor="$processor" -v built="$built" -v ran=$((SECONDS - start)) \
      'NR == 2 { printf "%-12s %-10s %8d %8d %8d %8d\n", board, processor, $1 + $2, $2 + $3, built, ran }' >>"$table"
}

# An image that is told to damage an object must fail, and say where.
must_notice_damage() {
  local board=$1 log status=0
  log=$(emulate "$board" "$images/surefit-firmware" damage) || status=$?
  if [ "$status" -ne 1 ] || ! grep -q '^FAILED handles: object [0-9]*: byte 0 is' <<<"$log"; then
    echo "$log"
    echo "FAILED: a damaged object was not noticed on $board (exit status $status)"
    exit 1
  fi
}

# Whether the handler of faults of an image loads the stack pointer before it uses the stack: after an overflow there is none to use.
loads_the_stack_first() {
  "$folder/arm-none-eabi-objdump" --disassemble=HardFault "$1" |
    awk '/msr\tMSP/ { loads = 1; exit } /push|stmdb|sp,|\[sp/ { exit } END { exit !loads }'
}

# The figures of the program `count` are within 5 % of those in docs/firmware.md.
interrupts_off() {
  local here page
  here=$(sed 1d | cut -d : -f 2 | xargs)
  page=$(grep -A 3 '^| moves | insert ' docs/firmware.md | tail -n 2 | cut -d '|' -f 3- | tr -d '|\n' | xargs)
  awk -v here="$here" -v page="$page" 'BEGIN {
    count = split(here, a, " ")
    if (count != 10 || split(page, b, " ") != count) exit 1
    for (i in a) if (a[i] > 1.05 * b[i] || a[i] < .95 * b[i]) exit 1
  }' || { echo "FAILED: docs/firmware.md says, with interrupts off: $page; counted: $here" && exit 1; }
}

# The program of docs/firmware.md, in a copy: it adds up the numbers, modulo 256, of the messages that it freed. Its flash is that of the
# page. Statics that do not fit beside the stack do not link, and a stack that is too small is told when it overflows.
sensor() {
  local package=$work/sensor said size status=0 limit=11512
  cp -r firmware/sensor "$package"
  sed -i "s|\"\.\./\.\.|\"$PWD|" "$package/Cargo.toml"
  build "$package"
  said=$(emulate mps2-an386 "$images/sensor")
  size=$("$folder/arm-none-eabi-size" "$images/sensor" | awk 'NR == 2 { print $1 + $2 }')
  echo "-- the program of docs/firmware.md: $said, $size bytes of flash"
  [ "$said" = "sum 106176" ] || { echo "FAILED: not \"sum 106176\"" && exit 1; }
  loads_the_stack_first "$images/sensor" || { echo "FAILED: its HardFault uses the stack before it loads the stack pointer" && exit 1; }
  [ "$size" -le $limit ] || { echo "FAILED: more than $limit bytes of flash, 5 % over docs/firmware.md" && exit 1; }
  said=$(OBJDUMP=$folder/arm-none-eabi-objdump surefit_bound "$images/sensor" --entry main --leave-out core::fmt::write)
  echo "-- its stack without what it prints: $(sed -n 2p <<<"$said")"
  [ "$(awk 'NR == 2 { print $1 }' <<<"$said")" -le 4096 ] || { echo "FAILED: more than the 4 KiB of memory.x" && exit 1; }
  build "$package" --features interrupts --bin interrupts
  said=$(emulate mps2-an386 "$images/interrupts")
  echo "-- a heap shared with an interrupt: $said"
  [ "$said" = "100 samples, sum 4950" ] || { echo 'FAILED: not "100 samples, sum 4950"' && exit 1; }
  build "$package" --features count --bin count
  said=$(emulate mps2-an386 "$images/count" "" -icount shift=8)
  echo "$said"
  interrupts_off <<<"$said"
  sed -i 's/LENGTH = 60K/LENGTH = 12K/' "$package/memory.x"
  said=$(build "$package" 2>&1) && echo "FAILED: it links in too little memory" && exit 1
  grep -q "region .RAM' overflowed" <<<"$said" || { echo "$said" && echo "FAILED: another error than that of too little memory" && exit 1; }
  sed -i 's/LENGTH = 12K/LENGTH = 60K/' "$package/memory.x"
  sed -i 's/^    match messages() {/    deep(0);\n&/' "$package/src/main.rs"
  echo 'fn deep(calls: u32) { if core::hint::black_box([calls; 64])[0] < 100 { deep(calls + 1); core::hint::black_box(calls); } }' \
    >>"$package/src/main.rs"
  build "$package"
  said=$(emulate mps2-an386 "$images/sensor") || status=$?
  echo "-- the same, with calls that are too deep: $said"
  [ "$status" -eq 2 ] || { echo "FAILED: its exit status is $status" && exit 1; }
}

# steps BOARD: runs the steps of docs/firmware.md for a board in a copy, with our compiler, and compares what they print.
steps() {
  local board=$1 name=${target//-/_} script said start=$SECONDS
  script=$(sed -n "/^# $board\$/,/^\`\`\`/p" docs/firmware.md | grep -v '^rustup\|^```' | sed "s/cargo +nightly/cargo/; s|\"\.\./\.\./|\"$PWD/|")
  rm -rf "$work/steps" && mkdir -p "$work/steps/firmware" && cp -r firmware/{boards,sensor,src} "$work/steps/firmware"
  sed -i "s|\"\.\./\.\./|\"$PWD/|" "$work/steps/firmware/sensor/Cargo.toml"
  export "CARGO_TARGET_${name^^}_LINKER=$folder/$utilities-ld" "CARGO_TARGET_${name^^}_RUSTFLAGS=-Clinker-flavor=ld "
  said=$(cd "$work/steps" && PATH=$PATH:$folder CARGO_UNSTABLE_BUILD_STD=core bash -ec "$script") || { echo "FAILED: the steps for $board" && exit 1; }
  echo "-- the steps of docs/firmware.md for $board: $said ($((SECONDS - start)) s)"
  [ -n "$said" ] && [ "$said" = "$(sed -n 's/.* # prints: //p' <<<"$script")" ] || { echo "FAILED: the page says otherwise" && exit 1; }
}

# The static bound of each heap call, of the image in which ci/extra/worst.sh searches the worst case of each. No search here: what it
# found is taken from the file.
bounds() {
  local start=$SECONDS
  if [ "$(committed)" != "$(compiler)" ]; then
    echo "NOT RUN: the static bounds of $figures: it is of $(committed), this is $(compiler)"
    return
  fi
  worst_image "$work"
  cp "$figures" "$work/new.csv"
  surefit_bound bound "$image" "$work/listing" "$work/new.csv" >"$work/bounds" || {
    cat "$work/bounds"
    echo "FAILED: the static bounds"
    exit 1
  }
  compare "$work/new.csv"
  echo "-- the static bound of each heap call is within 2 % of $figures ($((SECONDS - start)) s)"
}

# A wrong name is told before anything is fetched.
for board; do describe "$board"; done
if ! fetch rust; then
  for board; do echo "NOT RUN: tests on the board $board ($why)"; done
  [[ " $* " != *" mps2-an386 "* ]] || echo "NOT RUN: the static bounds of $figures ($why)"
  exit 0
fi
export RUSTC=$folder/rustc RUSTC_BOOTSTRAP=1
work=$(mktemp -d)
table=$work/table
trap 'rm -rf "$work"' EXIT
for board; do
  describe "$board"
  if ! fetch boards "$emulator"; then
    echo "NOT RUN: tests on the board $board ($why)"
    [ "$board" != mps2-an386 ] || echo "NOT RUN: the static bounds of $figures ($why)"
    continue
  fi
  tests "$board"
  case $board in
    mps2-an386)
      sensor
      bounds
      ;;
    microbit | verdex) steps "$board" ;;
  esac
done
if [ -s "$table" ]; then
  printf '%-12s %-10s %8s %8s %8s %8s\n' board processor flash/B RAM/B build/s run/s
  cat "$table"
fi
