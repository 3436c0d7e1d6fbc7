//! What the shared heaps of one instance and of several have in common. It knows neither of them.
//!
//! ```text
//! bytes, objects, guard   byte objects in pieces; values; a guard keeps its object in place
//!   foreign                 frees by name, in a heap of several instances
//!   build                   how the region is divided
//!   register, relief        which instance a thread gets; what comes before a refusal
//!   destroy, stats, check   all objects of an instance at once; counters; numbered invariants
//!     fast, moves, parked     what page locks serve alone; rounds of moves; parked pairs
//!     borrow                  holes that groups borrow
//!       engine                  page-blocks and entries: allocate, free
//!         group, instance         a size-class and its lock; an instance and its quota
//!         table, pool, slack      the table of entries; free pages and free entries; what is lent
//!           entry_list              lists of free entries
//!             entry                   an object's word, where threads meet
//!               sync, abort_on_unwind   the atomic word; a lock that is taken or ends the process
//! ```

mod abort_on_unwind;
mod borrow;
pub(super) mod build;
pub(super) mod bytes;
mod check;
mod destroy;
pub(super) mod engine;
pub(super) mod entry;
pub(super) mod entry_list;
mod fast;
mod foreign;
pub(super) mod group;
pub(super) mod guard;
mod instance;
mod moves;
pub(super) mod objects;
mod parked;
pub(super) mod pool;
mod register;
mod relief;
pub(super) mod slack;
pub(super) mod stats;
pub(super) mod sync;
pub(super) mod table;
