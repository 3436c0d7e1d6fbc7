#!/usr/bin/env bash
# The README's main command as a release: what building it costs, if nothing is built, and that it runs.
set -euo pipefail
cd "$(dirname "$0")/../.."
bash ci/budget.sh command
cargo run --release --locked -- compare
