//! The `surefit` command: see the library beside it.

use std::process::ExitCode;

use dlmalloc::GlobalDlmalloc;

/// The command's own memory: the C library's malloc, or one that is preloaded, serves nothing but what is measured.
#[global_allocator]
static OWN_MEMORY: GlobalDlmalloc = GlobalDlmalloc;

fn main() -> ExitCode {
    surefit_lab::run()
}
