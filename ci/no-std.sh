#!/usr/bin/env bash
# The heaps compile for a microcontroller without an operating system, where its target is installed.
set -euo pipefail
target=thumbv7em-none-eabihf
crates=(-p surefit-core -p surefit-compact -p surefit-freelist -p surefit-gc -p surefit)
if rustc --print target-libdir --target "$target" | xargs -I{} test -d {}; then
  cargo build --locked --release --target "$target" "${crates[@]}"
else
  echo "SKIPPED for $target: not installed (rustup target add $target). Checked for the host instead:"
  cargo build --locked --release "${crates[@]}"
fi
