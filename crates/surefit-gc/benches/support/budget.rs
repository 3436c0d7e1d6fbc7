//! A limit on instructions, from those of one object.

use gungraun::{Callgrind, EventKind, LibraryBenchmarkConfig};

/// A limit on the instructions of so many objects, from those of one.
pub(crate) fn budget(of_an_object: u64, objects: u64) -> LibraryBenchmarkConfig {
    let mut callgrind = Callgrind::default();
    callgrind.hard_limits([(EventKind::Ir, of_an_object * objects)]);
    let mut config = LibraryBenchmarkConfig::default();
    config.tool(callgrind);
    config
}
