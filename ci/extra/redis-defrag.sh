#!/usr/bin/env bash
# Redis that asks our hint: Debian's source package of Redis, built with the jemalloc that it brings along, and built with libsurefit_malloc.so behind
# redis/jemalloc/jemalloc.h. Both pass Redis' own tests of its defragmentation, and then play the drifting load of examples/cache beside that cache, with
# `activedefrag yes`: resident memory at each phase's end, processor time of an operation, latency. What cannot be downloaded is NOT RUN.
# usage: redis-defrag.sh [MIB] [ROUNDS]      payload of 64 MiB, 3 rounds if not given; FOLDER=PATH keeps the load's JSON and plot there
set -euo pipefail
cd "$(dirname "$0")/../.."
mib=${1:-64} rounds=${2:-3}
target=${CARGO_TARGET_DIR:-$PWD/target}
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT

# build NAME ARGUMENT…: Redis in a folder of that name, its server and what its tests need.
build() {
  local folder=$work/$1
  cp -r "$work/redis" "$folder"
  shift
  make -C "$folder/src" -j2 "$@" redis-server redis-cli redis-benchmark >"$work/make.log" 2>&1 || { tail -n 20 "$work/make.log" && exit 1; }
}

# suite NAME: Redis' own tests of its defragmentation. What does not apply to our heap: tests that first make fragmentation as jemalloc has it, and
# find less; and the one of scripts, where what Lua allocates, which Redis does not move, lies in our heap and with jemalloc in the C library's.
suite() {
  (cd "$work/$1" && ./runtest --single unit/memefficiency --clients 1 --no-latency) 2>&1 | sed 's/\x1b\[[0-9;]*m//g' >"$work/said" || true
  awk -v name="$1" '/^\[ok\]/ { passed++ }
    /^\[err\]/ { test = $0; getline; if (/Expected [0-9.]+ >= .*expected_frag/ || (test ~ /eval scripts/ && name == "surefit")) { other++ } else { failed++; print test; print } }
    END { printf "%s: unit/memefficiency: %d passed, %d failed, %d do not apply\n", name, passed, failed, other
      exit !passed || failed }' "$work/said"
}

for tool in apt-get cc make tar tclsh; do
  command -v "$tool" >/dev/null || { echo "NOT RUN: Redis with our hint (no $tool here)" && exit 0; }
done
. ci/extra/debian-sources.sh
if ! { apt update && fetch redis; }; then
  echo "NOT RUN: Redis with our hint (no source package of it: $(tail -n 1 "$work/apt.log"))"
  exit 0
fi
echo "== $(basename "$work"/redis_*.orig.tar.* | sed 's/\.orig.*//')"

# Not-full pages that a size-class may keep: one. Redis stops at 5 % of fragmentation.
export SUREFIT_DEFRAG_PAGES=1
cargo build --locked --quiet --profile preload -p surefit-malloc --example surefit_malloc
libraries=$target/preload/examples
make -C "$work/redis/deps" hiredis linenoise lua hdr_histogram >"$work/make.log" 2>&1
build jemalloc MALLOC=jemalloc
build surefit MALLOC=libc CFLAGS="-DUSE_JEMALLOC -I$PWD/ci/extra/redis -I$PWD/crates/surefit-malloc/include" \
  LDFLAGS="-L$libraries -Wl,--no-as-needed -lsurefit_malloc -Wl,--as-needed -Wl,-rpath,$libraries"
# What fails with Redis' own jemalloc is too slow a machine.
suite jemalloc || true
suite surefit

CARGO_TARGET_DIR=$target/cache cargo build --locked --quiet --release --manifest-path examples/cache/Cargo.toml
defrag="--activedefrag yes --active-defrag-ignore-bytes 1mb --active-defrag-threshold-lower 5 --active-defrag-cycle-min 25 --active-defrag-cycle-max 75"
"$target/cache/release/surefit-cache-load" --size full --budget-mb "$mib" --rounds "$rounds" --settle-ms 10000 --only surefit,redis-jemalloc \
  --redis "jemalloc-defrag=$work/jemalloc/src/redis-server $defrag" --redis "surefit-defrag=$work/surefit/src/redis-server $defrag" \
  ${FOLDER:+--out "$FOLDER"}
