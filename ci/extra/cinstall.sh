#!/usr/bin/env bash
# surefit-c as a system library: cargo-c installs it into an empty folder, and a C program is built with what pkg-config says
# of it, once with the shared library and once with the static one, and run.
set -euo pipefail
cd "$(dirname "$0")/../.."

for tool in cargo-cinstall pkg-config; do
  command -v "$tool" >/dev/null || { echo "NOT RUN: surefit-c as a system library (no $tool here: cargo install cargo-c)" && exit 0; }
done
place=$(mktemp -d)
trap 'rm -rf "$place"' EXIT
cargo cinstall --locked --release -p surefit-c --prefix="$place" --libdir=lib
export PKG_CONFIG_PATH=$place/lib/pkgconfig
program=crates/surefit-c/tests/c/program.c
echo "surefit $(pkg-config --modversion surefit)"
# shellcheck disable=SC2046
cc -std=c99 -Wall -Wextra -Wpedantic -Wconversion "$program" $(pkg-config --cflags --libs surefit) -o "$place/shared"
LD_LIBRARY_PATH=$place/lib "$place/shared"
# shellcheck disable=SC2046
cc -std=c99 "$program" $(pkg-config --cflags surefit) "$place/lib/libsurefit.a" $(pkg-config --libs --static surefit | sed 's/-lsurefit//') -o "$place/static"
"$place/static"
readelf -d "$place/shared" | grep -q 'libsurefit.so.0.1' || { echo "FAILED: the shared library has no version" && exit 1; }
echo "test result: ok. 2 passed; 0 failed; 0 ignored"
