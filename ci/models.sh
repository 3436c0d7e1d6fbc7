#!/usr/bin/env bash
# The shared heaps under a permutation tester (permutations/tests), in a workspace and a target directory of their own,
# since every crate is built with another configuration. SUREFIT_SHUTTLE multiplies the schedules.
set -euo pipefail
export RUSTFLAGS="${RUSTFLAGS:-} --cfg surefit_shuttle"
export CARGO_TARGET_DIR="${CARGO_TARGET_DIR:-target}/models"
export SUREFIT_SHUTTLE="${SUREFIT_SHUTTLE:-3}"
CARGO_TARGET_DIR=$(realpath -m "$CARGO_TARGET_DIR") cargo test --locked --manifest-path permutations/Cargo.toml -- --nocapture
