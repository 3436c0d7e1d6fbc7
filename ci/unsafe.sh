#!/usr/bin/env bash
# In the crates that programs link, `unsafe` stands only in these files and in tests beside the code; ARCHITECTURE.md, "Where
# `unsafe` lives", says what for. A file with `unsafe` that is not listed fails; so does a listed one that has none any more.
set -euo pipefail
cd "$(dirname "$0")/.."
listed=$(
  sort <<'FILES'
crates/surefit-c/src/certify.rs
crates/surefit-c/src/config.rs
crates/surefit-c/src/heap.rs
crates/surefit-c/src/panicked.rs
crates/surefit-c/src/raw.rs
crates/surefit-c/src/stats.rs
crates/surefit-c/src/status.rs
crates/surefit-clients/src/lua/memory.rs
crates/surefit-clients/src/lua/vm.rs
crates/surefit-compact/src/address.rs
crates/surefit-compact/src/brand.rs
crates/surefit-compact/src/branded/handle.rs
crates/surefit-compact/src/branded/heap.rs
crates/surefit-compact/src/byte_key.rs
crates/surefit-compact/src/block_table/bytes.rs
crates/surefit-compact/src/block_table/frames.rs
crates/surefit-compact/src/block_table/values.rs
crates/surefit-compact/src/class.rs
crates/surefit-compact/src/contiguous.rs
crates/surefit-compact/src/collect.rs
crates/surefit-compact/src/direct/memory.rs
crates/surefit-compact/src/direct/heap.rs
crates/surefit-compact/src/engine.rs
crates/surefit-compact/src/entry.rs
crates/surefit-compact/src/handle.rs
crates/surefit-compact/src/heap.rs
crates/surefit-compact/src/large.rs
crates/surefit-compact/src/large/chunks.rs
crates/surefit-compact/src/large/cursor.rs
crates/surefit-compact/src/large/grow.rs
crates/surefit-compact/src/large/place.rs
crates/surefit-compact/src/large/resize.rs
crates/surefit-compact/src/memory.rs
crates/surefit-compact/src/os/heap.rs
crates/surefit-compact/src/page.rs
crates/surefit-compact/src/parked.rs
crates/surefit-compact/src/shared/machinery/build.rs
crates/surefit-compact/src/shared/machinery/bytes.rs
crates/surefit-compact/src/shared/one_instance/counted.rs
crates/surefit-compact/src/shared/critical.rs
crates/surefit-compact/src/shared/machinery/fast.rs
crates/surefit-compact/src/shared/machinery/group.rs
crates/surefit-compact/src/shared/machinery/guard.rs
crates/surefit-compact/src/shared/one_instance/key.rs
crates/surefit-compact/src/shared/one_instance/key_guard.rs
crates/surefit-compact/src/shared/machinery/objects.rs
crates/surefit-compact/src/shared/shape.rs
crates/surefit-compact/src/shared/machinery/sure.rs
crates/surefit-compact/src/shared/machinery/table.rs
crates/surefit-core/src/doorway/registers.rs
crates/surefit-core/src/exchange.rs
crates/surefit-core/src/raw.rs
crates/surefit-core/src/region.rs
crates/surefit-core/src/zero.rs
crates/surefit-freelist/src/buddy/mod.rs
crates/surefit-freelist/src/heap.rs
crates/surefit-freelist/src/jamaica/blocks.rs
crates/surefit-freelist/src/memory.rs
crates/surefit-freelist/src/run.rs
crates/surefit-freelist/src/sweep.rs
crates/surefit-gc-derive/src/expand.rs
crates/surefit-gc/src/arena/allocator.rs
crates/surefit-gc/src/arena/array.rs
crates/surefit-gc/src/arena/attended.rs
crates/surefit-gc/src/arena/check.rs
crates/surefit-gc/src/arena/collect.rs
crates/surefit-gc/src/arena/gc.rs
crates/surefit-gc/src/arena/impls.rs
crates/surefit-gc/src/arena/kinds.rs
crates/surefit-gc/src/arena/mod.rs
crates/surefit-gc/src/arena/mutation.rs
crates/surefit-gc/src/arena/place.rs
crates/surefit-gc/src/arena/supply.rs
crates/surefit-gc/src/arena/survey.rs
crates/surefit-gc/src/arena/trace.rs
crates/surefit-gc/src/arena/weak.rs
crates/surefit-gc/src/client.rs
crates/surefit-gc/src/collector.rs
crates/surefit-gc/src/compact_fit/in_pieces.rs
crates/surefit-gc/src/compact_fit/mod.rs
crates/surefit-gc/src/compact_fit/stub.rs
crates/surefit-gc/src/free_list.rs
crates/surefit-gc/src/mark.rs
crates/surefit-gc/src/space.rs
crates/surefit-gc/src/tables.rs
crates/surefit-locked/src/collections.rs
crates/surefit-locked/src/global.rs
crates/surefit-locked/src/one_thread.rs
crates/surefit-os/src/clock.rs
crates/surefit-os/src/counter.rs
crates/surefit-os/src/platform.rs
crates/surefit-os/src/reservation.rs
FILES
)
found=$(grep -rlE '^[^/"]*\bunsafe\b' --include='*.rs' \
  crates/surefit{,-c,-core,-compact,-freelist,-gc,-gc-derive,-locked,-os,-clients,-trace}/src | grep -vE '/tests(\.rs|/)' | sort)
if ! diff <(printf '%s\n' "$listed") <(printf '%s\n' "$found"); then
  echo "unsafe.sh: > has unsafe and is not listed, < is listed and has none"
  exit 1
fi
