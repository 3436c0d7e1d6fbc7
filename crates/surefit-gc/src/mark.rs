//! Marking: from the roots along all references, with a stack of so many entries and never by recursion.
//!
//! ```text
//! mark:        all white; roots: report(object) for each; drain
//!              while a push failed: for every grey object from the lowest that did not fit on: scan it; drain
//! report(o):   no live object: panic; white: black, push (o, 0)
//! push(o, i):  if the stack is full, o is grey
//! drain:       pop (o, from): o's references from slot `from` on: report; if it asked to be scanned again, push (o, slot)
//! ```
//! An object that fits on the stack is black at once, so that marking it writes one bit. No object is pushed as white twice.
//! A grey one is black again when its scan begins, and turns grey once more only if it asks to be scanned again and that does
//! not fit: but then it reached others before, which filled the stack. So marking ends, whatever fits: a pass over the grey
//! leaves fewer to be reached or to be scanned. A stack of one entry is enough.
//!
//! # Bounds
//! A scan of every stride of a reachable object, a look at every reference, and for every pass one of the mark bits. Passes
//! are at most as many as pushes that failed, and are counted. An object that asks to be scanned again when the stack is
//! full has its strides scanned again from the first.
//!
//! # Source
//! Jones, Hosking and Moss, The Garbage Collection Handbook, 2.4 and 2.5: the tricolour abstraction, mark stack overflow.

use crate::bits::Bits;
use crate::client::{Client, Scanned};
use crate::marks::Marks;
use crate::space::{Object, Space};
use crate::stack::Stack;

/// What clients report references to.
#[derive(Debug)]
pub struct Edges<'a> {
    /// The objects that live: only they can be reported.
    live: &'a Bits<'a>,
    marks: Marks<'a>,
    stack: Stack<'a>,
    scanned: Option<Object>,
    again: bool,
    /// The lowest object that is grey and did not fit on the stack.
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
    /// If the reference names no live object: a collection freed it, or it never was one. The collection ends there and
    /// frees nothing.
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

    /// Asks that the object be scanned again, from a slot on.
    ///
    /// # Panics
    /// If no object is being scanned, or it has asked already.
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
        // SAFETY: S1: the object was reported, so it was compared with those that live; nothing is swept before marking
        // has ended.
        let scanned = unsafe { Scanned::new(space, object) };
        client.scan(&scanned, from, self);
    }

    /// Scans the grey objects that did not fit on the stack, in passes over the mark bits.
    fn rescan<S: Space>(&mut self, space: &S, client: &mut impl Client<S>) {
        while let Some(lowest) = self.dropped.take() {
            self.marked.rescans += 1;
            let mut cursor = lowest.number();
            while let Some(object) = self.marks.next_grey(cursor) {
                // Not behind it: if it turns grey again, its second bit is no object's.
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

/// Marks every object that the client's roots lead to black, all others white. `live`: what can be reported.
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
