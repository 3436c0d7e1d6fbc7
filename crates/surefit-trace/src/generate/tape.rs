//! The events of a program in the making, each sound by its construction.

use crate::{Call, Event, Op, Trace};

/// The events so far, and how many bytes are live after them.
#[derive(Debug, Default)]
pub(super) struct Tape {
    events: Vec<Event>,
    live_bytes: u64,
    objects: u32,
}

/// A live object.
#[derive(Clone, Copy, Debug)]
pub(super) struct Object {
    id: u32,
    /// Its last request, in bytes.
    pub(super) size: u64,
}

impl Tape {
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
        self.events
            .push(Event::new(0, Op::Alloc { id, size, call }));
        self.live_bytes += size;
        self.objects += 1;
        Object { id, size }
    }

    pub(super) fn resize(&mut self, object: &mut Object, size: u64) {
        let id = object.id;
        self.events.push(Event::new(0, Op::Realloc { id, size }));
        self.live_bytes = self.live_bytes - object.size + size;
        object.size = size;
    }

    pub(super) fn free(&mut self, object: Object) {
        self.events.push(Event::new(0, Op::Free { id: object.id }));
        self.live_bytes -= object.size;
    }

    /// The finished trace.
    ///
    /// # Panics
    /// Never, unless an object was freed twice.
    pub(super) fn finish(self, name: &str) -> Trace {
        Trace::new(name, self.events)
            .expect("a tape numbers its objects, and who writes it frees live ones only")
    }
}
