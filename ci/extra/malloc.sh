#!/usr/bin/env bash
# The preloaded library under a million threads, one after another: each allocates, frees, and leaves objects to others, who free
# them later. Resident memory stays as it was after a quarter of them. The library's size, and what the linker has to do for it.
set -euo pipefail
cd "$(dirname "$0")/../.."
threads=${1:-1000000}
cargo build --locked --profile preload -p surefit-malloc --example surefit_malloc
library=$(cargo metadata --format-version 1 --no-deps | sed 's/.*"target_directory":"\([^"]*\)".*/\1/')/preload/examples/libsurefit_malloc.so
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
"${CC:-cc}" -std=gnu11 -O1 -pthread -fno-builtin -o "$work/threads" crates/surefit-malloc/tests/programs/threads.c
LD_PRELOAD=$library "$work/threads" "$threads"
echo "$library: $(stat -c %s "$library") bytes, $(readelf -rW "$library" | grep -c R_) relocations"
