#!/usr/bin/env bash
# The README's test command, and whether each claim of the experiments was judged both ways.
set -euo pipefail
SUREFIT_CLAIMS=$(mktemp)
export SUREFIT_CLAIMS
trap 'rm -f "$SUREFIT_CLAIMS"' EXIT
cargo test --workspace --locked
# What bounds the worst case of each call, on functions of a few instructions.
cargo test --locked --manifest-path firmware/Cargo.toml -p surefit-bound
# A flight of processes with budgets of memory, as it also runs on boards.
cargo test --locked --manifest-path firmware/Cargo.toml -p surefit-flight
# The heap of keys as small images have it.
cargo test --locked -p surefit-c --no-default-features --features std,words16 --test small
bash "$(dirname "$0")/claims.sh" --noted "$SUREFIT_CLAIMS"
