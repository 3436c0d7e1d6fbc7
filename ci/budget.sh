#!/usr/bin/env bash
# Builds from nothing, and compares the processor time that this takes with a limit. What later changes add for few users
# belongs behind a feature, or into a package of its own.
#
#   ci/budget.sh command      the command, as a release: what a newcomer waits for
#   ci/budget.sh [tests]      all tests of the workspace, without running them
#
# Machines differ, and one that has other work is slower. A limit is therefore a multiple of the time that `clap` and its
# dependencies take on the same machine, before the build and after it, some 20 % above what was measured. Prints the crates that
# took most. What is built already cannot be measured: if the target directory holds a build of this kind, a line says NOT RUN,
# and the build passes.
set -euo pipefail
cd "$(dirname "$0")/.."

[ $# -gt 0 ] || set -- tests
case $1 in
  command) folder=release limit=20 yardstick=(build --release) build=(build --release --bin surefit) ;;
  tests) folder=debug limit=86 yardstick=(build) build=(test --workspace --no-run) ;;
  *) sed -n '2,5p' "$0" | cut -c 3- && exit 2 ;;
esac
target=${CARGO_TARGET_DIR:-target}
unpassed=$target/.budget-$1
if [ -e "$unpassed" ]; then
  echo "FAILED: the build \"$1\" did not pass its budget the last time: remove $target, and measure again"
  exit 1
fi
is_cold=true
[ ! -e "$target/$folder" ] || is_cold=false

work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
# Stands before each call of the compiler: notes its processor time, with the crate and whether it is built for its tests.
cat >"$work/compiler" <<'WRAPPER'
#!/usr/bin/env bash
status=0
"$@" || status=$?
name=- kind="" previous=""
for argument; do
  [ "$previous" != --crate-name ] || name=$argument
  [ "$argument" != --test ] || kind=" (tests)"
  previous=$argument
done
# The second line is that of the children, as 1m2.345s for user and system. (A shell of its own, as in a pipe, has none.)
times >"$SUREFIT_CRATES.$$"
awk -v name="$name$kind" 'NR == 2 { split($1 "m" $2, t, /[ms]+/); printf "%.1f %s\n", 60 * (t[1] + t[3]) + t[2] + t[4], name }' \
  "$SUREFIT_CRATES.$$" >>"$SUREFIT_CRATES"
rm -f "$SUREFIT_CRATES.$$"
exit "$status"
WRAPPER
chmod +x "$work/compiler"
export SUREFIT_CRATES=$work/crates CARGO_INCREMENTAL=0
touch "$SUREFIT_CRATES"

# Seconds of processor time that all children took so far, into `cpu`.
read_cpu() {
  times >"$work/times"
  cpu=$(awk 'NR == 2 { split($1 "m" $2, t, /[ms]+/); printf "%.1f", 60 * (t[1] + t[3]) + t[2] + t[4] }' "$work/times")
}

if "$is_cold"; then
  mkdir -p "$target" && touch "$unpassed"
fi
# Without the downloads.
cargo fetch --locked
read_cpu
start=$cpu
RUSTC_WRAPPER=$work/compiler cargo "${yardstick[@]}" --locked --package clap
read_cpu
before=$cpu
RUSTC_WRAPPER=$work/compiler cargo "${build[@]}" --locked
read_cpu
end=$cpu

if ! "$is_cold"; then
  echo "NOT RUN: budget of the build \"$1\" (some of it was built before: remove ${CARGO_TARGET_DIR:-target}/$folder)"
  exit 0
fi
CARGO_TARGET_DIR=$work/again cargo "${yardstick[@]}" --locked --package clap
read_cpu
sort -rn "$SUREFIT_CRATES" | awk 'NR <= 12 { seconds = $1; sub(/^[^ ]* /, ""); printf "%8.1f s %s\n", seconds, $0 }'
awk -v start="$start" -v before="$before" -v end="$end" -v after="$cpu" -v limit="$limit" -v what="$1" 'BEGIN {
  unit = (before - start + after - end) / 2
  multiple = (end - start) / unit
  printf "%s: %.0f s of processor time, %.1f times the %.1f s and %.1f s of clap; at most %d times\n", what, end - start, multiple, before - start, after - end, limit
  if (multiple > limit) {
    printf "FAILED: the build \"%s\" grew to %.1f times clap, more than %d: see the crates above\n", what, multiple, limit
    exit 1
  }
}'
rm -f "$unpassed"
