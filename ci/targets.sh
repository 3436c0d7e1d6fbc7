#!/usr/bin/env bash
# The heaps build for microcontrollers, WebAssembly, and 32-bit and Arm Linux; their tests run on 32 bits (i686) and on Arm (aarch64, under
# qemu's emulation of programs). `ci/toolchain.sh` fetches what this needs: what cannot be fetched is NOT RUN and passes, what was fetched and does
# not build fails. SUREFIT_TESTS=all runs every test that can run there (ci/extra/targets.sh does), not only the chosen ones.
set -euo pipefail
cd "$(dirname "$0")/.."
folder=$(realpath -m "${SUREFIT_TOOLCHAIN:-target/toolchain}")
# A target directory of its own: another compiler builds here.
export CARGO_TARGET_DIR=$folder/target CARGO_INCREMENTAL=0

# Targets with compare-and-exchange, and those without: one owner's heaps as they are, shared ones by critical sections.
exchanging=(thumbv7em-none-eabihf wasm32-unknown-unknown i686-unknown-linux-gnu aarch64-unknown-linux-gnu aarch64-unknown-none)
plain=(thumbv6m-none-eabi armv5te-none-eabi riscv32imc-unknown-none-elf)

# Fetches a part of the toolchain; false if it cannot be had.
fetch() {
  local said status=0
  said=$(bash ci/toolchain.sh "$@") || status=$?
  [ "$status" -ne 3 ] || { why=${said##*$'\n'} && return 1; }
  [ "$status" -eq 0 ] || { echo "$said" && echo "FAILED: ci/toolchain.sh $*" && exit 1; }
  echo "$said"
}

build() {
  local target=$1 start=$SECONDS features
  shift
  for features in "$@"; do
    cargo build --locked --quiet -Zbuild-std=core,alloc --target "$target" -p surefit --no-default-features --features "$features"
  done
  echo "built $target in $((SECONDS - start)) s; features: $(printf '(%s) ' "$@")"
}

# Runs tests on a Linux of another machine, as one program each, linked so that it needs no library there.
tests() {
  local machine=$1 start=$SECONDS
  local target=$machine-unknown-linux-gnu
  local name=${target//-/_}
  shift
  export "CC_$name=$folder/$machine-linux-gnu-gcc"
  name=${name^^}
  export "CARGO_TARGET_${name}_LINKER=$folder/$machine-linux-gnu-gcc"
  export "CARGO_TARGET_${name}_RUSTFLAGS=-Ctarget-feature=+crt-static"
  [ "$machine" = i686 ] || export "CARGO_TARGET_${name}_RUNNER=$folder/qemu-$machine"
  cargo test --locked --quiet -Zbuild-std=std,panic_unwind,test --target "$target" "$@"
  echo "tested $target in $((SECONDS - start)) s"
}

# The heaps' crates with a selection of their integration tests, or with all that build there.
heaps=(-p surefit-core -p surefit-compact -p surefit-freelist -p surefit-gc)
if [ "${SUREFIT_TESTS:-}" = all ]; then
  # All but `misuse`, which calls the compiler.
  chosen=("${heaps[@]}" --lib --no-fail-fast)
  for file in crates/surefit-{compact,freelist,gc}/tests/*.rs; do
    test=$(basename "$file" .rs)
    [ "$test" = misuse ] || chosen+=(--test "$test")
  done
else
  # The unit tests; what threads do; and what moves, frees and collects.
  chosen=("${heaps[@]}" --lib)
  for test in stress shared shared_keys shared_bytes sharded heap attacks arena; do chosen+=(--test "$test"); done
fi

if ! fetch rust; then
  for target in "${exchanging[@]}" "${plain[@]}"; do echo "NOT RUN: build for $target ($why)"; done
  echo "NOT RUN: surefit-c without a standard library ($why)"
  for machine in i686 aarch64; do echo "NOT RUN: tests on $machine ($why)"; done
  exit 0
fi
export RUSTC=$folder/rustc RUSTC_BOOTSTRAP=1
for target in "${exchanging[@]}"; do build "$target" "" compact gc compact,freelist,gc,alloc,critical-section,allocator-api2; done
for target in "${plain[@]}"; do build "$target" "" compact gc compact,freelist,gc,alloc,locked compact,critical-section; done
# The C interface, without a standard library: a static library that C programs link.
for target in thumbv7em-none-eabihf thumbv6m-none-eabi riscv32imc-unknown-none-elf; do
  cargo build --locked --quiet --release -Zbuild-std=core --target "$target" -p surefit-c \
    --no-default-features --features panic-handler,words16,direct,tlsf,segregated
  echo "built libsurefit_c.a for $target"
done
for machine in i686 aarch64; do
  if fetch linux "$machine"; then tests "$machine" "${chosen[@]}"; else echo "NOT RUN: tests on $machine ($why)"; fi
done
