#!/usr/bin/env bash
# Every crate builds, with all its features, with the oldest compiler that its `rust-version` promises, from Debian's packages
# (ci/toolchain.sh). What Debian does not offer is NOT RUN.
set -euo pipefail
cd "$(dirname "$0")/.."
folder=$(realpath -m "${SUREFIT_TOOLCHAIN:-target/toolchain}")

# version_in FILE: the `rust-version` that it says itself, without a third number.
version_in() {
  sed -nE 's/^rust-version = "([0-9]+\.[0-9]+).*"/\1/p' "$1"
}

# Crates by version.
declare -A crates
for manifest in {crates,lab}/*/Cargo.toml; do
  version=$(version_in "$manifest")
  crates[${version:=$(version_in Cargo.toml)}]+=" $(sed -nE 's/^name = "(surefit[a-z-]*)"/\1/p' "$manifest" | head -n 1)"
done

# check VERSION CRATE…
check() {
  local version=$1 said status=0
  shift
  said=$(bash ci/toolchain.sh rust "$version") || status=$?
  if [ "$status" -eq 3 ]; then
    echo "NOT RUN: Rust $version for $* (${said##*$'\n'})"
    return
  fi
  [ "$status" -eq 0 ] || { echo "$said" && echo "FAILED: ci/toolchain.sh rust $version" && exit 1; }
  echo "$said"
  # A target directory of its own: another compiler builds here. Cargo is the newest; it refuses a crate that asks for a newer compiler.
  RUSTC=$folder/rustc-$version CARGO_TARGET_DIR=$folder/target-$version \
    cargo check --locked --all-features "${@/#/--package=}"
  echo "checked with Rust $version: $*"
}

for version in "${!crates[@]}"; do
  # shellcheck disable=SC2086
  check "$version" ${crates[$version]}
done
