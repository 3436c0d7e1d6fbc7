#!/usr/bin/env bash
# The README's main command, in its short form, and the examples.
set -euo pipefail
# Optimised as a release is, but crate by crate: whole-program optimisation takes most of a cold build, and is not looked at here.
export CARGO_PROFILE_RELEASE_LTO=off CARGO_PROFILE_RELEASE_CODEGEN_UNITS=16 CARGO_PROFILE_RELEASE_DEBUG=false
cargo run --release --locked -- compare --rounds 1 >/dev/null
cargo run --release --locked -p surefit --example hello
cargo run --release --locked -p surefit --example static_region
cargo run --release --locked -p surefit --example shared
cargo run --release --locked -p surefit-gc --example cells
cargo run --release --locked -p surefit-gc --example binary_trees
