//! The counting pass: each call to the allocator is made by a function of its own, which valgrind can tell apart.

use super::replay::{CallKind, Hooks, Stopped};
use super::timing::measure;
use crate::steps::Steps;
use crate::subject::{Pass, Subject};

/// The name of the function that makes one allocation.
pub const MALLOC: &str = "counted_malloc";

/// The name of the function that makes one free.
pub const FREE: &str = "counted_free";

/// One replay without touching objects, its calls in functions of their own.
#[derive(Clone, Copy, Debug)]
pub struct Counting<'a> {
    /// The trace.
    pub steps: &'a Steps,
}

struct Counted;

impl<S: Subject> Hooks<S> for Counted {
    #[inline]
    fn call<R>(&mut self, kind: CallKind, call: impl FnOnce() -> R) -> R {
        match kind {
            CallKind::Malloc => counted_malloc(call),
            CallKind::Free => counted_free(call),
            CallKind::Realloc => call(),
        }
    }
}

#[inline(never)]
fn counted_malloc<R>(call: impl FnOnce() -> R) -> R {
    call()
}

#[inline(never)]
fn counted_free<R>(call: impl FnOnce() -> R) -> R {
    call()
}

impl Pass for Counting<'_> {
    type Output = Result<u64, Stopped>;

    fn run<S: Subject>(self, subject: S) -> Self::Output {
        measure(subject, self.steps, &mut Counted)
    }
}
