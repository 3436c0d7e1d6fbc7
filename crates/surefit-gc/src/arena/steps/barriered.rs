//! The types of objects of an arena in steps: all that changes references tells the collector.
//!
//! A cell of `core` cannot tell it. It is allowed where its value is [`NoGc`], and so holds no
//! reference; so `Cell<u32>` is, and `Cell<Option<Gc>>` is not. A [`OnceCell`] is allowed: what
//! it holds cannot be removed through a shared reference, and the barrier is for what is removed.

#[cfg(doc)]
use core::cell::{Cell, OnceCell, RefCell};

use crate::arena::array::{GcArray, GcStr};
use crate::arena::gc::Gc;
#[cfg(doc)]
use crate::arena::no_gc::NoGc;
use crate::arena::trace::Trace;

/// A type whose values can be objects of a [`StepArena`](crate::StepArena): where a reference may
/// be replaced or removed, it is in a [`GcCell`](crate::GcCell).
///
/// `#[derive(Trace)]` implements it if all fields that are not skipped implement it. A
/// [`Cell`] or [`RefCell`] implements it only if its value is [`NoGc`]: it holds no reference.
///
/// A type that contains itself through a `Box` or `Vec` needs an implementation by hand, or a
/// [`Gc`] in place of the box: the compiler does not prove a demand that rests on itself.
///
/// # Safety
/// B1: Through a shared reference to a value, no reference in it, which is a [`Gc`], [`GcArray`],
/// [`GcStr`] or [`StepWeak`](crate::StepWeak), can be replaced or removed, except in a
/// [`GcCell`](crate::GcCell).
#[allow(
    unsafe_code,
    reason = "implementing it is a promise; nothing here is unsafe"
)]
#[diagnostic::on_unimplemented(
    message = "`{Self}` cannot be an object of an arena that collects in steps",
    label = "not `Barriered`",
    note = "references that change must be in a `GcCell`; `#[derive(Trace)]` implements `Barriered` if every field does"
)]
pub unsafe trait Barriered: Trace {}

// SAFETY: B1: what is referred to is an object of the arena, which was asked for its own promise.
unsafe impl<'gc, T: Trace + 'gc> Barriered for Gc<'gc, T> {}

// SAFETY: B1: as for one object.
unsafe impl<'gc, T: Trace + 'gc> Barriered for GcArray<'gc, T> {}

// SAFETY: B1: a string does not change.
unsafe impl Barriered for GcStr<'_> {}
