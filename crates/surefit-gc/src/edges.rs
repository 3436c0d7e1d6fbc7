//! The references that clients report: each marks an object, and pushes it to be scanned.
#![deny(unsafe_code)]

use crate::bits::Bits;
use crate::marks::Marks;
use crate::object::Object;
use crate::stack::Stack;

/// Receives the references that clients report.
#[derive(Debug)]
pub struct Edges<'a> {
    /// The objects that live: only these can be reported.
    pub(crate) live: &'a Bits<'a>,
    pub(crate) marks: Marks<'a>,
    pub(crate) stack: Stack<'a>,
    pub(crate) scanned: Option<Object>,
    pub(crate) again: bool,
    /// The lowest grey object, which did not fit on the stack.
    pub(crate) dropped: Option<Object>,
    pub(crate) marked: Marked,
    pub(crate) complete: bool,
}

/// What marking counted.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct Marked {
    pub(crate) objects: u64,
    pub(crate) edges: u64,
    pub(crate) rescans: u64,
    pub(crate) deepest: usize,
}

impl Marked {
    /// Both.
    pub(crate) fn and(self, other: Self) -> Self {
        Self {
            objects: self.objects + other.objects,
            edges: self.edges + other.edges,
            rescans: self.rescans + other.rescans,
            deepest: self.deepest.max(other.deepest),
        }
    }
}

impl Edges<'_> {
    /// How many references a large object should report at once; see
    /// [`Client::scan`](crate::Client::scan).
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
    pub(crate) fn push(&mut self, object: Object, from: u32) {
        if !self.stack.push(object, from) {
            self.marks.make_grey(object);
            self.dropped = Some(self.dropped.map_or(object, |lowest| lowest.min(object)));
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
