#!/usr/bin/env bash
# The attack programs under the address sanitizer, and the programs of many threads under the thread sanitizer; before either,
# that it sees what it must see. Both need nightly Rust's sanitizers; the thread sanitizer also a standard library built for
# it, or every lock of that is a race: from nightly's source, or else with Debian's compiler and source (ci/toolchain.sh).
# usage: sanitizers.sh [address] [thread]      the first if none is named; ci/extra/threads.sh runs the second
# SUREFIT_TESTS=all runs every attack under the address sanitizer, as ci/extra/heaps.sh does, not a selection.
set -euo pipefail
cd "$(dirname "$0")/.."
[ $# -gt 0 ] || set -- address

host=x86_64-unknown-linux-gnu
target=$(realpath -m "${CARGO_TARGET_DIR:-target}")
archives=$(rustc +nightly --print target-libdir --target "$host" 2>/dev/null || true)

# Tests that leave values in heaps that end, or leak on purpose, count for themselves what is dropped.
export ASAN_OPTIONS=detect_leaks=0
export SUREFIT_STRESS="${SUREFIT_STRESS:-0.5}"

# Whatever works on a region is an attack; what several threads use at once is in the second list as well. The heaps beside
# their models are not here: ci/fuzz.sh drives them, under the address sanitizer too.
address=(
  collections_attacks collections_deque collections_more_attacks collections_vec compact_attacks compact_branded compact_pieces
  compact_shared_attacks compact_stress direct_one_owner direct_shared
  freelist_attacks gc_arena gc_attacks papers_attacks
)
[ "${SUREFIT_TESTS:-}" != all ] || address+=(
  collections_btree collections_lru collections_map collections_text compact_beside compact_collect compact_contiguous
  compact_sharded compact_shared compact_shared_bytes compact_shared_parked
  direct_attacks direct_pooled
  freelist_limits freelist_bump_chunk
  gc_judged
  papers_it
)
thread=(compact_beside compact_sharded compact_stress direct_shared)

# Programs of sanitizers/, with the compiler and flags that are set.
tests() {
  cargo "${toolchain[@]}" test --locked --package surefit-sanitizers --target "$host" "${build_std[@]}" "$@"
}

# must_see TEST WORDS: the sanitizer ends the program and says so.
must_see() {
  local log status=0
  log=$(tests --test "$1" -- --nocapture 2>&1) || status=$?
  if [ "$status" = 0 ] || ! grep -q "$2" <<<"$log"; then
    printf '%s\n' "$log"
    echo "the sanitizer does not see what $1 does: its silence says nothing"
    exit 1
  fi
  echo "the sanitizer sees what $1 does: $(grep -m 1 "$2" <<<"$log")"
}

# run KNOWN WORDS TEST…
run() {
  must_see "$1" "$2"
  shift 2
  # Each name becomes --test NAME.
  tests "${@/#/--test=}"
}

address() {
  toolchain=(+nightly) build_std=()
  RUSTFLAGS=-Zsanitizer=address CARGO_TARGET_DIR=$target/sanitizers/address \
    run known_overflow 'ERROR: AddressSanitizer: heap-buffer-overflow' "${address[@]}"
}

thread() {
  build_std=(-Zbuild-std=std,panic_unwind,test)
  toolchain=(+nightly)
  if [ ! -d "$(rustc +nightly --print sysroot)/lib/rustlib/src/rust/library" ]; then
    local said status=0
    said=$(bash ci/toolchain.sh rust) || status=$?
    [ "$status" -ne 3 ] || { echo "NOT RUN: thread sanitizer (no source of the standard library: ${said##*$'\n'})" && return; }
    [ "$status" -eq 0 ] || { echo "$said" && exit 1; }
    RUSTC=$(realpath -m "${SUREFIT_TOOLCHAIN:-target/toolchain}")/rustc
    export RUSTC RUSTC_BOOTSTRAP=1
    toolchain=()
    # Debian's compiler comes without the sanitizers' run time; nightly's is of the same LLVM.
    cp "$archives/librustc-nightly_rt.tsan.a" "$("$RUSTC" --print target-libdir)/librustc-stable_rt.tsan.a"
  fi
  RUSTFLAGS=-Zsanitizer=thread CARGO_TARGET_DIR=$target/sanitizers/thread \
    run known_race 'WARNING: ThreadSanitizer: data race' "${thread[@]}"
}

for sanitizer in "$@"; do
  if [ -e "$archives/librustc-nightly_rt.asan.a" ]; then
    echo "-- $sanitizer sanitizer"
    "$sanitizer"
  else
    echo "NOT RUN: $sanitizer sanitizer (no nightly Rust for $host here: rustup toolchain install nightly)"
  fi
done
