//! Attacks on heaps that threads share: readers that are interrupted between any two sections,
//! drops that use the heap that drops them, panics wherever user code runs, numbers of any size.
//!
//! `ui` has what does not compile; `stress.rs` has many threads at once.

#[path = "shared_attacks/drops.rs"]
mod drops;
#[path = "shared_attacks/guards.rs"]
mod guards;
#[path = "shared_attacks/interrupted.rs"]
mod interrupted;
#[path = "shared_attacks/lock.rs"]
mod lock;
#[path = "shared_attacks/locks.rs"]
mod locks;
#[path = "shared_attacks/numbers.rs"]
mod numbers;
