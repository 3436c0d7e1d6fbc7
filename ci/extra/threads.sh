#!/usr/bin/env bash
# The shared heaps under more threads than cores ten times as long as ci/tests.sh, then four times under the thread sanitizer,
# then a hundred times as many schedules under the permutation tester.
set -euo pipefail
cd "$(dirname "$0")/../.."
SUREFIT_STRESS=10 cargo test --locked -p surefit-compact --test stress
SUREFIT_STRESS=4 bash ci/sanitizers.sh thread
SUREFIT_SHUTTLE=100 bash ci/models.sh
