#!/usr/bin/env bash
# No warning of the compiler or of clippy, in any crate, test, example or benchmark.
set -euo pipefail
cargo clippy --workspace --all-targets --locked -- -D warnings
# The command without the Lua machine.
cargo clippy -p surefit-lab --no-default-features --locked -- -D warnings
