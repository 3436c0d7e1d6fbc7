#!/usr/bin/env bash
# The crates mimalloc (version 3), rpmalloc and snmalloc as libraries for LD_PRELOAD, to be measured beside ours:
#
#   export "$(ci/extra/peers.sh)"          all of them; then `surefit experiment malloc`, or ci/extra/mimalloc-bench.sh
#   ci/extra/peers.sh snmalloc             only those that are named
#
# The last line, on stdout, is SUREFIT_MALLOC_MORE=NAME=PATH,…; all else goes to stderr. Each library first serves threads that
# free each other's objects, and python3, if there is one. Needs a C compiler, for snmalloc one of C++17.
set -euo pipefail
cd "$(dirname "$0")/../.."
target=$(realpath -m "${CARGO_TARGET_DIR:-target}/peers")
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT

[ $# -gt 0 ] || set -- mimalloc rpmalloc snmalloc
for name; do
  case $name in mimalloc | rpmalloc | snmalloc) ;; *) echo "peers: no $name: mimalloc, rpmalloc, snmalloc" >&2; exit 2 ;; esac
done
features=$(IFS=,; echo "$*")
{
  for step in clippy build; do
    allow=()
    [ $step = build ] || allow=(-- -D warnings)
    CARGO_TARGET_DIR=$target cargo $step --release --locked --manifest-path peers/malloc/Cargo.toml --lib --examples \
      --features "$features" "${allow[@]}"
  done
  "${CC:-cc}" -std=gnu11 -O1 -pthread -fno-builtin -o "$work/threads" crates/surefit-malloc/tests/programs/threads.c
} >&2

program='import json, threading
def work(): [json.loads(json.dumps({str(i): [i] * 50 for i in range(500)})) for _ in range(20)]
threads = [threading.Thread(target=work) for _ in range(4)]
[thread.start() for thread in threads]
[thread.join() for thread in threads]'
more=
for name; do
  library=$target/release/examples/libpeer_$name.so
  echo "== $name" >&2
  LD_PRELOAD=$library "$work/threads" 2000 >&2
  if command -v python3 >/dev/null; then
    LD_PRELOAD=$library PYTHONMALLOC=malloc python3 -c "$program" >&2
  fi
  # Debian's mimalloc has the plain name.
  [ "$name" = mimalloc ] && name=mimalloc3
  more=$more${more:+,}$name=$library
done
echo "SUREFIT_MALLOC_MORE=$more"
