//! All objects of an arena and all references, for who records or draws them.

use surefit_freelist::Index;

use super::Arena;
use super::collect::Store;
use super::place::Place;
use super::root::Rootable;
use super::trace::{Trace, Tracer};

/// What a survey comes upon.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Seen {
    /// The root.
    Root,
    /// An object. The next one has a greater number.
    Object {
        /// Its number, which it keeps; when it was freed, another may have it.
        number: u32,
        /// The number of its type.
        kind: u32,
        /// The bytes of its payload: its value, rounded up, and what the arena keeps behind it.
        bytes: u32,
    },
    /// A reference, of the root or object that was seen last, to an object; in the order in which its type traces them.
    Reference(u32),
}

impl<R: for<'gc> Rootable<'gc> + ?Sized, I: Index> Arena<'_, R, I> {
    /// Shows the root and its references, then every object that was not freed, reachable or not, and its references.
    ///
    /// # Complexity
    /// Linear in what the heap holds.
    pub fn survey(&mut self, mut see: impl FnMut(Seen)) {
        self.store.survey(&self.root, &mut see);
    }
}

impl<I: Index> Store<'_, I> {
    fn survey<T: Trace>(&mut self, root: &T, see: &mut impl FnMut(Seen)) {
        let (source, kinds, _) = self.allocator.closed();
        let heap = &source.heap;
        see(Seen::Root);
        let mut tell = |number| see(Seen::Reference(number));
        root.trace(&mut Tracer::telling(heap.origin(), self.stack, &mut tell));
        for number in heap.objects() {
            // SAFETY: S1: a live object of the heap.
            let place = unsafe { Place::of(heap, number) };
            // SAFETY: S1: every object's kind was written (A2).
            let kind = unsafe { place.kind() };
            let bytes = place.bytes as u32;
            see(Seen::Object {
                number,
                kind,
                bytes,
            });
            let mut tell = |number| see(Seen::Reference(number));
            let mut tracer = Tracer::telling(heap.origin(), self.stack, &mut tell);
            tracer.trace_one(number, |tracer, from| {
                // SAFETY: an object of that kind (A2).
                unsafe { (kinds.get(kind).trace)(place.object, from, tracer) };
            });
        }
    }
}
