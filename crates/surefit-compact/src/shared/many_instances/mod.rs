//! n-CF(κ,ι): several Compact-fit instances over one region, so that threads rarely meet.
//!
//! Each instance has its own size-classes, locks and pages. All instances share one pool of free
//! pages and one table of entries. A thread registers in one instance and allocates from it. Any
//! thread that has a handle may pin or free its object, whichever instance the object is in.
//!
//! ```text
//! heap     ShardedHeap: register, pin, destroy, statistics of an instance
//! guard    pins of objects that may be destroyed meanwhile
//! ```
//! The rest is in `machinery`: its engine has several instances here, and one in a
//! [`SharedHeap`](crate::shared::SharedHeap).
//!
//! # Source
//! Craciunas, Kirsch, Payer, Röck, Sokolova: "Concurrency and Scalability versus Fragmentation and
//! Compaction with Compact-fit" (2009): n-CF.
//! There, the pages of a thread that ends are not given back; here, the next thread adopts them.
//! Quotas and `destroy` are this project's.

pub(super) mod guard;
pub(super) mod heap;
