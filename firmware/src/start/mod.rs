//! The beginning of the program, on each kind of processor.

#[cfg(target_os = "none")]
mod board;
#[cfg(all(target_arch = "arm", target_feature = "mclass"))]
mod cortex_m;
#[cfg(not(target_os = "none"))]
pub mod host;
#[cfg(all(target_os = "none", target_arch = "riscv32"))]
mod riscv;
#[cfg(target_os = "none")]
mod stack;
#[cfg(all(
    target_os = "none",
    target_arch = "arm",
    not(target_feature = "mclass")
))]
mod xscale;
