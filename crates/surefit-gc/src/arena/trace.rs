//! What a type reports to the collector, its references, and to whom it reports: the tracer, which
//! marks.
//!
//! ```text
//! collect:     what the root's trace reports; drain
//!              while a push failed: for every grey object, from the lowest that did not fit:
//!                  trace it; drain
//! reach(o):    o's bit is set: nothing; else set it, and push o if its type can hold references
//! drain:       pop o: o's trace reaches what o names
//! ```
//! The colours are those of `marks`: an object is grey only if it is still to be traced and did not
//! fit on the stack. No object is traced twice: an array asks to be traced again before it reaches
//! another object, so there is room for it on the stack. (In steps, an object whose `trace` unwound
//! is traced again.)
//!
//! # Source
//! Jones, Hosking and Moss, The Garbage Collection Handbook, 2.4 and 2.5.
#![deny(unsafe_code)]

use core::fmt;
use core::ptr::NonNull;

use crate::bits::Bits;
use crate::object::Object;
use crate::stack::Stack;

/// Bytes of a granule: numbers of objects count them.
const GRANULE: usize = 8;

/// A type whose values can be kept in an [`Arena`](crate::Arena). It reports the references that a
/// value holds.
///
/// `#[derive(Trace)]` implements it for types whose fields implement it. Programs need not
/// implement it by hand.
///
/// # Safety
/// T1: `trace` calls `trace` of every value that may be or hold a [`Gc`](crate::Gc), every time; if
/// there may be one, [`TRACED`](Trace::TRACED) is true. T2: dropping a value follows no `Gc` and no
/// [`WeakGc`](crate::WeakGc): what they name may have been dropped before. T3: `trace` changes
/// nothing that it can reach. T4: what the type demands of lifetimes, the implementation writes
/// down: `T: 'gc` for a `Gc<'gc, T>`. Every type that is named in it is `Trace` or `'static`. Else
/// a root could be named that exists for one `'gc` alone, and functions that take it would believe
/// that `'gc` is that one, such as `'static`.
#[allow(
    unsafe_code,
    reason = "implementing it is a promise; nothing here is unsafe"
)]
#[diagnostic::on_unimplemented(
    message = "`{Self}` cannot be kept in an arena: it is not `Trace`",
    label = "not `Trace`",
    note = "derive it: `#[derive(Trace)]`; a field that is `'static` can be skipped: `#[trace(skip)]`"
)]
pub unsafe trait Trace {
    /// Whether values can hold references. If not, `trace` need not be called.
    const TRACED: bool;

    /// Calls `trace` of every part that may hold references.
    fn trace(&self, tracer: &mut Tracer<'_>);
}

/// Marks objects during a collection. Only an arena makes one.
#[derive(Debug)]
pub struct Tracer<'a> {
    /// The address of granule 0.
    origin: usize,
    marks: Bits<'a>,
    stack: Stack<'a>,
    /// The lowest grey object.
    grey: Option<u32>,
    marked: Marked,
    told: Told<'a>,
}

/// Who is told of every reached object instead: such a tracer has no bits of its own.
enum Told<'a> {
    Nobody,
    /// Nothing is marked.
    Listener(&'a mut dyn FnMut(u32)),
    /// Marking in steps, which counts what is reported.
    Steps(Counting<'a>),
}

impl fmt::Debug for Told<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Nobody => "Nobody",
            Self::Listener(_) => "Listener",
            Self::Steps(_) => "Steps",
        })
    }
}

/// The mark bits of a tracer that works in steps, and what it counts.
pub(super) struct Counting<'a> {
    pub(super) marks: Bits<'a>,
    /// References that were reported.
    pub(super) references: u64,
    /// Objects that became marked.
    pub(super) objects: u64,
}

/// What marking counted.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) struct Marked {
    pub(super) rescans: u64,
    pub(super) deepest: usize,
}

impl<'a> Tracer<'a> {
    /// The maximum number of elements of an array that are traced at once.
    pub(super) const STRIDE: usize = 64;

    /// A tracer for a heap whose granule 0 is at address `origin`. No bit is set yet.
    pub(super) fn new(origin: usize, marks: Bits<'a>, stack: &'a mut [u64]) -> Self {
        Self {
            origin,
            marks,
            stack: Stack::over(stack),
            grey: None,
            marked: Marked::default(),
            told: Told::Nobody,
        }
    }

    /// A tracer that marks nothing and calls `listener` with the numbers of reached objects.
    pub(super) fn notifying(
        origin: usize,
        stack: &'a mut [u64],
        listener: &'a mut dyn FnMut(u32),
    ) -> Self {
        Self {
            told: Told::Listener(listener),
            ..Self::new(origin, Bits::over(&mut []), stack)
        }
    }

