//! When a collector works: how much a program allocates for a unit of its work, or how long it may
//! pause and how often; and what was measured.
//!
//! | file | holds |
//! | --- | --- |
//! | `pace` | how fast a collector has to work so that its heap never runs out |
//! | `pacer` | what is done before an allocation |
//! | `load` | how much a cycle works at most |
//! | `certificate` | the bytes of region that are enough |
//! | `quanta` | the schedule by time, and its formula u(Δ) |
//! | `mmu` | minimum mutator utilisation, measured |
//! | `histogram` | how long pauses were |

#[cfg(test)]
mod adversary;
pub(crate) mod certificate;
mod histogram;
mod load;
mod mmu;
mod pace;
pub(crate) mod pacer;
mod quanta;
#[cfg(test)]
mod tests;

pub use certificate::{CollectedCertificate, Headroom, NotCertifiable, Program};
pub use histogram::Pauses;
pub use mmu::{Pause, least_mutator_ticks};
pub use pace::{Amount, ByTime, ByWork, Rate};

pub use pacer::{Paced, Schedule};
pub use quanta::Quanta;
