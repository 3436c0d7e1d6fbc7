#!/usr/bin/env bash
# examples/cache, a workspace of its own: warnings, tests, and the load in its smallest form, against every server that is installed.
set -euo pipefail
cd "$(dirname "$0")/../.."
CARGO_TARGET_DIR=$(realpath -m "${CARGO_TARGET_DIR:-target}/cache")
export CARGO_TARGET_DIR
manifest=examples/cache/Cargo.toml
if ! said=$(cargo fetch --locked --manifest-path "$manifest" 2>&1); then
  echo "$said"
  # A lock file that is behind its manifest is a fault of ours.
  if grep -q 'lock file' <<<"$said"; then exit 1; fi
  echo "NOT RUN: cache (its sources cannot be fetched)"
  exit 0
fi
cargo fmt --manifest-path "$manifest" -- --check
cargo clippy --locked --manifest-path "$manifest" --all-targets -- -D warnings
# With their output: a test says in a line NOT RUN what is not installed.
cargo test --locked --manifest-path "$manifest" -- --nocapture
cargo build --release --locked --manifest-path "$manifest"
"$CARGO_TARGET_DIR/release/surefit-cache-load"
