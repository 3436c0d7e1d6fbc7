//! The counting pass: one function makes all allocations and another all frees, so that valgrind
//! can distinguish them.

use super::replay::{Hooks, Stopped};
use super::timing::measure;
use crate::steps::Steps;
use crate::subject::{Pass, Subject};

/// One replay that touches no object and makes its calls in the two functions of `counted`.
#[derive(Clone, Copy, Debug)]
pub struct Counting<'a> {
    /// The trace.
    pub steps: &'a Steps,
}

struct Counted;

impl<S: Subject> Hooks<S> for Counted {
    const COUNTS: bool = true;
}

impl Pass for Counting<'_> {
    type Output = Result<u64, Stopped>;

    fn run<S: Subject>(self, subject: S) -> Self::Output {
        measure(subject, self.steps, &mut Counted)
    }
}
