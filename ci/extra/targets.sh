#!/usr/bin/env bash
# Every test of the heaps' crates on 32 bits and on aarch64, where .ci/run runs a selection: most of an hour under the emulator.
set -euo pipefail
cd "$(dirname "$0")/../.."
SUREFIT_TESTS=all bash ci/targets.sh
