#!/usr/bin/env bash
# The page of `surefit report` in Chromium: readable at four widths and on paper, every table reached, nothing loaded. Without
# Chromium a line says NOT RUN, and it passes.
set -euo pipefail
cd "$(dirname "$0")/.."
# With their output: a test says in a line NOT RUN that there is no browser. With all members: so nothing is built with other features
# than in the tests' build.
cargo test --locked --workspace --test it browser -- --ignored --nocapture
