//! The types of objects of an arena in steps: all that changes references tells the collector.
//!
//! A cell of `core` cannot tell it. It is allowed where its value is [`NoGc`], and so holds no
//! reference; so `Cell<u32>` is, and `Cell<Option<Gc>>` is not. A [`OnceCell`] is allowed: what
//! it holds cannot be removed through a shared reference, and the barrier is for what is removed.

use core::cell::{Cell, OnceCell, RefCell};
use core::marker::PhantomData;

use crate::arena::array::{GcArray, GcStr};
use crate::arena::gc::Gc;
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

/// Types that hold values of other types.
macro_rules! barriered {
    ($($(#[$on:meta])* [$($parameter:tt)+] $type:ty;)*) => { $(
        $(#[$on])*
        // SAFETY: B1: a shared reference to the type gives shared references to what it holds, and
        // what is in it is barriered, or `'static`, or stays once it is there, or is in an object
        // of the arena, which was asked for its own promise.
        unsafe impl<$($parameter)+> Barriered for $type {}
    )* };
}

barriered! {
    ['gc, T: Trace + 'gc] Gc<'gc, T>;
    ['gc, T: Trace + 'gc] GcArray<'gc, T>;
    [T: Trace + ?Sized] PhantomData<T>;
    [T: ?Sized + 'static] &'static T;
    [T: Barriered] Option<T>;
    [T: Barriered, E: Barriered] Result<T, E>;
    [T: Barriered] [T];
    [T: Barriered, const N: usize] [T; N];
    [T: Barriered] core::cmp::Reverse<T>;
    [T: Barriered] core::num::Wrapping<T>;
    [T: Barriered] OnceCell<T>;
    [T: Trace + ?Sized + NoGc] Cell<T>;
    [T: Trace + ?Sized + NoGc] RefCell<T>;
}

// SAFETY: B1: a string does not change.
unsafe impl Barriered for GcStr<'_> {}

#[cfg(feature = "alloc")]
barriered! {
    [T: ?Sized + 'static] alloc::rc::Rc<T>;
    [T: ?Sized + 'static] alloc::rc::Weak<T>;
    #[cfg(target_has_atomic = "ptr")]
    [T: ?Sized + 'static] alloc::sync::Arc<T>;
    #[cfg(target_has_atomic = "ptr")]
    [T: ?Sized + 'static] alloc::sync::Weak<T>;
    [T: Barriered + ?Sized] alloc::boxed::Box<T>;
    [T: Barriered] alloc::vec::Vec<T>;
    [T: Barriered] alloc::collections::VecDeque<T>;
    [T: Barriered] alloc::collections::LinkedList<T>;
    [T: Barriered] alloc::collections::BinaryHeap<T>;
    [T: Barriered] alloc::collections::BTreeSet<T>;
    [K: Barriered, V: Barriered] alloc::collections::BTreeMap<K, V>;
}

#[cfg(feature = "std")]
barriered! {
    [T: Barriered, S: 'static] std::collections::HashSet<T, S>;
    [K: Barriered, V: Barriered, S: 'static] std::collections::HashMap<K, V, S>;
}

/// Tuples of up to twelve.
macro_rules! tuples {
    ($($name:ident)+) => {
        barriered! { [$($name: Barriered),+] ($($name,)+); }
    };
}

tuples!(A);
tuples!(A B);
tuples!(A B C);
tuples!(A B C D);
tuples!(A B C D E);
tuples!(A B C D E F);
tuples!(A B C D E F G);
tuples!(A B C D E F G H);
tuples!(A B C D E F G H I);
tuples!(A B C D E F G H I J);
tuples!(A B C D E F G H I J K);
tuples!(A B C D E F G H I J K L);
