#!/usr/bin/env bash
# C programs of somebody else on the C interface: expat and cJSON, from Debian's source packages, with their own test suites. Every object of the
# programs and of their tests is in one static region, under each kind of raw heap: the compiler renames malloc and its family to those of
# crates/surefit-c/tests/c/region.c. The default memory suite of expat and the default hooks of cJSON are these functions too; tests that set suites or hooks
# of their own set these. Prints each suite's count, and the peak and the check of the heap. What cannot be downloaded is NOT RUN.
# usage: c-program.sh [REGION_BYTES]      262144 if not given
set -euo pipefail
cd "$(dirname "$0")/../.."
bytes=${1:-262144}
c=$PWD/crates/surefit-c
library=${CARGO_TARGET_DIR:-$PWD/target}/release/libsurefit_c.a
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT

# heap KIND: the functions over a region under this kind of heap.
heap() {
  cc -O2 -Wall -Wextra -Werror -DREGION_KIND="SUREFIT_RAW_$1" -DREGION_BYTES="$bytes" -I"$c/include" -c "$c/tests/c/region.c" -o "$work/region.o"
}

renamed=(-Dmalloc=region_malloc -Dcalloc=region_calloc -Drealloc=region_realloc -Dfree=region_free)
# program NAME ARGUMENT…: compiles a program of somebody else, whose warnings are not ours.
program() {
  local name=$1
  shift
  cc -O1 -g -w "${renamed[@]}" "$@" "$work/region.o" "$library" -lm -lpthread -ldl -o "$work/$name"
}

expat() {
  local lib=$work/expat/expat/lib tests=$work/expat/expat/tests
  : >"$work/expat_config.h"
  program runtests -I"$work" -I"$lib" -I"$tests" -DBYTEORDER=1234 -DXML_CONTEXT_BYTES=1024 -DXML_DTD -DXML_NS -DXML_GE=1 -DXML_DEV_URANDOM \
    -DXML_TESTING "$lib"/xml{parse,role,tok}.c "$tests"/*.c
  "$work/runtests" >"$work/said" || { cat "$work/said" && echo "FAILED: expat" && exit 1; }
  cat "$work/said"
  grep -q '^surefit: [1-9]' "$work/said" || { echo "FAILED: expat did not use the heap" && exit 1; }
}

# One program per file with a `main`, one line for all; those that include cJSON.c test what is private there. They read files beside them.
cjson() {
  local tests=$work/cjson/tests file name sources
  cd "$tests"
  : >"$work/all"
  for file in $(grep -lE '\bmain\(' ./*.c); do
    name=$(basename "$file" .c) sources=("$file" unity/src/unity.c ../cJSON_Utils.c)
    grep -q 'common\.h\|"\.\./cJSON\.c"' "$file" || sources+=(../cJSON.c)
    program "$name" -I. -I.. -Iunity/src "${sources[@]}"
    "$work/$name" >"$work/said" || { cat "$work/said" && echo "FAILED: cJSON's $name" && exit 1; }
    cat "$work/said" >>"$work/all"
  done
  awk '/ Tests .* Failures / { tests += $1; failures += $3; ignored += $5; programs++ }
    /^surefit: / { objects += $2; refused += $4; live += $11; if ($7 > peak) peak = $7 }
    END { printf "%d programs: %d tests, %d failures, %d ignored\n", programs, tests, failures, ignored
      printf "surefit: %d objects, %d refused, largest peak %d bytes, %d bytes live at the exits, every check OK\n", objects, refused, peak, live
      if (programs < 10 || tests < 100 || objects == 0) { print "FAILED: cJSON has more programs and tests than were found"; exit 1 } }' "$work/all"
}

for tool in apt-get cc tar; do
  command -v "$tool" >/dev/null || { echo "NOT RUN: C programs of somebody else (no $tool here)" && exit 0; }
done
. ci/extra/debian-sources.sh
if ! apt update; then
  echo "NOT RUN: C programs of somebody else (no list of Debian's sources: $(tail -n 1 "$work/apt.log"))"
  exit 0
fi
cargo build --locked --quiet --release -p surefit-c
for name in expat cjson; do
  if ! fetch "$name"; then
    echo "NOT RUN: $name ($(tail -n 1 "$work/apt.log"))"
    continue
  fi
  for kind in DIRECT TINY TLSF SEGREGATED; do
    echo "== $(basename "$work/$name"_*.orig.tar.* | sed 's/\.orig.*//') on SUREFIT_RAW_$kind in $bytes bytes"
    heap "$kind"
    ("$name")
  done
done
