#!/usr/bin/env bash
# Every file is formatted as rustfmt does by default.
set -euo pipefail
cargo fmt --all -- --check
cargo fmt --manifest-path firmware/Cargo.toml --all -- --check
cargo fmt --manifest-path firmware/flash/Cargo.toml -- --check
cargo fmt --manifest-path firmware/sensor/Cargo.toml -- --check
