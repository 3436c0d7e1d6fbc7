//! The `surefit` command: see the library beside it.

use std::process::ExitCode;

use dlmalloc::GlobalDlmalloc;

/// The command's own memory does not come from the C library's malloc, or from a preloaded one:
/// that malloc serves only what is measured.
#[global_allocator]
static OWN_MEMORY: GlobalDlmalloc = GlobalDlmalloc;

fn main() -> ExitCode {
    surefit_lab::run()
}
