#!/usr/bin/env bash
# The binary trees on the collectors of others still compile; their collectors are not linked, nor is anything run.
set -euo pipefail
cd "$(dirname "$0")/.."
CARGO_TARGET_DIR=$(realpath -m "${CARGO_TARGET_DIR:-target}/peers")
export CARGO_TARGET_DIR
if ! cargo fetch --locked --manifest-path peers/Cargo.toml; then
  echo "NOT RUN: peers (their sources cannot be fetched)"
  exit 0
fi
cargo clippy --locked --manifest-path peers/Cargo.toml --features boehm,mimalloc,mmtk -- -D warnings
