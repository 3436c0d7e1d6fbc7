#!/usr/bin/env bash
# A part of one case, in the folder in which it is started: one.sh NAME version|prepare|probe|run [LIBRARY]
#
# A case is a file cases/NAME.sh with these names:
#   needs      an array of COMMAND:PACKAGE or /FILE:PACKAGE, what must be there and the package that brings it
#   version    prints the program's version
#   prepare    makes the inputs in an empty folder, under the platform's allocator; what takes no inputs has `prepare() { :; }`
#   probe      a short call of the program, which shows whose malloc it uses: `version` without it
#   run        runs the program in a copy of that folder. What it prints, on both streams, must not change from run to run.
# `version`, `probe` and `run` call the program with `"$@"` before it: this preloads the library and measures. What they call without it, such as
# clients and digests, runs under the platform's allocator. `$input` is the folder input/, `$port` a free port most likely.
set -euo pipefail
here=$(dirname "$(realpath "$0")")
input=$here/input
library=${3:-}
port=$((20000 + $$ % 20000))
# Nothing of the user's settings, and one language.
for variable in $(compgen -e | grep -E '^(CARGO|RUST|PYTHON|PERL|LUA|_?JAVA|JDK|NODE|GIT|EMACS|XDG|LC_|LANG)|^LD_PRELOAD$'); do unset "$variable"; done
export HOME=$PWD LC_ALL=C.UTF-8 TZ=UTC PYTHONHASHSEED=0 PYTHONDONTWRITEBYTECODE=1 PERL_HASH_SEED=0

under() {
  /usr/bin/time -q -a -o "${times:-/dev/null}" -f '%U %S %M' env ${library:+"LD_PRELOAD=$library"} "$@"
}

# until_true COMMAND…: waits until a command succeeds, at most a minute.
until_true() {
  local attempt
  for attempt in $(seq 600); do
    ! "$@" >/dev/null 2>&1 || return 0
    sleep 0.1
  done
  echo "waited a minute in vain for: $*" >&2
  return 1
}

. "$here/cases/$1.sh"
declare -F probe >/dev/null || probe() { version "$@"; }
case $2 in
  version | probe | run) "$2" under ;;
  prepare) prepare ;;
  *) echo "one.sh: no such part: $2" >&2 && exit 2 ;;
esac
