#!/usr/bin/env bash
# The binary trees on the collectors of others still compile; their collectors are not linked, nor is anything run.
set -euo pipefail
cd "$(dirname "$0")/.."
CARGO_TARGET_DIR=$(realpath -m "${CARGO_TARGET_DIR:-target}/peers")
export CARGO_TARGET_DIR
if ! said=$(cargo fetch --locked --manifest-path peers/Cargo.toml 2>&1); then
  echo "$said"
  # A lock file that is behind its manifest is a fault of ours.
  if grep -q 'lock file' <<<"$said"; then exit 1; fi
  echo "NOT RUN: peers (their sources cannot be fetched)"
  exit 0
fi
cargo clippy --locked --manifest-path peers/Cargo.toml --features boehm,mimalloc,mmtk -- -D warnings
