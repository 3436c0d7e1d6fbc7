//! The types of `core`, `alloc` and `std` that can be kept in an arena: each with [`Trace`],
//! [`Barriered`] and [`NoGc`].
//!
//! Every implementation of the first promises T1 and T2 of [`Trace`]. A type that holds a value
//! passes it on, and drops it only by the value's own `drop`. A `'static` value holds no `Gc`.
//!
//! A type that owns its value behind a pointer says that it is traced, whatever it owns: recursive
//! types contain themselves through such a type, and their constant would depend on itself. The
//! loop over values that are not traced is omitted all the same.
//!
//! # Drawbacks
//! Lists of boxes are traced recursively, as they are dropped. Lists of `Gc`s are not.

use core::cell::{Cell, OnceCell, RefCell};
use core::marker::PhantomData;

use crate::arena::no_gc::NoGc;
use crate::arena::steps::Barriered;
use crate::{Trace, Tracer};

/// Types that hold no reference.
macro_rules! leaves {
    ($($type:ty),+ $(,)?) => { $(
        // SAFETY: T1 and T2: the type is `'static` and has no parameters, so it holds no `Gc`. T3:
        // nothing is done.
        unsafe impl Trace for $type {
            const TRACED: bool = false;
            #[inline]
            fn trace(&self, _: &mut Tracer<'_>) {}
        }

        // SAFETY: B1: it holds no `Gc`.
        unsafe impl Barriered for $type {}

        impl NoGc for $type {}
    )+ };
}

#[cfg(feature = "alloc")]
leaves!(alloc::string::String);

leaves! {
    (), bool, char, str, f32, f64,
    u8, u16, u32, u64, u128, usize,
    i8, i16, i32, i64, i128, isize,
    core::num::NonZeroU8, core::num::NonZeroU16, core::num::NonZeroU32, core::num::NonZeroU64,
    core::num::NonZeroI8, core::num::NonZeroI16, core::num::NonZeroI32, core::num::NonZeroI64,
    core::num::NonZeroUsize, core::num::NonZeroIsize,
    core::any::TypeId, core::cmp::Ordering, core::time::Duration,
}

/// Types that contain values of their first parameters, which promise the same, and a way to visit
/// each value. Parameters after a semicolon are as they stand: a type of these alone, which are
/// `'static`, holds no reference.
macro_rules! holders {
    ($($(#[$on:meta])* [$($held:ident $(: ?$sized:ident)?),* $(; $($other:tt)+)?] $type:ty, $traced:expr, |$this:ident, $tracer:ident| $trace:expr;)*) => { $(
        $(#[$on])*
        // SAFETY: T1: every value that it holds is passed on; a `'static` one holds no `Gc`. T2: it
        // drops them, and reads nothing in them except its own counts. T3: values are only read.
        unsafe impl<$($held: Trace $(+ ?$sized)?,)* $($($other)+)?> Trace for $type {
            const TRACED: bool = $traced;
            #[inline]
            fn trace(&self, $tracer: &mut Tracer<'_>) {
                let $this = self;
                $trace
            }
        }

        $(#[$on])*
        // SAFETY: B1: a shared reference to the type gives shared references to what it holds, and
        // what is in it is barriered, or `'static`, or stays once it is there.
        unsafe impl<$($held: Barriered $(+ ?$sized)?,)* $($($other)+)?> Barriered for $type {}

        $(#[$on])*
        impl<$($held: NoGc $(+ ?$sized)?,)* $($($other)+)?> NoGc for $type {}
    )* };
}

holders! {
    [; T: ?Sized + 'static] &'static T, false, |_it, _tracer| {};
    [T] Option<T>, T::TRACED, |it, tracer| if let Some(value) = it {
        value.trace(tracer);
    };
    [T, E] Result<T, E>, T::TRACED || E::TRACED, |it, tracer| match it {
        Ok(value) => value.trace(tracer),
        Err(error) => error.trace(tracer),
    };
    [T] [T], T::TRACED, |it, tracer| all(it, tracer);
    [T; const N: usize] [T; N], T::TRACED, |it, tracer| all(it, tracer);
    [T] core::cmp::Reverse<T>, T::TRACED, |it, tracer| it.0.trace(tracer);
    [T] core::num::Wrapping<T>, T::TRACED, |it, tracer| it.0.trace(tracer);
    [T] OnceCell<T>, T::TRACED, |it, tracer| all(it.get(), tracer);
}

#[cfg(feature = "alloc")]
holders! {
    [; T: ?Sized + 'static] alloc::rc::Rc<T>, false, |_it, _tracer| {};
    [; T: ?Sized + 'static] alloc::rc::Weak<T>, false, |_it, _tracer| {};
    #[cfg(target_has_atomic = "ptr")]
    [; T: ?Sized + 'static] alloc::sync::Arc<T>, false, |_it, _tracer| {};
    #[cfg(target_has_atomic = "ptr")]
    [; T: ?Sized + 'static] alloc::sync::Weak<T>, false, |_it, _tracer| {};
    [T: ?Sized] alloc::boxed::Box<T>, true, |it, tracer| (**it).trace(tracer);
    [T] alloc::vec::Vec<T>, true, |it, tracer| all(it, tracer);
    [T] alloc::collections::VecDeque<T>, true, |it, tracer| all(it, tracer);
    [T] alloc::collections::LinkedList<T>, true, |it, tracer| all(it, tracer);
    [T] alloc::collections::BinaryHeap<T>, true, |it, tracer| all(it, tracer);
    [T] alloc::collections::BTreeSet<T>, true, |it, tracer| all(it, tracer);
    [K, V] alloc::collections::BTreeMap<K, V>, true, |it, tracer| pairs(it, tracer);
}

#[cfg(feature = "std")]
holders! {
    [T; S: 'static] std::collections::HashSet<T, S>, true, |it, tracer| all(it, tracer);
    [K, V; S: 'static] std::collections::HashMap<K, V, S>, true, |it, tracer| pairs(it, tracer);
}

/// Cells of `core`: what is in them changes without a barrier.
macro_rules! cells {
    ($($type:ident),+) => { $(
        // SAFETY: T1 to T3: as for other types that contain values; see `inside`.
        unsafe impl<T: Trace + ?Sized> Trace for $type<T> {
            const TRACED: bool = T::TRACED;
            #[inline]
            fn trace(&self, tracer: &mut Tracer<'_>) {
                inside(self.as_ptr(), tracer);
            }
        }

        // SAFETY: B1: it holds no `Gc`.
        unsafe impl<T: Trace + ?Sized + NoGc> Barriered for $type<T> {}

        impl<T: NoGc + ?Sized> NoGc for $type<T> {}
    )+ };
}

cells!(Cell, RefCell);

// SAFETY: T1 to T3: it holds no value.
unsafe impl<T: Trace + ?Sized> Trace for PhantomData<T> {
    const TRACED: bool = false;
    #[inline]
    fn trace(&self, _: &mut Tracer<'_>) {}
}

// SAFETY: B1: it holds no value.
unsafe impl<T: Trace + ?Sized> Barriered for PhantomData<T> {}

impl<T: ?Sized + 'static> NoGc for PhantomData<T> {}

/// Tuples of up to twelve.
macro_rules! tuples {
    ($($name:ident)+) => {
        holders! {
            [$($name),+] ($($name,)+), $($name::TRACED)||+, |it, tracer| {
                #[expect(non_snake_case, reason = "a type and a variable for each element")]
                let ($($name,)+) = it;
                $($name.trace(tracer);)+
            };
        }
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

/// Traces every value, if the type holds any reference.
#[inline]
fn all<'t, T: Trace + 't>(values: impl IntoIterator<Item = &'t T>, tracer: &mut Tracer<'_>) {
    if T::TRACED {
        values.into_iter().for_each(|value| value.trace(tracer));
    }
}

/// Traces every key and value.
#[cfg(feature = "alloc")]
#[inline]
fn pairs<'t, K: Trace + 't, V: Trace + 't>(
    pairs: impl IntoIterator<Item = (&'t K, &'t V)>,
    tracer: &mut Tracer<'_>,
) {
    if K::TRACED || V::TRACED {
        for (key, value) in pairs {
            key.trace(tracer);
            value.trace(tracer);
        }
    }
}

/// Traces the value in a cell.
#[inline]
fn inside<T: Trace + ?Sized>(value: *mut T, tracer: &mut Tracer<'_>) {
    // SAFETY: nobody changes the value of the cell: the program does not run while the collector
    // traces, and `trace` cannot change it (T3). Nobody uses a guard that was forgotten. What a
    // mutation traces is in a `GcCell`, which lends nothing.
    unsafe { &*value }.trace(tracer);
}
