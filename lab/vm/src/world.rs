//! What the collector must know of the machine: its roots, and where the references of an object
//! are.
//!
//! ```text
//! object   | class | hash | fields, those of the superclass first
//! array    | class | hash | length | elements: 1, 2, 4 or 8 bytes each
//!
//! stack    | locals | stack | locals | stack | …   one frame behind the other; its arguments are
//!                           the end of the stack of the frame before
//! slot     32 bits of value, and one bit that says whether it is a reference
//! ```
//! There is one stack. That of a thread that does not run is parked: the slots in use, no more.
//!
//! The bit is written with the value. So marking is exact whatever the code does: what no bit says
//! is no root, and what one says was loaded as a reference.

use std::collections::BTreeMap;
use std::ops::Range;
use std::rc::Rc;

use surefit_gc::{Client, Edges, Living, Object, Scanned, Space};

use crate::interned::Interned;

/// A value of one word, on the stack or in a static field.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct Slot(u64);

const IS_REFERENCE: u64 = 1 << 32;

impl Slot {
    pub(crate) const NULL: Self = Self(IS_REFERENCE);

    /// A word that is no reference.
    #[inline(always)]
    pub(crate) const fn word(value: u32) -> Self {
        Self(value as u64)
    }

    #[inline(always)]
    pub(crate) const fn int(value: i32) -> Self {
        Self::word(value as u32)
    }

    #[inline(always)]
    pub(crate) fn reference(object: Option<Object>) -> Self {
        Self(IS_REFERENCE | u64::from(object.map_or(0, Object::number)))
    }

    /// The bits, whatever they are.
    #[inline(always)]
    pub(crate) const fn bits(self) -> u32 {
        self.0 as u32
    }

    #[inline(always)]
    pub(crate) const fn as_int(self) -> i32 {
        self.0 as i32
    }

    /// The reference; `None` if it is none.
    #[inline(always)]
    pub(crate) const fn as_reference(self) -> Option<Option<Object>> {
        if self.0 & IS_REFERENCE == 0 {
            None
        } else {
            Some(Object::of(self.0 as u32))
        }
    }
}

/// Words of an object before its fields.
pub(crate) const HEADER: u32 = 2;

/// Words of an array before its elements.
pub(crate) const ARRAY_HEADER: u32 = 3;

/// What the objects of a class hold.
#[derive(Clone, Debug)]
pub(crate) enum Shape {
    /// The words that are references.
    Object(Rc<[u32]>),
    References,
    /// Elements of so many bytes that are no references: 1 << n.
    Data(u8),
}

/// The number of a thread.
pub(crate) type ThreadId = u32;

/// Who has a monitor.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Monitor {
    pub(crate) owner: ThreadId,
    /// How often it was entered: never 0.
    pub(crate) times: u32,
}

/// The roots of a thread.
#[derive(Debug, Default)]
pub(crate) struct ThreadRoots {
    /// Its stack up to the first free slot; empty while it runs.
    pub(crate) stack: Vec<Slot>,
    /// The `Thread` that stands for it.
    pub(crate) object: Option<Object>,
    /// The monitor for which it waits.
    pub(crate) awaits: Option<Object>,
}

/// What a weak reference leads to. It lies beside the heap, so no scan follows it.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Weak {
    /// The object that has it; `None` if the entry is not used.
    pub(crate) holder: Option<Object>,
    pub(crate) referent: Option<Object>,
}

/// The roots, and the shape of each class.
#[derive(Debug, Default)]
pub(crate) struct World {
    pub(crate) stack: Vec<Slot>,
    /// The first slot that is free: those before it are roots.
    pub(crate) top: usize,
    /// By the numbers of threads.
    pub(crate) threads: Vec<ThreadRoots>,
    /// The monitors that threads have.
    pub(crate) monitors: BTreeMap<Object, Monitor>,
    pub(crate) statics: Vec<Slot>,
    /// String constants, and the objects that stand for classes.
    pub(crate) constants: Vec<Object>,
    /// What functions of the machine hold while they allocate.
    pub(crate) handles: Vec<Object>,
    /// The weak references, by the numbers that their holders have, from 1 on.
    pub(crate) weak: Vec<Weak>,
    /// Entries of weak references that are not used.
    pub(crate) vacant: Vec<u32>,
    /// Those entries that lead to interned strings.
    pub(crate) interned: Interned,
    /// What was thrown and not yet caught.
    pub(crate) thrown: Option<Object>,
    /// The shape of each class, by its number.
    pub(crate) shapes: Vec<Shape>,
}

