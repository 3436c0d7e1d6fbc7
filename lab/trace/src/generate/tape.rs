//! The events of a program in the making, each sound by its construction.

use std::fmt;

use super::error::GenerateError;
use crate::{Call, Event, Op, Trace};

/// Who gets the events of a program, one after the other.
pub(super) type Sink<'s> = &'s mut dyn FnMut(Event);

/// Where the events go, and how many bytes are live after them.
pub(super) struct Tape<'s> {
    sink: Sink<'s>,
    live_bytes: u64,
    objects: u32,
}

impl fmt::Debug for Tape<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Tape")
            .field("objects", &self.objects)
            .finish_non_exhaustive()
    }
}

/// A live object.
#[derive(Clone, Copy, Debug)]
pub(super) struct Object {
    id: u32,
    /// Its last request, in bytes.
    pub(super) size: u64,
}

impl<'s> Tape<'s> {
    pub(super) fn new(sink: Sink<'s>) -> Self {
        Self {
            sink,
            live_bytes: 0,
            objects: 0,
        }
    }

    /// The sum of live requests, in bytes.
    pub(super) fn live_bytes(&self) -> u64 {
        self.live_bytes
    }

    /// Objects ever allocated.
    pub(super) fn objects(&self) -> u64 {
        u64::from(self.objects)
    }

    pub(super) fn allocate(&mut self, size: u64) -> Object {
        let id = self.objects;
        let call = Call::Malloc;
        (self.sink)(Event::new(0, Op::Alloc { id, size, call }));
        self.live_bytes += size;
        self.objects += 1;
        Object { id, size }
    }

    pub(super) fn resize(&mut self, object: &mut Object, size: u64) {
        let id = object.id;
        (self.sink)(Event::new(0, Op::Realloc { id, size }));
        self.live_bytes = self.live_bytes - object.size + size;
        object.size = size;
    }

    pub(super) fn free(&mut self, object: Object) {
        (self.sink)(Event::new(0, Op::Free { id: object.id }));
        self.live_bytes -= object.size;
    }
}

/// The events that a program plays, as a trace in memory.
pub(super) fn traced(
    name: &str,
    play: impl FnOnce(&mut dyn FnMut(Event)) -> Result<(), GenerateError>,
) -> Result<Trace, GenerateError> {
    let mut events = Vec::new();
    play(&mut |event| events.push(event))?;
    Ok(Trace::new(name, events)
        .expect("a tape numbers its objects, and who writes it frees live ones only"))
}
