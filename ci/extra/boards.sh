#!/usr/bin/env bash
# The tests of the heaps on all emulated boards, where .ci/run takes two.
set -euo pipefail
cd "$(dirname "$0")/../.."
bash ci/boards.sh mps2-an386 virt microbit verdex
