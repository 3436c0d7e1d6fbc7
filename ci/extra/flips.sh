#!/usr/bin/env bash
# Every word of the tables of heaps and of collectors is flipped, alone and in pairs: `check` tells it, or a drive proves it harmless. Prints a table.
set -euo pipefail
cd "$(dirname "$0")/../.."
out=$(mktemp)
trap 'rm -f "$out"' EXIT
SUREFIT_FLIPS=1 cargo test --release --locked -p surefit-compact -p surefit-direct -p surefit-gc -p surefit-papers --lib flips -- --nocapture | tee "$out"
echo "| heap | words | flips | told | harmless by drive | left out by name | silent |"
echo "| --- | --- | --- | --- | --- | --- | --- |"
grep -o '| .* |$' "$out"
