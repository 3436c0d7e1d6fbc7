#!/usr/bin/env bash
# A hundred thousand generated heaps in exactly their certified bytes, larger spaces of scripts exhausted, and every attack under
# the address sanitizer.
# usage: heaps.sh [HEAPS]      100000 if not given
set -euo pipefail
cd "$(dirname "$0")/../.."
SUREFIT_HEAPS=${1:-100000} cargo test --locked -p surefit-compact --test exact_bytes -- --nocapture
SUREFIT_HEAPS=${1:-100000} cargo test --locked -p surefit-papers --test it exact -- --nocapture
SUREFIT_EXHAUST=1 cargo test --locked -p surefit-compact --test exhausted_certificates -- --nocapture
SUREFIT_EXHAUST=1 cargo test --locked -p surefit-papers --test it exhausted -- --nocapture
SUREFIT_TESTS=all bash ci/sanitizers.sh address
