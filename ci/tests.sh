#!/usr/bin/env bash
# The README's test command, and what building it costs.
set -euo pipefail
bash "$(dirname "$0")/budget.sh" tests
cargo test --workspace --locked
