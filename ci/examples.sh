#!/usr/bin/env bash
# The README's main command, in its short form, and the examples.
set -euo pipefail
cargo run --release --locked -- compare --rounds 1 >/dev/null
cargo run --release --locked -p surefit --example hello
cargo run --release --locked -p surefit --example static_region
cargo run --release --locked -p surefit --example shared
cargo run --release --locked -p surefit-gc --example cells
cargo run --release --locked -p surefit-gc --example binary_trees
