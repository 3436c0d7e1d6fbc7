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
use crate::marks::Marks;
use crate::space::{Object, Space};
use crate::stack::Stack;

/// Receives the references that clients report.
#[derive(Debug)]
pub struct Edges<'a> {
    /// The objects that live: only these can be reported.
    live: &'a Bits<'a>,
    marks: Marks<'a>,
    stack: Stack<'a>,
    scanned: Option<Object>,
    again: bool,
    /// The lowest grey object, which did not fit on the stack.
    dropped: Option<Object>,
    marked: Marked,
    complete: bool,
}

/// What marking counted.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct Marked {
    pub(crate) objects: u64,
    pub(crate) edges: u64,
    pub(crate) rescans: u64,
    pub(crate) deepest: usize,
}

impl Edges<'_> {
    /// How many references a large object should report at once; see [`Client::scan`].
    pub const STRIDE: u32 = 64;

    /// Reports a reference to an object.
    ///
    /// # Panics
    /// If the reference names no live object: a collection freed it, or it never was one. The
    /// collection ends and frees nothing.
    #[inline]
    #[track_caller]
    pub fn report(&mut self, object: Object) {
        assert!(
            self.live.get(object.number()),
            "{object:?} was reported, but is no live object"
        );
        self.marked.edges += 1;
        if self.marks.reach(object) {
            self.marked.objects += 1;
            self.push(object, 0);
        }
    }

    /// Asks to scan the object again, from a slot on.
    ///
    /// # Panics
    /// If no object is being scanned, or if this scan has asked already.
    pub fn again_from(&mut self, slot: u32) {
        assert!(
            !self.again,
            "an object asks once a scan to be scanned again"
        );
        let object = self.scanned.expect("`again_from` is for `scan`");
        self.again = true;
        self.push(object, slot);
    }

    #[inline]
    fn push(&mut self, object: Object, from: u32) {
        if !self.stack.push(object, from) {
            self.marks.make_grey(object);
            self.dropped = Some(self.dropped.map_or(object, |lowest| lowest.min(object)));
        }
    }

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

/// A client that unwinds leaves no grey object behind.
impl Drop for Edges<'_> {
    fn drop(&mut self) {
        if !self.complete {
            self.marks.clear();
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
    let mut edges = Edges {
        live,
        marks: marks.reborrow(),
        stack: Stack::over(stack),
        scanned: None,
        again: false,
        dropped: None,
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
