#!/usr/bin/env bash
# `surefit trace import` and `export` beside the programs that they are for: a program is recorded by heaptrack, imported raw and
# interpreted, and exported; heaptrack_print must say of what is exported what it says of its own recording, and pprof the same
# peak. What is not here is left out.
set -euo pipefail
cd "$(dirname "$0")/../.."

command -v heaptrack >/dev/null || { echo "NOT RUN: formats (no heaptrack here: apt-get install heaptrack)" && exit 0; }
place=$(mktemp -d)
trap 'rm -rf "$place"' EXIT
cargo build --locked --bin surefit
surefit=$(realpath "${CARGO_TARGET_DIR:-target}")/debug/surefit
cc -g -O1 lab/formats/tests/it/recordings/lists.c -o "$place/lists" -lpthread

fail() {
  echo "FAILED: $*"
  exit 1
}

# What heaptrack_print says of calls and peak.
said() {
  heaptrack_print "$1" | grep -E '^(calls to allocation|peak heap memory)' | sed 's/ (.*//'
}

(cd "$place" && heaptrack --raw -o raw ./lists && heaptrack -o interpreted ./lists) >"$place/log" 2>&1 || fail "$(cat "$place/log")"
for form in raw.raw interpreted; do
  "$surefit" trace import "$place/$form.zst" -o "$place/$form.sft.zst"
  "$surefit" trace check "$place/$form.sft.zst"
  "$surefit" trace export "$place/$form.sft.zst" --to heaptrack -o "$place/$form.gz"
done
[ "$(said "$place/interpreted.zst")" = "$(said "$place/interpreted.gz")" ] || fail "heaptrack_print says something else of the export"
said "$place/interpreted.gz"
passed=1

if command -v go >/dev/null; then
  "$surefit" trace export bundled:python-a --to pprof -o "$place/profile.pb.gz"
  top=$(go tool pprof -top -unit=B -nodefraction=0 "$place/profile.pb.gz" 2>/dev/null)
  echo "$top" | head -12
  grep -q 'accounting for 3071383B, 100% of 3071383B total' <<<"$top" || fail "pprof does not find the peak of 3,071,383 bytes"
  passed=2
else
  echo "NOT RUN: pprof (no go here)"
fi
echo "test result: ok. $passed passed; 0 failed; 0 ignored"
