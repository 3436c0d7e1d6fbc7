//! What lives while a trace is exported.

use std::collections::HashMap;

use surefit_trace::{Event, Op};

use super::frame::UNKNOWN;

/// The size of an object, the stack that allocated it, and the exporter's own number for where it
/// came from.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Object {
    pub(super) size: u64,
    pub(super) origin: usize,
    stack: u64,
}

/// The objects that live, in memory for these only.
#[derive(Debug, Default)]
pub(super) struct Live(HashMap<u32, Object>);

/// What an event ends and begins: a reallocation does both.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Change {
    pub(super) ended: Option<Object>,
    pub(super) begun: Option<Object>,
}

impl Live {
    /// Takes an event of a sound trace, which a stack called. `origin` numbers where an object of a
    /// size and a stack comes from.
    pub(super) fn take(
        &mut self,
        event: Event,
        stack: u64,
        origin: impl FnOnce(u64, u64) -> usize,
    ) -> Change {
        match event.op() {
            Op::Alloc { id, size, .. } | Op::Realloc { id, size } => {
                let before = self.0.get(&id).map(|object| object.stack);
                let stack = match stack {
                    UNKNOWN => before.unwrap_or(UNKNOWN),
                    known => known,
                };
                let origin = origin(size, stack);
                let begun = Object {
                    size,
                    origin,
                    stack,
                };
                let ended = self.0.insert(id, begun);
                let begun = Some(begun);
                Change { ended, begun }
            }
            Op::Free { id } => Change {
                ended: self.0.remove(&id),
                begun: None,
            },
        }
    }
}
