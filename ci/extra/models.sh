#!/usr/bin/env bash
# Larger configurations of the model of incremental compaction, state by state.
set -euo pipefail
cd "$(dirname "$0")/../.."
cargo test --locked -p surefit-classes --test it incremental -- --ignored
