#!/usr/bin/env bash
# examples/cache, a workspace of its own, in parts. Each says how long it takes on two idle processors, and how it ended; one that fails does not stop
# the others. What is not installed or cannot be fetched is NOT RUN.
#   tests      2 to 6 min  warnings, tests, the release build, the load in its smallest form against every server that is installed
#   benchmark  1 min       the server under redis-cli and redis-benchmark
#   redis-py   3 min       the tests of commands that the client library redis-py brings along, in both versions of the protocol
#   measure    6 min a round, after builds   payload of MIB (64): this cache, std's containers with the system's malloc and with libsurefit_malloc.so, and
#                          Redis that defragments, with its own jemalloc and with our hint, all of them in each of ROUNDS (3) rounds
# usage: cache.sh [PART…]     the first three if none is given. DONE=FOLDER: parts that passed leave a file there, and are left out the next time;
#                             `measure` writes load.txt (the table), load.json and load.svg to OUT (target/cache-load), and keeps what it builds in BUILT
set -euo pipefail
cd "$(dirname "$0")/../.."
outer=${CARGO_TARGET_DIR:-target}
target=$(realpath -m "$outer/cache")
manifest=examples/cache/Cargo.toml
scratch=$(mktemp -d)
server=
trap '[ -z "$server" ] || kill "$server"; rm -rf "$scratch"' EXIT

in_cache() { CARGO_TARGET_DIR=$target cargo "$@"; }

tests() {
  in_cache fmt --manifest-path "$manifest" -- --check
  in_cache clippy --locked --manifest-path "$manifest" --all-targets -- -D warnings
  # With their output: a test says in a line NOT RUN what is not installed.
  in_cache test --locked --manifest-path "$manifest" -- --nocapture
  in_cache build --release --locked --manifest-path "$manifest"
  "$target/release/surefit-cache-load"
}

# A server that ends with its part. One shard: redis-py's tests ask for all keys with one SCAN.
serve() {
  in_cache build --release --locked --quiet --manifest-path "$manifest"
  "$target/release/surefit-cache" --port 0 --shards 1 >"$scratch/port" &
  server=$!
  trap 'kill "$server"' EXIT
  until grep -q listening "$scratch/port"; do sleep 0.1; done
  port=$(sed 's/.*://' "$scratch/port")
}

benchmark() {
  if ! command -v redis-benchmark >/dev/null; then
    echo "NOT RUN: redis-cli and redis-benchmark (not installed)"
    return
  fi
  serve
  [ "$(redis-cli -p "$port" PING)" = PONG ]
  redis-benchmark -p "$port" -q -n 20000 -c 20 -P 8 -t ping,set,get,incr,lpush,rpush,lpop,rpop,hset,lrange_100,mset
  redis-cli -p "$port" FLUSHALL
}

redis-py() {
  local client=redis==5.0.8 plugin=$PWD/ci/extra/cache
  if ! { python3 -m venv "$scratch/python" &&
    "$scratch/python/bin/pip" -q install "$client" pytest==8.3.3 pytest-timeout==2.3.1 pytest-asyncio==0.23.8 &&
    "$scratch/python/bin/pip" -q download "$client" --no-binary :all: --no-deps -d "$scratch"; } >"$scratch/log" 2>&1; then
    echo "NOT RUN: redis-py's tests ($(tail -n 1 "$scratch/log"))"
    return
  fi
  tar -xzf "$scratch"/redis-*.tar.gz -C "$scratch"
  serve
  cd "$scratch"/redis-*/
  # What is tested is the installed library.
  rm -r redis
  for protocol in 2 3; do
    PYTHONPATH=$plugin "$scratch/python/bin/python" -m pytest -q -p redis_py --redis-url "redis://127.0.0.1:$port/0" --protocol "$protocol" --timeout 10 \
      -W ignore --tb=short tests/test_commands.py tests/test_encoding.py
  done
}

measure() {
  local redis=() built host out=${OUT:-$outer/cache-load}
  built=$(realpath -m "${BUILT:-$outer/redis}")
  . ci/extra/redis-built.sh
  if redis_built "$built"; then
    mapfile -t redis < <(redis_defragments "$built")
  else
    echo "NOT RUN: Redis that defragments ($missing)"
  fi
  in_cache build --release --locked --quiet --manifest-path "$manifest"
  host=$(rustc -vV | sed -n 's/^host: //p')
  # Without the C library's and the loader's pages.
  RUSTFLAGS="-C target-feature=+crt-static" CARGO_TARGET_DIR=$target/static cargo build --release --locked --quiet --no-default-features \
    --target "$host" --bin surefit-cache --manifest-path "$manifest"
  # Redis stops at 5 % of fragmentation: one not-full page of a size-class.
  SUREFIT_DEFRAG_PAGES=1 "$target/release/surefit-cache-load" --size full --budget-mb "${MIB:-64}" --rounds "${ROUNDS:-3}" --only surefit,std \
    --program "$target/static/$host/release/surefit-cache" --preload "std-surefit=$built/libsurefit_malloc.so" "${redis[@]}" --out "$out"
  echo "table, data and plot: $out"
}

if ! said=$(in_cache fetch --locked --manifest-path "$manifest" 2>&1); then
  echo "$said"
  # A lock file that is behind its manifest is a fault of ours.
  if grep -q 'lock file' <<<"$said"; then exit 1; fi
  echo "NOT RUN: cache (its sources cannot be fetched)"
  exit 0
fi
[ $# -gt 0 ] || set -- tests benchmark redis-py
failed=()
for part in "$@"; do
  case $part in
    tests | benchmark | redis-py | measure) ;;
    *) echo "cache.sh has no part $part" && exit 1 ;;
  esac
  if [ -n "${DONE:-}" ] && [ -e "$DONE/$part" ]; then
    echo "== cache: $part: passed before"
    continue
  fi
  echo "== cache: $part:$(sed -n "s/^#   $part  *//p" ci/extra/cache.sh | sed 's/^/ /')"
  before=$SECONDS
  # Not in a condition, where the shell would not stop at an error.
  set +e
  (set -e && "$part")
  result=$?
  set -e
  if [ "$result" = 0 ]; then
    echo "== cache: $part: passed in $((SECONDS - before)) s"
    [ -z "${DONE:-}" ] || { mkdir -p "$DONE" && touch "$DONE/$part"; }
  else
    echo "== cache: $part: FAILED after $((SECONDS - before)) s"
    failed+=("$part")
  fi
done
[ ${#failed[@]} = 0 ] || { echo "FAILED: ${failed[*]}" && exit 1; }
