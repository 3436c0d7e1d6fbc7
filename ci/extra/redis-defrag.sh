#!/usr/bin/env bash
# Redis that asks our hint: Debian's source package of Redis, built with the jemalloc that it brings along, and built with libsurefit_malloc.so behind
# redis/jemalloc/jemalloc.h. Both pass Redis' own tests of its defragmentation, and then play the drifting load of examples/cache beside that cache, with
# `activedefrag yes`: resident memory at each phase's end, processor time of an operation, latency. What cannot be downloaded is NOT RUN.
# usage: redis-defrag.sh [MIB] [ROUNDS]      payload of 64 MiB, 3 rounds if not given; FOLDER=PATH keeps the load's JSON and plot there, and
#                                            BUILT=PATH keeps both programs, or takes those of an earlier call
set -euo pipefail
cd "$(dirname "$0")/../.."
. ci/extra/redis-built.sh
mib=${1:-64} rounds=${2:-3}
target=${CARGO_TARGET_DIR:-$PWD/target}
scratch=$(mktemp -d)
trap 'rm -rf "$scratch"' EXIT
built=$(realpath -m "${BUILT:-$scratch/built}")

# suite NAME: Redis' own tests of its defragmentation. What does not apply to our heap: tests that first make fragmentation as jemalloc has it, and
# find less; and the one of scripts, where what Lua allocates, which Redis does not move, lies in our heap and with jemalloc in the C library's.
suite() {
  (cd "$built/$1" && ./runtest --single unit/memefficiency --clients 1 --no-latency) 2>&1 | sed 's/\x1b\[[0-9;]*m//g' >"$scratch/said" || true
  awk -v name="$1" '/^\[ok\]/ { passed++ }
    /^\[err\]/ { test = $0; getline; if (/Expected [0-9.]+ >= .*expected_frag/ || (test ~ /eval scripts/ && name == "surefit")) { other++ } else { failed++; print test; print } }
    END { printf "%s: unit/memefficiency: %d passed, %d failed, %d do not apply\n", name, passed, failed, other
      exit !passed || failed }' "$scratch/said"
}

if ! redis_built "$built"; then
  echo "NOT RUN: Redis with our hint ($missing)"
  exit 0
fi
echo "== $("$built/surefit/src/redis-server" --version)"

# Not-full pages that a size-class may keep: one. Redis stops at 5 % of fragmentation.
export SUREFIT_DEFRAG_PAGES=1
# What fails with Redis' own jemalloc is too slow a machine.
suite jemalloc || true
suite surefit

CARGO_TARGET_DIR=$target/cache cargo build --locked --quiet --release --manifest-path examples/cache/Cargo.toml
mapfile -t redis < <(redis_defragments "$built")
"$target/cache/release/surefit-cache-load" --size full --budget-mb "$mib" --rounds "$rounds" --only surefit,redis-jemalloc "${redis[@]}" \
  ${FOLDER:+--out "$FOLDER"}
