//! What a flight needs of a machine.

pub mod clock;
#[cfg(all(target_os = "none", target_feature = "mclass"))]
mod cortex_m;
#[cfg(not(target_os = "none"))]
mod host;
#[cfg(target_os = "none")]
mod image;
pub mod machine;
#[cfg(target_os = "none")]
mod sections;
#[cfg(all(target_os = "none", not(target_feature = "mclass")))]
mod xscale;

#[cfg(target_os = "none")]
pub use image::{fault, run};
