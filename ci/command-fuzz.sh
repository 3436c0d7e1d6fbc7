#!/usr/bin/env bash
# The command under any arguments and any files, a few hundred cases: exit status 0, 1 or 2, two lines on stderr at most.
# SUREFIT_FUZZ_CASES is how many cases, SUREFIT_FUZZ_SEED the first one; a case is made from its seed alone. SUREFIT_FUZZ_VERB
# tries one verb only: replay, compare, certify, tune, trace, gen, 'gc replay', 'gc lua', 'gc record' or experiment.
set -euo pipefail
export SUREFIT_FUZZ_CASES="${SUREFIT_FUZZ_CASES:-400}"
export SUREFIT_FUZZ_SEED="${SUREFIT_FUZZ_SEED:-100001}"
# `surefit experiment` runs the command beside it. With all members: so nothing is built with other features than in the tests' build.
cargo build --locked --workspace --bin surefit-experiments --test command_fuzz
cargo test --locked --workspace --test command_fuzz -- --nocapture
