#!/usr/bin/env bash
# The README's main command in its short form, and the examples, as they are built for tests. ci/extra/release.sh builds the
# command as a release.
set -euo pipefail
cd "$(dirname "$0")/.."
# With all members, so that crates have the features that the tests' build gave them, and are not built again.
cargo build --workspace --bin surefit --examples --locked
cargo build --workspace --features surefit/locked --example global_allocator --locked
built=${CARGO_TARGET_DIR:-target}/debug
"$built/surefit" compare --rounds 1 >/dev/null
for example in hello static_region certified shared contiguous global_allocator cells binary_trees frames; do
  echo "-- $example"
  "$built/examples/$example"
done
# The guide says what its programs print.
for example in first cycle; do
  echo "-- $example"
  said=$("$built/examples/$example")
  echo "$said"
  [[ -n $said && $(<docs/guide.md) == *$'\n```text\n'"$said"$'\n```\n'* ]] || { echo "FAILED: docs/guide.md does not say so" && exit 1; }
done
