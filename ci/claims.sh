#!/usr/bin/env bash
# Every claim of the experiments can hold and can fail: each `Claim::that` of the source has a unit test in which it holds and
# one in which it does not. `ci/claims.sh` runs the unit tests; `ci/claims.sh --noted FILE` reads what a run with
# SUREFIT_CLAIMS=FILE noted (`kit/noted.rs`). Paths after that restrict it to the claims below them.
set -euo pipefail
cd "$(dirname "$0")/.."
noted=
if [ "${1-}" = --noted ]; then
  noted=$2
  shift 2
fi
if [ -z "$noted" ]; then
  noted=$(mktemp)
  trap 'rm -f "$noted"' EXIT
  SUREFIT_CLAIMS=$noted cargo test -q -p surefit-experiments --bin surefit-experiments --locked >&2
fi
[ $# -gt 0 ] || set -- lab/experiments/src/experiments
# The places before the tests of each file: `file:line`.
places=$(
  find "$@" -name '*.rs' ! -name tests.rs -print0 | sort -z | xargs -0 awk '
    FNR == 1 { in_tests = 0 }
    /^#\[cfg\(test\)\]/ { in_tests = 1 }
    !in_tests && /Claim::that\(/ && !/^ *\/\// { print FILENAME ":" FNR }'
)
[ -n "$places" ] || { echo "claims: no claim below $*" >&2; exit 1; }
awk -v noted="$noted" '
  BEGIN { while ((getline line < noted) > 0) { split(line, part, " "); seen[part[1], part[2]] = 1 } }
  {
    places++
    holds = ($1, "holds") in seen
    fails = ($1, "does-not") in seen
    if (!holds && !fails) { print $1 ": no unit test in which this claim holds, and none in which it does not"; missing++ }
    else if (!holds) { print $1 ": no unit test in which this claim holds"; missing++ }
    else if (!fails) { print $1 ": no unit test in which this claim does not hold"; missing++ }
  }
  END { print places " claims; " missing + 0 " without both verdicts"; exit missing > 0 }
' <<<"$places"
