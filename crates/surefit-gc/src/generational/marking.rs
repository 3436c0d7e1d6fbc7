//! Marking: of the young objects, or of all.
#![deny(unsafe_code)]

use core::mem;

use crate::client::{Client, Living, Scanned};
use crate::edges::{Edges, Marked};
use crate::generational::{Extent, Generational, Round};
use crate::mark::{mark, mark_further};
use crate::marks::Marks;
use crate::object::Object;
use crate::space::Space;
use crate::statistics::Clock;
use crate::stepwise::OneByOne;

impl<S: OneByOne, K: Clock> Generational<'_, S, K> {
    /// Marks what the collection keeps, and clears weak references. Returns the time at its end.
    ///
    /// If the client or the clock unwinds, no object is marked any more: all are young.
    pub(super) fn mark(&mut self, client: &mut impl Client<S>, round: &mut Round) -> u64 {
        let old = self.live.objects - self.young.objects;
        let lowest = self.lowest.take();
        self.young = self.live;
        round.remembered = mem::take(&mut self.remembered);
        let marked = self.mark_from(lowest, client, round);
        let undo = Undo(&mut self.gc.marks);
        client.weak(&Living::new(undo.0));
        let ended = self.gc.clock.now();
        mem::forget(undo);
        (round.marked, round.edges) = (marked.objects, marked.edges);
        (round.passes, round.deepest) = (marked.rescans, marked.deepest);
        let kept = match round.extent {
            Extent::Minor => old + marked.objects,
            Extent::Full => marked.objects,
        };
        // What is young now is dead; its bytes are not known yet.
        self.young.objects = self.live.objects - kept;
        ended
    }

    fn mark_from(
        &mut self,
        lowest: Option<Object>,
        client: &mut impl Client<S>,
        round: &mut Round,
    ) -> Marked {
        let gc = &mut self.gc;
        let (live, marks, space) = (&gc.live, &mut gc.marks, &gc.space);
        let client = &mut Counted { client, round };
        match client.round.extent {
            Extent::Minor => mark_further(live, marks, gc.stack, space, client, lowest),
            Extent::Full => mark(live, marks, gc.stack, space, client),
        }
    }
}

/// A client whose scans are counted.
struct Counted<'a, C> {
    client: &'a mut C,
    round: &'a mut Round,
}

impl<S: Space, C: Client<S>> Client<S> for Counted<'_, C> {
    fn roots(&mut self, edges: &mut Edges<'_>) {
        self.client.roots(edges);
    }

    fn scan(&mut self, object: &Scanned<'_, S>, from: u32, edges: &mut Edges<'_>) {
        if from == 0 {
            self.round.scanned_objects += 1;
            self.round.scanned_words += u64::from(object.words());
        }
        self.client.scan(object, from, edges);
    }
}

/// Makes all objects white if it is dropped.
struct Undo<'a, 'm>(&'a mut Marks<'m>);

impl Drop for Undo<'_, '_> {
    fn drop(&mut self) {
        self.0.clear();
    }
}
