//! All objects and references of an arena, for callers that record or draw them.

use surefit_freelist::Index;

use super::Arena;
use super::collect::Store;
use super::place::Place;
use super::root::Rootable;
use super::seen::Seen;
use super::trace::{Trace, Tracer};

impl<R: for<'gc> Rootable<'gc> + ?Sized, I: Index> Arena<'_, R, I> {
    /// Calls `see` with the root and its references, then with every object that is not freed,
    /// reachable or not, and its references.
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
        let mut notify = |number| see(Seen::Reference(number));
        root.trace(&mut Tracer::notifying(
            heap.origin(),
            self.stack,
            &mut notify,
        ));
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
            let mut notify = |number| see(Seen::Reference(number));
            let mut tracer = Tracer::notifying(heap.origin(), self.stack, &mut notify);
            tracer.trace_one(number, |tracer, from| {
                // SAFETY: an object of that kind (A2).
                unsafe { (kinds.get(kind).trace)(place.object, from, tracer) };
            });
        }
    }
}
