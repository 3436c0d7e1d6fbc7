#!/usr/bin/env bash
# Fuzzes all targets for some minutes altogether, on all processors; what was found before is in fuzz/corpus, and grows.
# usage: fuzz.sh [MINUTES]      30 if not given
set -euo pipefail
cd "$(dirname "$0")/../.."
minutes=${1:-30}
targets=$(ls fuzz/fuzz_targets/*.rs | wc -l)
# Whole rounds: the last one may leave processors idle.
rounds=$(((targets + $(nproc) - 1) / $(nproc)))
export SUREFIT_CORPUS="${SUREFIT_CORPUS:-fuzz/corpus}"
bash ci/fuzz.sh -max_total_time=$((minutes * 60 / rounds))