    /// A tracer that goes on where one in steps stopped: with a stack as it was left, and with the
    /// lowest object that did not fit on it.
    pub(super) fn resumed(
        origin: usize,
        marks: Bits<'a>,
        stack: Stack<'a>,
        grey: Option<u32>,
    ) -> Self {
        let counting = Counting {
            marks,
            references: 0,
            objects: 0,
        };
        Self {
            told: Told::Steps(counting),
            stack,
            grey,
            ..Self::new(origin, Bits::over(&mut []), &mut [])
        }
    }

    /// What a tracer in steps counted, and its bits.
    pub(super) fn counting(&mut self) -> Option<&mut Counting<'a>> {
        match &mut self.told {
            Told::Steps(counting) => Some(counting),
            _ => None,
        }
    }

    /// The stack and the lowest object that did not fit on it: what a tracer in steps goes on with.
    pub(super) const fn pending(&mut self) -> (&mut Stack<'a>, &mut Option<u32>) {
        (&mut self.stack, &mut self.grey)
    }

    /// Traces one object, an array from its first element to its last, but not the objects that it
    /// names.
    pub(super) fn trace_one(&mut self, number: u32, mut trace: impl FnMut(&mut Self, u32)) {
        let mut next = Some(0);
        while let Some(from) = next {
            trace(self, from);
            next = self.stack.pop().map(|(object, from)| {
                debug_assert_eq!(object.number(), number, "only it asks to be traced again");
                from
            });
        }
    }

    /// Marks an object. It is traced later if `is_traced`: its type can hold references.
    #[inline]
    pub(super) fn reach(&mut self, object: NonNull<u8>, is_traced: bool) {
        let number = self.number_of(object);
        match self.marks.insert(number) {
            Some(true) if is_traced => self.push(number, 0),
            Some(_) => {}
            None => self.tell(number, is_traced),
        }
    }

    #[cold]
    fn tell(&mut self, number: u32, is_traced: bool) {
        match &mut self.told {
            Told::Nobody => unreachable!("every number has a bit"),
            Told::Listener(listener) => listener(number),
            Told::Steps(counting) => {
                counting.references += 1;
                let is_new = counting.marks.insert(number);
                let is_new = is_new.expect("every number has a bit");
                counting.objects += u64::from(is_new);
                if is_new && is_traced {
                    self.push(number, 0);
                }
            }
        }
    }

    /// Asks to trace the object again that is being traced, from an element on. Call it before the
    /// object reaches another one: then there is room on the stack.
    pub(super) fn again_from(&mut self, object: NonNull<u8>, element: u32) {
        let number = self.number_of(object);
        self.push(number, element);
    }

    /// Whether an object was reached.
    pub(super) fn is_marked(&self, object: NonNull<u8>) -> bool {
        self.marks.get(self.number_of(object))
    }

    /// The bits. After marking, they are those of the objects that live on.
    pub(super) const fn marks(&self) -> &Bits<'a> {
        &self.marks
    }

    #[inline]
    fn number_of(&self, object: NonNull<u8>) -> u32 {
        ((object.addr().get() - self.origin) / GRANULE) as u32
    }

    #[inline]
    pub(super) fn push(&mut self, number: u32, from: u32) {
        let is_pushed = Object::of(number).is_some_and(|object| self.stack.push(object, from));
        if !is_pushed {
            let marks = match &mut self.told {
                Told::Steps(counting) => &mut counting.marks,
                _ => &mut self.marks,
            };
            marks.set(number + 1);
            self.grey = Some(self.grey.map_or(number, |lowest| lowest.min(number)));
        }
    }

    /// Marks all objects that lead on from those reached before. `trace` gets an object and the
    /// element to begin with.
    pub(super) fn mark(&mut self, mut trace: impl FnMut(&mut Self, u32, u32)) -> Marked {
        self.drain(&mut trace);
        while let Some(lowest) = self.grey.take() {
            self.marked.rescans += 1;
            let mut cursor = lowest;
            while let Some(number) = self.marks.next_pair(cursor) {
                self.marks.reset(number + 1);
                trace(self, number, 0);
                self.drain(&mut trace);
                cursor = number;
            }
        }
        Marked {
            deepest: self.stack.deepest(),
            ..self.marked
        }
    }

    #[inline]
    fn drain(&mut self, trace: &mut impl FnMut(&mut Self, u32, u32)) {
        while let Some((object, from)) = self.stack.pop() {
            trace(self, object.number(), from);
        }
    }
}
