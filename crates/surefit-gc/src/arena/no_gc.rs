//! The types that hold no reference into an arena.
//!
//! `'static` says it, too, but the compiler reports a lifetime that is not `'static` without a word
//! about cells. A trait that is not implemented is reported with what to do instead.
#![deny(unsafe_code)]

use core::cell::{Cell, OnceCell, RefCell};
use core::marker::PhantomData;

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

/// Types that hold values of other types, and are owned.
macro_rules! no_gc {
    ($($(#[$on:meta])* [$($parameter:tt)+] $type:ty;)*) => { $(
        $(#[$on])*
        impl<$($parameter)+> NoGc for $type {}
    )* };
}

no_gc! {
    [T: ?Sized + 'static] PhantomData<T>;
    [T: ?Sized + 'static] &'static T;
    [T: NoGc] Option<T>;
    [T: NoGc, E: NoGc] Result<T, E>;
    [T: NoGc] [T];
    [T: NoGc, const N: usize] [T; N];
    [T: NoGc] core::cmp::Reverse<T>;
    [T: NoGc] core::num::Wrapping<T>;
    [T: NoGc] OnceCell<T>;
    [T: NoGc + ?Sized] Cell<T>;
    [T: NoGc + ?Sized] RefCell<T>;
}

#[cfg(feature = "alloc")]
no_gc! {
    [T: ?Sized + 'static] alloc::rc::Rc<T>;
    [T: ?Sized + 'static] alloc::rc::Weak<T>;
    #[cfg(target_has_atomic = "ptr")]
    [T: ?Sized + 'static] alloc::sync::Arc<T>;
    #[cfg(target_has_atomic = "ptr")]
    [T: ?Sized + 'static] alloc::sync::Weak<T>;
    [T: NoGc + ?Sized] alloc::boxed::Box<T>;
    [T: NoGc] alloc::vec::Vec<T>;
    [T: NoGc] alloc::collections::VecDeque<T>;
    [T: NoGc] alloc::collections::LinkedList<T>;
    [T: NoGc] alloc::collections::BinaryHeap<T>;
    [T: NoGc] alloc::collections::BTreeSet<T>;
    [K: NoGc, V: NoGc] alloc::collections::BTreeMap<K, V>;
}

#[cfg(feature = "std")]
no_gc! {
    [T: NoGc, S: 'static] std::collections::HashSet<T, S>;
    [K: NoGc, V: NoGc, S: 'static] std::collections::HashMap<K, V, S>;
}

/// Tuples of up to twelve.
macro_rules! tuples {
    ($($name:ident)+) => {
        no_gc! { [$($name: NoGc),+] ($($name,)+); }
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
