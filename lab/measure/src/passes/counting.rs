//! The counting pass: one function makes all allocations and another all frees, so that valgrind
//! can distinguish them.

use super::replay::{Hooks, Stopped};
use super::timing::measure;
use crate::steps::Steps;
use crate::subject::{Pass, Subject};

/// The name of the function that allocates one object.
pub const MALLOC: &str = "counted_malloc";

/// The name of the function that frees one object.
pub const FREE: &str = "counted_free";

/// One replay that touches no object and makes its calls in these functions.
#[derive(Clone, Copy, Debug)]
pub struct Counting<'a> {
    /// The trace.
    pub steps: &'a Steps,
}

struct Counted;

impl<S: Subject> Hooks<S> for Counted {
    // One method for each, not `call`, which would make both functions for either call: they would
    // do the same, the compiler would keep one of them, and valgrind would not find the other.
    #[inline]
    fn malloc<R>(&mut self, call: impl FnOnce() -> R) -> R {
        counted_malloc(call)
    }

    #[inline]
    fn free<R>(&mut self, call: impl FnOnce() -> R) -> R {
        counted_free(call)
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
