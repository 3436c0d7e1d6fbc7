//! The nodes of the judge of arenas in steps: with `Drop` and without.

use surefit_gc::{Full, Gc, GcArray, GcCell, StepMutation, StepWeak, Trace};

use super::super::{Drops, Mortal};

/// A node with `Drop`, and with references of each kind.
#[derive(Trace)]
pub(super) struct Heavy<'gc> {
    #[trace(skip)]
    pub(super) mortal: Mortal,
    pub(super) slots: GcArray<'gc, Slot<'gc>>,
    pub(super) weak: GcCell<'gc, Option<StepWeak<'gc, Heavy<'gc>>>>,
}

/// A node without `Drop`.
#[derive(Trace)]
pub(super) struct Light<'gc> {
    pub(super) id: usize,
    pub(super) slots: [Slot<'gc>; 2],
}

#[derive(Clone, Copy, Trace)]
pub(super) enum Node<'gc> {
    Heavy(Gc<'gc, Heavy<'gc>>),
    Light(Gc<'gc, Light<'gc>>),
}

pub(super) type Slot<'gc> = GcCell<'gc, Option<Node<'gc>>>;

impl<'gc> Node<'gc> {
    pub(super) fn id(self) -> usize {
        match self {
            Self::Heavy(node) => node.mortal.id,
            Self::Light(node) => node.id,
        }
    }

    pub(super) fn slots(self) -> &'gc [Slot<'gc>] {
        match self {
            Self::Heavy(node) => node.as_ref().slots.as_slice(),
            Self::Light(node) => &node.as_ref().slots,
        }
    }

    pub(super) fn weak(self) -> Option<StepWeak<'gc, Heavy<'gc>>> {
        match self {
            Self::Heavy(node) => node.weak.get(),
            Self::Light(_) => None,
        }
    }
}

/// All nodes that the root leads to, by id; `None` for the others.
pub(super) fn reach<'gc>(roots: &[Option<Node<'gc>>], ids: usize) -> Vec<Option<Node<'gc>>> {
    let mut reached = vec![None; ids];
    let mut queue: Vec<Node<'gc>> = roots.iter().flatten().copied().collect();
    while let Some(node) = queue.pop() {
        if reached[node.id()].replace(node).is_none() {
            queue.extend(node.slots().iter().filter_map(GcCell::get));
        }
    }
    reached
}

pub(super) fn heavy<'gc>(
    mc: &StepMutation<'gc>,
    id: usize,
    drops: &Drops,
    slots: usize,
) -> Result<Gc<'gc, Heavy<'gc>>, Full> {
    let slots = mc.alloc_array(slots, |_| GcCell::new(None))?;
    let drops = drops.clone();
    mc.alloc(Heavy {
        mortal: Mortal { id, drops },
        slots,
        weak: GcCell::new(None),
    })
}
