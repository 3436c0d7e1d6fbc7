//! The machine of this build.

#[cfg(all(target_os = "none", target_feature = "mclass"))]
pub use super::cortex_m::*;
#[cfg(not(target_os = "none"))]
pub use super::host::*;
#[cfg(all(target_os = "none", not(target_feature = "mclass")))]
pub use super::xscale::*;
