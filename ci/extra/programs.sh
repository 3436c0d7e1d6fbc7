#!/usr/bin/env bash
# Real programs of Debian's packages under a preloaded malloc: each runs once under the platform's allocator and once under the
# library, and what it writes and its exit status must be the same. One line a program: its version, what came of it, the seconds of
# processor time and the peak resident memory of its largest process under the library, and both as multiples of the platform's.
#
# usage: programs.sh [--library FILE] [--install] [--list] [--keep] [NAME…]      without a name: every program
#   --library FILE   the library; $SUREFIT_MALLOC_LIBRARY without it, and without both ours, which is built
#   --install        installs missing packages first: for root
#   --list           prints the programs with their versions, and runs none
#   --keep           keeps the folder with inputs and outputs
# SUREFIT_PROGRAM_SECONDS: a program that takes longer under either allocator counts as hung; 600 without it.
#
# programs/cases/NAME.sh says what is run; programs/one.sh says how to write one. A program whose packages are not installed is left out.
# The exit status is 1 if a program did not pass under the library.
set -euo pipefail
cd "$(dirname "$0")/../.."
folder=$PWD/ci/extra/programs
library=${SUREFIT_MALLOC_LIBRARY:-}
limit=${SUREFIT_PROGRAM_SECONDS:-600}
install= list= keep=
names=()

refuse() {
  echo "programs.sh: $*" >&2
  exit 2
}

while [ $# -gt 0 ]; do
  case $1 in
    --library)
      [ $# -gt 1 ] || refuse "--library needs a file"
      library=$2
      shift
      ;;
    --install) install=1 ;;
    --list) list=1 ;;
    --keep) keep=1 ;;
    --help | -h) sed -n '2,/^set /s/^# \{0,1\}//p' "$0" && exit 0 ;;
    -*) refuse "no such option: $1; --help lists them" ;;
    *) names+=("$1") ;;
  esac
  shift
done
[ ${#names[@]} -gt 0 ] || for file in "$folder"/cases/*.sh; do names+=("$(basename "$file" .sh)"); done
for name in "${names[@]}"; do
  { [[ $name != */* ]] && [ -f "$folder/cases/$name.sh" ]; } || refuse "no program $name: there are $(cd "$folder/cases" && echo *.sh | sed 's/\.sh//g')"
done
[[ $limit =~ ^[1-9][0-9]*$ ]] || refuse "SUREFIT_PROGRAM_SECONDS is $limit, but must be a whole number above 0"
if [ -z "$library" ] && [ -z "$list" ]; then
  cargo build --locked --profile preload -p surefit-malloc --example surefit_malloc
  library=$(cargo metadata --format-version 1 --no-deps | sed 's/.*"target_directory":"\([^"]*\)".*/\1/')/preload/examples/libsurefit_malloc.so
fi
. ci/extra/debian.sh
[ -z "$install" ] || [ "$(id -u)" -eq 0 ] || refuse "--install is for root; apt-get install what is left out"
[ -z "$install" ] || [ -x /usr/bin/time ] || install_packages time || true
[ -x /usr/bin/time ] || refuse "no /usr/bin/time, which measures: apt-get install time"

work=$(mktemp -d)
session=
finish() {
  [ -z "$session" ] || kill -KILL -- "-$session" 2>/dev/null || true
  if [ -n "$keep" ]; then echo "kept: $work"; else rm -rf "$work"; fi
}
trap finish EXIT
trap 'exit 130' INT TERM HUP
# nginx runs as another user.
chmod 755 "$work"
if [ -z "$list" ]; then
  [ -f "$library" ] || refuse "no library $library"
  # A name without the blanks and colons at which LD_PRELOAD is divided, in a folder that every user may read.
  cp -L "$library" "$work/library.so" && chmod 755 "$work/library.so"
  said=$(LD_PRELOAD=$work/library.so /bin/true 2>&1) || refuse "/bin/true fails under $library${said:+: $said}"
  [ -z "$said" ] || refuse "$library cannot be preloaded: $said"
fi

# What a case needs and does not find here: the names of packages.
missing() {
  (
    . "$folder/cases/$1.sh"
    for need in "${needs[@]}"; do
      case $need in
        /*) compgen -G "${need%:*}" >/dev/null || echo "${need#*:}" ;;
        *) command -v "${need%:*}" >/dev/null || echo "${need#*:}" ;;
      esac
    done
  ) | sort -u | tr '\n' ' '
}

version() {
  local said
  said=$(bash "$folder/one.sh" "$1" version 2>&1 </dev/null) || true
  grep -oE '[0-9]+(\.[0-9]+)+[-+_.a-z0-9]*' <<<"$said" | sed -n 1p
}

# Whether the program's calls of malloc go to the library: one that brings its own malloc would pass whatever the library does.
# The dynamic linker says where it finds the name; its own calls say nothing of the program.
is_used() {
  local place=$work/$1/bindings
  mkdir -p "$place"
  (cd "$work/$1/prepared" && LD_DEBUG=bindings LD_DEBUG_OUTPUT=$place/of \
    bash "$folder/one.sh" "$1" probe "$work/library.so" >/dev/null 2>&1 </dev/null) || true
  [ "$(cat "$place"/of.* 2>/dev/null | grep -v 'binding file [^ ]*/ld-linux' | grep -cE "to $work/library.so .*symbol .(malloc|free|calloc|_Znwm)'")" -gt 0 ]
}

# Runs a case once in a copy of what it prepared. Whatever it leaves running is killed at the end. The shell lets programs
# in the background ignore two signals, which some of them use.
run() {
  local name=$1 side=$2 place=$work/$1 status=0
  rm -rf "$place/run" && cp -a "$place/prepared" "$place/run"
  : >"$place/$side.times"
  (cd "$place/run" && times=$place/$side.times exec env --default-signal=INT,QUIT setsid timeout -k 5 "$limit" \
    bash "$folder/one.sh" "$name" run "${@:3}") >"$place/$side.out" 2>"$place/$side.err" </dev/null &
  session=$!
  wait "$session" || status=$?
  kill -KILL -- "-$session" 2>/dev/null || true
  session=
  echo "$status" >"$place/$side.status"
}

# In one or two words, what an exit status says.
ended() {
  case $1 in
    0) ;;
    124 | 137) echo "hung, and was ended after $limit s" ;;
    129 | 1[3-9]?) echo "crashed, signal $(($1 - 128))" ;;
    *) echo "exit status $1" ;;
  esac
}

# Where the two runs differ, and the end of what the second one says of it.
details() {
  local place=$work/$1 stream
  for stream in out err; do
    diff "$place/platform.$stream" "$place/library.$stream" >"$place/$stream.diff" ||
      { echo "  $stream, < platform, > library:" && head -n 12 "$place/$stream.diff" | cut -c 1-300 | sed 's/^/    /'; }
  done
}

# judge NAME: prints the line of a case that ran.
judge() {
  local name=$1 place=$work/$1 status verdict
  status=$(cat "$place/library.status")
  verdict=$(ended "$status")
  case $verdict in
    hung*) verdict=hung ;;
    crashed*) verdict=crashed ;;
    *)
      verdict=passed
      cmp -s "$place/platform.out" "$place/library.out" && cmp -s "$place/platform.err" "$place/library.err" && [ "$status" -eq 0 ] || verdict=differs
      ;;
  esac
  awk -v name="$name" -v version="$2" -v verdict="$verdict" '
    { side = FILENAME ~ /library.times$/; seconds[side] += $1 + $2; if ($3 > kib[side]) kib[side] = $3 }
    function times(a, b) { return b > 0 ? sprintf("%.2f", a / b) : "-" }
    END { printf "%-15s %-22s %-9s %9.2f %7s %9.1f %7s\n", name, version, verdict, seconds[1], times(seconds[1], seconds[0]),
      kib[1] / 1024, times(kib[1], kib[0]) }' "$place/platform.times" "$place/library.times"
  [ "$verdict" != passed ] || return 0
  [ "$status" -eq 0 ] || echo "  $(ended "$status")"
  details "$name"
  return 1
}

