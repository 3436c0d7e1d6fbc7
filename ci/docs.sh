#!/usr/bin/env bash
# The documentation builds without a warning: no dead link, no missing item.
set -euo pipefail
RUSTDOCFLAGS="-D warnings" cargo doc --workspace --no-deps --all-features --locked
