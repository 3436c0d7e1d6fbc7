//! The counting pass: one function makes all allocations and another all frees, so that valgrind
//! can distinguish them.

use std::alloc::Layout;

use surefit_core::Refused;

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
    #[inline]
    fn malloc(&mut self, subject: &mut S, of: Layout, zeroed: bool) -> Result<S::Object, Refused> {
        counted_malloc(subject, of, zeroed)
    }

    #[inline]
    unsafe fn free(&mut self, subject: &mut S, object: S::Object, layout: Layout) {
        // SAFETY: S1 and S2 are the caller's.
        unsafe { counted_free(subject, object, layout) };
    }
}

// What they take comes in registers: a closure would be read from memory, which counts.
#[inline(never)]
fn counted_malloc<S: Subject>(
    subject: &mut S,
    layout: Layout,
    zeroed: bool,
) -> Result<S::Object, Refused> {
    subject.allocate(layout, zeroed)
}

/// # Safety
/// S1 and S2 of [`Subject::free`].
#[inline(never)]
unsafe fn counted_free<S: Subject>(subject: &mut S, object: S::Object, layout: Layout) {
    // SAFETY: S1 and S2 are the caller's.
    unsafe { subject.free(object, layout) };
}

impl Pass for Counting<'_> {
    type Output = Result<u64, Stopped>;

    fn run<S: Subject>(self, subject: S) -> Self::Output {
        measure(subject, self.steps, &mut Counted)
    }
}
