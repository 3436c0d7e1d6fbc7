#!/usr/bin/env bash
# Builds every fuzz target with the address sanitizer and coverage, and runs each for a fixed number of inputs from a fixed
# seed; prints executions by target. The flags are those of cargo-fuzz, which is not needed.
# usage: fuzz.sh [OPTION OF LIBFUZZER]…      instead of "-seed=1 -runs=2000"
# SUREFIT_CORPUS names a folder that keeps what was found, by target.
set -euo pipefail
cd "$(dirname "$0")/.."
if [ $# -eq 0 ]; then
  set -- -seed=1 -runs=2000
  # So few runs take less time than to optimise what runs.
  export CARGO_PROFILE_RELEASE_OPT_LEVEL=1
fi

host=x86_64-unknown-linux-gnu
archives=$(rustc +nightly --print target-libdir --target "$host" 2>/dev/null || true)
if [ ! -e "$archives/librustc-nightly_rt.asan.a" ]; then
  echo "NOT RUN: fuzz targets (no nightly Rust for $host here: rustup toolchain install nightly)"
  exit 0
fi

CARGO_TARGET_DIR=$(realpath -m "${CARGO_TARGET_DIR:-target}/fuzz")
export CARGO_TARGET_DIR
flags=(
  --cfg fuzzing -Zsanitizer=address -Cdebug-assertions -Cdebuginfo=line-tables-only -Ccodegen-units=1
  -Cpasses=sancov-module -Cllvm-args=-sanitizer-coverage-level=4 -Cllvm-args=-sanitizer-coverage-inline-8bit-counters
  -Cllvm-args=-sanitizer-coverage-pc-table -Cllvm-args=-sanitizer-coverage-trace-compares
)
RUSTFLAGS="${flags[*]}" cargo +nightly build --locked --release --manifest-path fuzz/Cargo.toml --target "$host"

logs=$(mktemp -d)
trap 'rm -rf "$logs"' EXIT

# Runs one target: its log and its exit status are files.
run_target() {
  local target=$1 logs=$2 host=$3
  shift 3
  local corpus=${SUREFIT_CORPUS:-$logs/corpus}/$target artifacts=fuzz/artifacts/$target
  mkdir -p "$corpus" "$artifacts"
  local status=0
  "$CARGO_TARGET_DIR/$host/release/$target" -print_final_stats=1 -timeout=60 -artifact_prefix="$artifacts/" "$@" "$corpus" \
    >"$logs/$target.log" 2>&1 || status=$?
  echo "$status" >"$logs/$target.status"
}
export -f run_target

# Targets beside one another, one a processor.
printf '%s\n' fuzz/fuzz_targets/*.rs | xargs -n 1 basename -s .rs |
  xargs -P "$(nproc)" -I{} bash -c 'run_target "$@"' _ {} "$logs" "$host" "$@"

found=0
printf '%-16s %12s %10s %8s\n' target executions features status
for log in "$logs"/*.log; do
  target=$(basename -s .log "$log")
  status=$(cat "$logs/$target.status")
  executions=$(sed -n 's/^stat::number_of_executed_units: *//p' "$log")
  features=$(sed -n 's/.* ft: \([0-9]*\) .*/\1/p' "$log" | tail -n 1)
  printf '%-16s %12s %10s %8s\n' "$target" "${executions:-?}" "${features:-?}" "$status"
  # A target that runs nothing finds nothing.
  if [ "$status" != 0 ] || [ "${executions:-0}" = 0 ]; then
    found=1
    tail -n 60 "$log"
  fi
done
exit "$found"
