//! Contiguous byte objects of any length.
//!
//! | file | holds |
//! | --- | --- |
//! | `setup` | small configurations, and a heap with the objects that it should hold |
//! | `random` | random calls against the model: contents, invariants, the most bytes of a call |
//! | `certified` | random calls within a demand, in exactly the certified bytes |
//! | `exhausted` | every state of tiny heaps within a demand, in exactly the certified bytes |
//! | `calls` | single calls: errors, refusals, alignment, zero bytes, resizing |
//! | `collector` | sweeps and moves for room beside contiguous objects |

mod calls;
mod certified;
mod collector;
mod exhausted;
mod random;
mod setup;
