//! The types that hold no reference into an arena.
//!
//! `'static` says it, too, but the compiler reports a lifetime that is not `'static` without a word
//! about cells. A trait that is not implemented is reported with what to do instead.
#![deny(unsafe_code)]

#[cfg(doc)]
use core::cell::{Cell, RefCell};

/// A type whose values hold no [`Gc`](crate::Gc): only these may be in a [`Cell`] or [`RefCell`] of
/// a [`StepArena`](crate::StepArena).
///
/// `#[derive(Trace)]` implements it for a type without a lifetime. It can be implemented by hand
/// for every type that is `'static`, because no reference is: that promises nothing.
#[diagnostic::on_unimplemented(
    message = "`{Self}` may hold a `Gc`: in a `StepArena` it changes in a `GcCell`, not in a `Cell` or `RefCell`",
    note = "a type that is `'static` holds no `Gc`: implement `NoGc` for it, or derive `Trace`"
)]
pub trait NoGc: 'static {}
