#!/usr/bin/env bash
# The shared heaps under a permutation tester (permutations/tests), in a target directory of their own, since every crate is
# built with another configuration. SUREFIT_SHUTTLE multiplies the schedules.
set -euo pipefail
cd "$(dirname "$0")/.."
export RUSTFLAGS="${RUSTFLAGS:-} --cfg surefit_shuttle"
export CARGO_TARGET_DIR="${CARGO_TARGET_DIR:-target}/models"
export SUREFIT_SHUTTLE="${SUREFIT_SHUTTLE:-3}"
# The manifest keeps them out of what is built unasked.
cargo test --locked --package surefit-permutations --test '*' -- --nocapture
