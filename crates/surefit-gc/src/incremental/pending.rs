//! What marking has still to scan, between two steps and within one.

use core::ops::Range;

use crate::bits::{BITS, Bits};
use crate::client::{Client, Scanned};
use crate::edges::{Edges, Marked};
use crate::marks::Marks;
use crate::object::Object;
use crate::space::Space;
use crate::stack::Stack;

/// What is still to be scanned, between two steps: the state of the mark stack and of the pass over
/// grey bits.
#[derive(Debug, Default)]
pub(super) struct Pending {
    /// Entries of the stack.
    pub(super) len: usize,
    pub(super) deepest: usize,
    /// The lowest grey object, which did not fit on the stack, since the pass began.
    pub(super) dropped: Option<Object>,
    /// Where the pass over the grey bits goes on.
    pub(super) pass: Option<u32>,
    /// What was marked and is not in the figures of the cycle yet.
    pub(super) marked: Marked,
}

impl Pending {
    /// Shades an object: returns whether it was white and live.
    pub(super) fn shade(
        &mut self,
        stack: &mut [u64],
        live: &Bits<'_>,
        marks: &mut Marks<'_>,
        object: Object,
    ) -> bool {
        let is_new = live.get(object.number()) && marks.reach(object);
        if is_new {
            let mut edges = Scanning::resume(self, stack, live, marks.reborrow());
            edges.edges.push(object, 0);
        }
        is_new
    }
}

/// The edges of a step: what was pending is put back when it ends, also by unwinding.
pub(super) struct Scanning<'a> {
    pub(super) edges: Edges<'a>,
    pending: &'a mut Pending,
    /// What the client scans at the moment.
    entry: Option<(Object, u32)>,
}

impl<'a> Scanning<'a> {
    pub(super) fn resume(
        pending: &'a mut Pending,
        stack: &'a mut [u64],
        live: &'a Bits<'a>,
        marks: Marks<'a>,
    ) -> Self {
        let edges = Edges {
            live,
            marks,
            stack: Stack::resumed(stack, pending.len, pending.deepest),
            scanned: None,
            again: false,
            dropped: pending.dropped,
            marked: Marked::default(),
            complete: true,
        };
        Self {
            edges,
            pending,
            entry: None,
        }
    }

    /// Scans the newest entry of the stack. Returns the work, and the references that it reported;
    /// `None` if the stack is empty.
    pub(super) fn scan<S: Space>(
        &mut self,
        space: &S,
        client: &mut impl Client<S>,
    ) -> Option<(u64, u64)> {
        let (object, from) = self.edges.stack.pop()?;
        self.entry = Some((object, from));
        (self.edges.scanned, self.edges.again) = (Some(object), false);
        let before = self.edges.marked.edges;
        // SAFETY: S1: the objects on the stack live (G5).
        let scanned = unsafe { Scanned::new(space, object) };
        client.scan(&scanned, from, &mut self.edges);
        self.entry = None;
        let edges = self.edges.marked.edges - before;
        let words = scanned.words().saturating_sub(from).min(Edges::STRIDE);
        Some((1 + edges.max(u64::from(words)), edges))
    }

    /// Looks for the next grey object in one word of bits, and puts it on the empty stack. Returns
    /// whether marking goes on.
    pub(super) fn find_grey(&mut self, unused: Range<u32>) -> bool {
        let Some(number) = self.pending.pass else {
            self.pending.pass = self.edges.dropped.take().map(Object::number);
            self.edges.marked.rescans += u64::from(self.pending.pass.is_some());
            return self.pending.pass.is_some();
        };
        let live = self.edges.live;
        if let Some(object) = self.edges.marks.next_grey_in_word(number, live) {
            self.edges.marks.make_black(object);
            self.edges.push(object, 0);
            self.pending.pass = Some(object.number());
            return true;
        }
        let next = live.beyond((number / BITS) as usize + 1, unused);
        self.pending.pass = (next < live.words().len()).then_some(next as u32 * BITS);
        true
    }
}

impl Drop for Scanning<'_> {
    fn drop(&mut self) {
        if let Some((object, from)) = self.entry {
            // The client unwound: the object is scanned again.
            self.edges.push(object, from);
        }
        self.pending.len = self.edges.stack.len();
        self.pending.deepest = self.edges.stack.deepest();
        self.pending.dropped = self.edges.dropped;
        self.pending.marked = self.pending.marked.and(self.edges.marked);
    }
}
