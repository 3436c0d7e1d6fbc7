//! Programs on the collector: recorded object graphs, the collector's spaces by name, and a Lua
//! machine on any heap of raw pointers.

pub mod graphs;
#[cfg(feature = "lua")]
pub mod machine;
pub mod spaces;

use surefit_clients::java::{Clocking, MinHeap, Options, Program, min_heap};

use graphs::Region;
use spaces::SpaceSpec;

/// The smallest heap in which a program completes; `None` if no heap within the limit of the search
/// suffices.
#[must_use]
pub fn smallest(spec: &SpaceSpec, program: &Program, options: &Options) -> Option<MinHeap> {
    let options = Options {
        clocking: Clocking::Off,
        check: false,
        ..*options
    };
    min_heap(&spec.space, program, &options, |bytes| {
        Region::new(bytes).ok()
    })
}
