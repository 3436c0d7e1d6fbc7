//! The hook that records calls; and the adapters for kernels, on stand-ins of ours for the kernels'
//! headers, under each kind of raw heap. `ci/extra/kernels.sh` runs these on an emulated board.

mod compiler;

use compiler::assert_no_failure;

const KINDS: [&str; 4] = [
    "SUREFIT_RAW_DIRECT",
    "SUREFIT_RAW_TINY",
    "SUREFIT_RAW_TLSF",
    "SUREFIT_RAW_SEGREGATED",
];

#[test]
fn the_adapter_for_freertos_keeps_the_bytes_of_two_workers_and_the_counters() {
    for kind in KINDS {
        assert_no_failure(
            &[
                "adapters/freertos.c",
                "tests/c/worker.c",
                "tests/c/freertos/alone/main.c",
            ],
            &["adapters", "tests/c/freertos/alone"],
            &[&format!("-DconfigSUREFIT_KIND={kind}")],
        );
    }
}

#[test]
fn the_adapter_for_zephyr_keeps_every_byte_alignment_and_rewind() {
    for kind in KINDS {
        assert_no_failure(
            &["adapters/zephyr.c", "tests/c/zephyr/alone/main.c"],
            &["tests/c/zephyr/alone"],
            &[&format!("-DSUREFIT_ZEPHYR_KIND={kind}")],
        );
    }
}

#[test]
fn the_hook_that_records_calls_sends_what_its_format_says() {
    assert_no_failure(
        &["adapters/trace.c", "tests/c/trace/main.c"],
        &["adapters"],
        &[
            "-DSUREFIT_TRACE_BASE=0x20000000U",
            "-DSUREFIT_TRACE_THREAD=task",
        ],
    );
}
