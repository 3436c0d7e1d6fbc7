#!/usr/bin/env bash
# What building the command costs; the README's main command, in its short form; and the
# examples, as they are built for tests.
set -euo pipefail
bash "$(dirname "$0")/budget.sh" command
cargo run --release --locked -- compare --rounds 1 >/dev/null
cargo run --locked -p surefit --example hello
cargo run --locked -p surefit --example static_region
cargo run --locked -p surefit --example certified
cargo run --locked -p surefit --example shared
cargo run --locked -p surefit --example contiguous
cargo run --locked -p surefit --features locked --example global_allocator
cargo run --locked -p surefit-gc --example cells
cargo run --locked -p surefit-gc --example binary_trees
