//! n-CF(κ,ι): several Compact-fit instances over one region, so that threads need not meet.
//!
//! An instance has size-classes, locks and pages of its own; all of them share one pool of free pages and one table of
//! entries. A thread registers in an instance and allocates from it; whoever has a handle may pin or free its object.
//!
//! ```text
//! heap     ShardedHeap: register, pin, destroy, statistics of an instance
//! guard    pins whose object may be destroyed meanwhile
//! ```
//! All else is in `machinery`, whose engine has several instances here and one in a
//! [`SharedHeap`](crate::shared::SharedHeap).
//!
//! # Bounds
//! Every instance keeps the compaction bound for itself, so the bound of the heap is that of one instance times the
//! instances.
//!
//! # Drawbacks
//! A size-class that several instances use has partly filled pages in each of them. Handles of a destroyed instance
//! are errors, so every access compares one number more than in a [`SharedHeap`](crate::shared::SharedHeap).
//!
//! # Source
//! Craciunas, Kirsch, Payer, Röck, Sokolova: concurrent and incremental Compact-fit (2009): n-CF. There the pages of a
//! thread that ends are not given back; here the next thread adopts them. Quotas and `destroy` are ours.

pub(super) mod guard;
pub(super) mod heap;