impl World {
    /// Keeps a weak reference; its number.
    pub(crate) fn add_weak(&mut self, holder: Object, referent: Option<Object>) -> u32 {
        let entry = Weak {
            holder: Some(holder),
            referent,
        };
        match self.vacant.pop() {
            Some(number) => {
                self.weak[number as usize - 1] = entry;
                number
            }
            None => {
                self.weak.push(entry);
                self.weak.len() as u32
            }
        }
    }

    /// Entries of weak references that are used.
    pub(crate) fn weak_in_use(&self) -> u64 {
        (self.weak.len() - self.vacant.len()) as u64
    }

    /// Clears the weak references to what dies, and forgets those whose holder dies.
    fn clear_weak(&mut self, numbers: Range<usize>, living: &Living<'_>) {
        for index in numbers {
            let Weak { holder, referent } = &mut self.weak[index];
            *referent = referent.filter(|&object| living.contains(object));
            if holder.is_some_and(|object| !living.contains(object)) {
                (*holder, *referent) = (None, None);
                self.vacant.push(index as u32 + 1);
                self.interned.forget(index as u32 + 1);
            }
        }
    }
}

impl<S: Space> Client<S> for World {
    fn roots(&mut self, edges: &mut Edges<'_>) {
        let slots = self.stack[..self.top].iter().chain(&self.statics);
        let slots = slots.chain(self.threads.iter().flat_map(|thread| &thread.stack));
        let slots = slots.filter_map(|slot| slot.as_reference().flatten());
        slots.for_each(|object| edges.report(object));
        let others = self.constants.iter().chain(&self.handles);
        let others = others.chain(&self.thrown).chain(self.monitors.keys());
        let of_threads = self.threads.iter();
        let of_threads = of_threads.flat_map(|thread| thread.object.iter().chain(&thread.awaits));
        others
            .chain(of_threads)
            .for_each(|&object| edges.report(object));
    }

    fn scan(&mut self, object: &Scanned<'_, S>, from: u32, edges: &mut Edges<'_>) {
        match &self.shapes[object.load(0) as usize] {
            Shape::Data(_) => {}
            Shape::References => {
                report(object, object.load(2), |n| ARRAY_HEADER + n, from, edges);
            }
            Shape::Object(words) => {
                report(
                    object,
                    words.len() as u32,
                    |n| words[n as usize],
                    from,
                    edges,
                );
            }
        }
    }

    fn weak(&mut self, living: &Living<'_>) {
        self.clear_weak(0..self.weak.len(), living);
    }

    /// The numbers are those of the entries. A new weak reference leads to an object that lives on.
    /// An entry names two objects, so a part has half as many entries as a stride.
    fn weak_from(&mut self, from: u32, living: &Living<'_>) -> Option<u32> {
        let count = self.weak.len() as u32;
        let to = count.min(from.saturating_add(Edges::STRIDE / 2));
        self.clear_weak(from as usize..to as usize, living);
        (to < count).then_some(to)
    }
}

/// Reports a part of the references of an object, which has `count`, each in a word of its own.
#[inline]
fn report<S: Space>(
    object: &Scanned<'_, S>,
    count: u32,
    word: impl Fn(u32) -> u32,
    from: u32,
    edges: &mut Edges<'_>,
) {
    let to = count.min(from + Edges::STRIDE);
    if to < count {
        edges.again_from(to);
    }
    let parts = (from..to).filter_map(|n| object.reference(word(n)));
    parts.for_each(|part| edges.report(part));
}
