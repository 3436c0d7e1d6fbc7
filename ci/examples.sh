#!/usr/bin/env bash
# What building the command costs; the README's main command, in its short form; and the examples.
set -euo pipefail
bash "$(dirname "$0")/budget.sh" command
cargo run --release --locked -- compare --rounds 1 >/dev/null
cargo run --release --locked -p surefit --example hello
cargo run --release --locked -p surefit --example static_region
cargo run --release --locked -p surefit --example certified
cargo run --release --locked -p surefit --example shared
cargo run --release --locked -p surefit --example contiguous
cargo run --release --locked -p surefit --features locked --example global_allocator
cargo run --release --locked -p surefit-gc --example cells
cargo run --release --locked -p surefit-gc --example binary_trees
