//! Marking: from the roots along all references, with a bounded stack and without recursion.
//!
//! ```text
//! mark:        all white; roots: report(object) for each; drain
//!              while a push failed: for every grey object, from the lowest that did not fit:
//!                  make it black; scan it; drain
//! report(o):   not a live object: panic; white: becomes black, push (o, 0)
//! push(o, i):  if the stack is full, o becomes grey
//! drain:       pop (o, from): report o's references from slot `from` on;
//!              if o asks to be scanned again, push (o, slot)
//! ```
//! An object that fits on the stack is black at once, so that marking it writes one bit. No object
//! is pushed as white twice. A grey object becomes black again when its scan begins. It becomes
//! grey once more only if it asks to be scanned again and this does not fit; but then it reached
//! other objects before, which filled the stack. So marking ends, however small the stack is: after
//! a pass over the grey objects, fewer objects remain to be reached or scanned. A stack of one
//! entry is enough.
//!
//! # Bounds
//! One scan of every stride of a reachable object, one look at every reference, and one search of
//! the mark bits per pass. There are at most as many passes as pushes that failed; passes are
//! counted. If an object asks to be scanned again when the stack is full, all its strides are
//! scanned again.
//!
//! # Source
//! Jones, Hosking and Moss, The Garbage Collection Handbook, 2.4 and 2.5: the tricolour
//! abstraction, mark stack overflow.

use crate::bits::Bits;
use crate::client::{Client, Scanned};
use crate::edges::{Edges, Marked};
use crate::marks::Marks;
use crate::object::Object;
use crate::space::Space;
use crate::stack::Stack;

impl Edges<'_> {
    /// Scans what is on the stack, until it is empty.
    fn drain<S: Space>(&mut self, space: &S, client: &mut impl Client<S>) {
        while let Some((object, from)) = self.stack.pop() {
            self.scan(space, client, object, from);
        }
    }

    #[inline]
    fn scan<S: Space>(
        &mut self,
        space: &S,
        client: &mut impl Client<S>,
        object: Object,
        from: u32,
    ) {
        (self.scanned, self.again) = (Some(object), false);
        // SAFETY: S1: the object was reported, so it was compared with those that live; nothing is
        // swept before marking has ended.
        let scanned = unsafe { Scanned::new(space, object) };
        client.scan(&scanned, from, self);
    }

    /// Scans the grey objects that did not fit on the stack, in passes over the mark bits.
    fn rescan<S: Space>(&mut self, space: &S, client: &mut impl Client<S>) {
        while let Some(lowest) = self.dropped.take() {
            self.marked.rescans += 1;
            let mut cursor = lowest.number();
            while let Some(object) = self.marks.next_grey(cursor) {
                // Not one more: if the object becomes grey again, its second bit is no object's
                // number.
                cursor = object.number();
                self.marks.make_black(object);
                self.scan(space, client, object, 0);
                self.drain(space, client);
            }
        }
    }
}

/// Makes every object black that the client's roots lead to, and all others white. `live`: what can
/// be reported.
pub(crate) fn mark<S: Space>(
    live: &Bits<'_>,
    marks: &mut Marks<'_>,
    stack: &mut [u64],
    space: &S,
    client: &mut impl Client<S>,
) -> Marked {
    marks.clear_but(space.unused());
    mark_further(live, marks, stack, space, client, None)
}

/// Makes every white object black that the client's roots and the grey objects lead to, without a
/// look at what is black, and the grey ones black. `lowest`: no grey object has a lower number.
pub(crate) fn mark_further<S: Space>(
    live: &Bits<'_>,
    marks: &mut Marks<'_>,
    stack: &mut [u64],
    space: &S,
    client: &mut impl Client<S>,
    lowest: Option<Object>,
) -> Marked {
    let mut edges = Edges {
        live,
        marks: marks.reborrow(),
        stack: Stack::over(stack),
        scanned: None,
        again: false,
        dropped: lowest,
        marked: Marked::default(),
        complete: false,
    };
    client.roots(&mut edges);
    edges.drain(space, client);
    edges.rescan(space, client);
    edges.complete = true;
    Marked {
        deepest: edges.stack.deepest(),
        ..edges.marked
    }
}
