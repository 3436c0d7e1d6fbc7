#!/usr/bin/env bash
# examples/cache, a workspace of its own: warnings, tests, the load in its smallest form against every server that is installed, and the server under
# redis-cli, redis-benchmark and the tests that the client library redis-py brings along. What is not installed or cannot be fetched is NOT RUN.
set -euo pipefail
cd "$(dirname "$0")/../.."
CARGO_TARGET_DIR=$(realpath -m "${CARGO_TARGET_DIR:-target}/cache")
export CARGO_TARGET_DIR
manifest=examples/cache/Cargo.toml
if ! said=$(cargo fetch --locked --manifest-path "$manifest" 2>&1); then
  echo "$said"
  # A lock file that is behind its manifest is a fault of ours.
  if grep -q 'lock file' <<<"$said"; then exit 1; fi
  echo "NOT RUN: cache (its sources cannot be fetched)"
  exit 0
fi
cargo fmt --manifest-path "$manifest" -- --check
cargo clippy --locked --manifest-path "$manifest" --all-targets -- -D warnings
# With their output: a test says in a line NOT RUN what is not installed.
cargo test --locked --manifest-path "$manifest" -- --nocapture
cargo build --release --locked --manifest-path "$manifest"
"$CARGO_TARGET_DIR/release/surefit-cache-load"

# One shard: redis-py's tests ask for all keys with one SCAN.
work=$(mktemp -d)
port=6390
"$CARGO_TARGET_DIR/release/surefit-cache" --port "$port" --shards 1 >/dev/null &
server=$!
trap 'kill "$server"; rm -rf "$work"' EXIT
sleep 1

if command -v redis-benchmark >/dev/null; then
  [ "$(redis-cli -p "$port" PING)" = PONG ]
  redis-benchmark -p "$port" -q -n 20000 -c 20 -P 8 -t ping,set,get,incr,lpush,rpush,lpop,rpop,hset,lrange_100,mset
  redis-cli -p "$port" FLUSHALL
else
  echo "NOT RUN: redis-cli and redis-benchmark (not installed)"
fi

client=redis==5.0.8
if ! { python3 -m venv "$work/python" &&
  "$work/python/bin/pip" -q install "$client" pytest==8.3.3 pytest-timeout==2.3.1 pytest-asyncio==0.23.8 &&
  "$work/python/bin/pip" -q download "$client" --no-binary :all: --no-deps -d "$work"; } >"$work/log" 2>&1; then
  echo "NOT RUN: redis-py's tests ($(tail -n 1 "$work/log"))"
  exit 0
fi
tar -xzf "$work"/redis-*.tar.gz -C "$work"
plugin=$PWD/ci/extra/cache
cd "$work"/redis-*/
# What is tested is the installed library.
rm -r redis
for protocol in 2 3; do
  PYTHONPATH=$plugin "$work/python/bin/python" -m pytest -q -p redis_py --redis-url "redis://127.0.0.1:$port/0" --protocol "$protocol" --timeout 10 \
    -W ignore --tb=short tests/test_commands.py tests/test_encoding.py
done
