//! A limit on instructions, computed from those of one object.

use gungraun::{Callgrind, EventKind, LibraryBenchmarkConfig};

/// The limit for `objects` objects, computed from that of one.
pub(crate) fn budget(of_an_object: u64, objects: u64) -> LibraryBenchmarkConfig {
    let mut callgrind = Callgrind::default();
    callgrind.hard_limits([(EventKind::Ir, of_an_object * objects)]);
    let mut config = LibraryBenchmarkConfig::default();
    config.tool(callgrind);
    config
}
