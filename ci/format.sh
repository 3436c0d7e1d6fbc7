#!/usr/bin/env bash
# Every file is formatted as rustfmt does by default.
set -euo pipefail
cargo fmt --all -- --check
cargo fmt --manifest-path firmware/Cargo.toml --all -- --check
