#!/usr/bin/env bash
# No warning of the compiler or of clippy, in any crate, test, example or benchmark; `unsafe` only where it is listed.
set -euo pipefail
cd "$(dirname "$0")/.."
bash ci/unsafe.sh
cargo clippy --workspace --all-targets --locked -- -D warnings
# The examples with the features of their package alone, as who reads of them runs them.
cargo check -p surefit -p surefit-gc --examples --locked
# The commands without the Lua machine.
cargo clippy -p surefit-lab -p surefit-experiments --no-default-features --locked -- -D warnings
# The tests for boards, as they are on this machine: a workspace of their own.
cargo clippy --manifest-path firmware/Cargo.toml --locked -- -D warnings
cargo clippy --manifest-path firmware/Cargo.toml --locked -p surefit-bound -p surefit-flight --all-targets -- -D warnings
# The fuzz targets, which ci/fuzz.sh runs. Nothing is linked here, so an empty archive stands for libFuzzer.
target=$(realpath -m "${CARGO_TARGET_DIR:-target}")
printf '!<arch>\n' >"$target/no-libfuzzer.a"
CUSTOM_LIBFUZZER_PATH=$target/no-libfuzzer.a cargo clippy --manifest-path fuzz/Cargo.toml --target-dir "$target" --locked -- -D warnings
