#!/usr/bin/env bash
# The README's main command in its short form, and the examples, as they are built for tests. ci/extra/release.sh builds the
# command as a release.
set -euo pipefail
cd "$(dirname "$0")/.."
cargo run --locked -- compare --rounds 1 >/dev/null
cargo run --locked -p surefit --example hello
cargo run --locked -p surefit --example static_region
cargo run --locked -p surefit --example certified
cargo run --locked -p surefit --example shared
cargo run --locked -p surefit --example contiguous
cargo run --locked -p surefit --features locked --example global_allocator
cargo run --locked -p surefit-gc --example cells
cargo run --locked -p surefit-gc --example binary_trees
cargo run --locked -p surefit-gc --example frames
