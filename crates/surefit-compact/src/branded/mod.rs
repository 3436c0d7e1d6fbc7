//! Branded heaps: handles of four bytes, and access without a comparison.
//!
//! A handle of a [`Heap`](crate::Heap) contains the heap's number, and every access compares it.
//! The handle of a branded heap has its heap in its type: the *brand*, a type that only one heap
//! ever has. The compiler refuses a handle of another heap, so an access is a load and an add, and
//! the handle is only the number of its entry.
//!
//! - [`Heap::branded`](crate::Heap::branded) lends a heap to a closure, under a lifetime that no
//!   other call has ([`Scoped`]). The handles end with the closure.
//! - [`Heap::into_branded`](crate::Heap::into_branded) makes a heap the only one of a type that
//!   [`brand!`](crate::brand) declares. The handles live as long as the program wants: for a heap
//!   that lives as long as the program.
//!
//! In a loop, a view of the heap ([`BrandedHeap::view`]) is as fast as a bare table of words.
//!
//! # Examples
//! ```
//! use core::mem::MaybeUninit;
//! use surefit_compact::{Config, Heap};
//!
//! static CONFIG: Config = Config::DEFAULT;
//! let mut memory = vec![MaybeUninit::uninit(); 1 << 20];
//! let mut heap: Heap = Heap::new(&mut memory, &CONFIG)?;
//! let kept = heap.branded(|heap| {
//!     let mut count = heap.insert(1_u64).expect("room");
//!     let name = heap.insert(*b"surefit").expect("room");
//!     assert_eq!(size_of_val(&count), 4);
//!     *heap.get_mut(&mut count) += heap.get(&name).len() as u64;
//!     heap.free(name);
//!     heap.unbrand(count) // the only way out of the closure
//! });
//! assert_eq!(*heap.get(&kept), 8);
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```
//!
//! # Invariants
//! - B1 A brand belongs to one heap: that of the call which introduced the brand's lifetime, or the
//!   one that claimed the brand's type. No other heap ever has it.
//! - B2 A handle of a brand names a live object of the brand's heap; it is the object's only owner,
//!   and says its type or length (O1 and O2 of `heap`).
//!
//! # Drawbacks
//! A brand is part of the types of all that hold handles. Handles of a scope end with it, so a
//! structure that outlives one closure needs checked handles, or a declared brand.
//!
//! # Source
//! A lifetime that only one container has: Yanovski, Dang, Jung, Dreyer: "GhostCell" (2021), and
//! the arenas of `gc-arena`.

mod handle;
mod heap;
mod view;

pub use handle::{BrandedBytes, BrandedHandle, BrandedName};
pub use heap::{Brand, BrandedHeap, Scoped};
pub use view::BrandedView;

/// What [`brand!`](crate::brand) needs.
#[doc(hidden)]
pub mod macros {
    pub use surefit_core::Numbers;
}
