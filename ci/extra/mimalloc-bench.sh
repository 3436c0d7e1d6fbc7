#!/usr/bin/env bash
# The public suite mimalloc-bench, from its own source, under glibc's malloc, those of others, and ours:
#
#   ci/extra/mimalloc-bench.sh FOLDER [CHECKOUT]
#
# FOLDER, beside the project, gets the source (at the commit below), what is built from it, and results.json; nothing of it
# belongs into the project. CHECKOUT is a checkout of the suite that is there already; FOLDER then only gets what is built, and
# only the row `lua` writes into CHECKOUT, where it compiles extern/lua.
# Every row that builds runs on every library, in interleaved rounds; which rows did not build, and why, is said.
#
#   SUREFIT_MALLOC_LIBRARY=PATH       our library; without it, the one that a build put into target/preload/examples
#   SUREFIT_MALLOC_MORE=NAME=PATH,…   further libraries beside Debian's libmimalloc2.0, libjemalloc2 and libtcmalloc-minimal4
#   SUREFIT_MALLOC_ONLY=NAME,…        only these, and glibc
#   SUREFIT_MALLOC_ROWS=NAME,…        only these rows
#   SUREFIT_ROUNDS=N                  rounds, 3 without it
#
# Needs gcc, g++, make, python3 and /usr/bin/time. Rows of the suite that use redis, z3, ruby or gs run those of Debian, where
# they are installed.
set -euo pipefail
project=$(cd "$(dirname "$0")/../.." && pwd)
commit=ce5784f1cef3d48ddc931479e4899ffad5ab3943 # 2026-07-15
lua=1ab3208a1fceb12fca8f24ba57d6e13c5bff15e3    # v5.4.7, which the row `lua` compiles

[ $# -eq 1 ] || [ $# -eq 2 ] || { sed -n '2,18p' "$0"; exit 2; }
for tool in gcc g++ make python3 /usr/bin/time; do
  command -v "$tool" >/dev/null || { echo "mimalloc-bench: needs $tool: install it" >&2; exit 2; }
done
folder=$(realpath -m -- "$1")
case $folder/ in "$project"/*) echo "mimalloc-bench: $folder is inside the project: choose a folder beside it" >&2; exit 2 ;; esac
mkdir -p "$folder"

# A commit of a repository, in a folder.
checkout() { # URL COMMIT FOLDER
  [ -d "$3/.git" ] || git init -q "$3"
  [ "$(git -C "$3" rev-parse -q --verify HEAD || true)" = "$2" ] && return
  git -C "$3" fetch -q --depth 1 "$1" "$2"
  git -C "$3" checkout -q --force FETCH_HEAD
}

suite=${2:-}
if [ -z "$suite" ]; then
  suite=$folder/mimalloc-bench
  checkout https://github.com/daanx/mimalloc-bench "$commit" "$suite"
  checkout https://github.com/lua/lua "$lua" "$suite/extern/lua" || echo "NOT RUN: lua (its source cannot be fetched)"
fi
[ -f "$suite/bench/CMakeLists.txt" ] || { echo "mimalloc-bench: $suite: no checkout of mimalloc-bench" >&2; exit 2; }
suite=$(cd "$suite" && pwd)
target=${CARGO_TARGET_DIR:-$project/target}
exec /usr/bin/env python3 "$project/ci/extra/mimalloc-bench.py" "$suite" "$folder" "$target/preload/examples/libsurefit_malloc.so"