# broken NAME WHY STREAM: a case that says nothing of the library.
broken() {
  printf '%-15s %s\n' "$1" "broken: $2"
  tail -n 5 "$work/$1/$3" | sed 's/^/    /'
}

one() {
  local name=$1 version lacks
  rm -rf "${work:?}/$name" && mkdir -p "$work/$name/prepared"
  version=$(version "$name")
  (cd "$work/$name/prepared" && timeout -k 5 "$limit" bash "$folder/one.sh" "$name" prepare) >"$work/$name/prepare.err" 2>&1 </dev/null ||
    { broken "$name" "its inputs cannot be made" prepare.err; return 1; }
  is_used "$name" || { printf '%-15s %-22s %s\n' "$name" "$version" "calls another malloc: it has its own, or the library has none" && return 1; }
  run "$name" platform
  [ "$(cat "$work/$name/platform.status")" -eq 0 ] ||
    { broken "$name" "$(ended "$(cat "$work/$name/platform.status")") under the platform's allocator" platform.err; return 1; }
  run "$name" library "$work/library.so"
  judge "$name" "$version"
}

declare -A count=([passed]=0 [failed]=0 [left out]=0)
[ -n "$list" ] || printf '%-15s %-22s %-9s %9s %7s %9s %7s\n' program version "" seconds times MiB times
for name in "${names[@]}"; do
  lacks=$(missing "$name")
  # shellcheck disable=SC2086
  [ -z "$lacks" ] || [ -z "$install" ] || { install_packages $lacks || true; lacks=$(missing "$name"); }
  if [ -n "$lacks" ]; then
    printf '%-15s %-22s %s\n' "$name" - "left out: apt-get install $lacks"
    count[left out]=$((count[left out] + 1))
  elif [ -n "$list" ]; then
    printf '%-15s %s\n' "$name" "$(version "$name")"
  elif one "$name"; then
    count[passed]=$((count[passed] + 1))
  else
    count[failed]=$((count[failed] + 1))
  fi
  [ -n "$keep" ] || rm -rf "${work:?}/$name"
done
[ -n "$list" ] || echo "${count[passed]} passed, ${count[failed]} failed, ${count[left out]} left out"
[ "${count[failed]}" -eq 0 ]
