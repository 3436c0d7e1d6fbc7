//! Verifies the numbered invariants of an arena in steps.

use surefit_core::{Corruption, RawHeap, ensure};
use surefit_freelist::Index;

use super::phase::ArenaPhase;
use super::store::StepStore;
use super::tables::Tables;
use crate::arena::check::check;
use crate::arena::kinds::End;
use crate::arena::place::Place;
use crate::arena::trace::{Trace, Tracer};
use crate::arena::weak::WeakCell;
use crate::bits::BITS;

/// An invariant that an object breaks.
fn broken(invariant: &'static str, what: &'static str, number: u32) -> Corruption {
    Corruption::new(invariant, what, number as usize)
}

impl<I: Index> StepStore<'_, I> {
    /// Verifies A2 to A8 and the invariants of the heap.
    pub(super) fn check(&mut self, root: &impl Trace) -> Result<(), Corruption> {
        let (store, mut tables) = self.open();
        let (source, kinds, finalizable) = store.allocator.closed();
        let heap = &source.heap;
        heap.check()?;
        let mut count = 0;
        for number in heap.objects() {
            count += 1;
            if !tables.live.get(number) {
                return Err(broken(
                    "A4",
                    "an object has no live bit; its number",
                    number,
                ));
            }
        }
        let words = tables.live.words().iter();
        let bits: u64 = words.map(|word| u64::from(word.count_ones())).sum();
        ensure(
            bits == count && tables.state.live_objects == count,
            "A4",
            "live bits are set of what is no object, or objects were miscounted; objects",
            count as usize,
        )?;
        ensure(
            source.counts_right(),
            "A4",
            "free bytes were miscounted; objects",
            count as usize,
        )?;
        let lists = check(heap, kinds, finalizable, tables.live.reborrow());
        tables.live.clear();
        heap.objects().for_each(|number| tables.live.set(number));
        lists?;
        check_places(&tables)?;
        check_marks(&tables)?;
        check_pending(&tables)?;
        let [_, pending, dying] = finalizable.heads();
        let what = "objects are processed in another phase than Weak; the first is";
        let may_process = pending == 0 || tables.state.phase == ArenaPhase::Weak;
        ensure(may_process, "A3", what, pending as usize)?;
        let may_die = matches!(tables.state.phase, ArenaPhase::Weak | ArenaPhase::Drop);
        let mut next = dying;
        while next != 0 {
            let what = "a value is to be dropped that lives; its number";
            ensure(
                may_die && tables.is_condemned(next),
                "A3",
                what,
                next as usize,
            )?;
            // SAFETY: S1: a finalizable object of the heap, as was verified.
            next = unsafe { Place::of(heap, next).link() };
        }
        self.check_references(root)
    }

    /// Verifies A8.
    fn check_references(&mut self, root: &impl Trace) -> Result<(), Corruption> {
        let (store, tables) = self.open();
        let (source, kinds, _) = store.allocator.closed();
        let heap = &source.heap;
        let lives = |number| tables.live.get(number) && !tables.is_condemned(number);
        let (mut lost, mut stack) = (None, [0]);
        let mut note = |number| {
            if !lives(number) {
                lost = Some(number);
            }
        };
        root.trace(&mut Tracer::notifying(heap.origin(), &mut [0], &mut note));
        for number in heap.objects().filter(|&number| lives(number)) {
            // SAFETY: S1: a live object of the heap.
            let place = unsafe { Place::of(heap, number) };
            // SAFETY: S1: every object's kind was written (A2).
            let kind = kinds.get(unsafe { place.kind() });
            let mut tracer = Tracer::notifying(heap.origin(), &mut stack, &mut note);
            tracer.trace_one(number, |tracer, from| {
                // SAFETY: an object of that kind (A2).
                unsafe { (kind.trace)(place.object, from, tracer) };
            });
            if let (End::Weak, false) = (kind.end, tables.state.phase == ArenaPhase::Weak) {
                // SAFETY: a value of that kind (A2).
                let cell = unsafe { place.object.cast::<WeakCell>().as_ref() };
                let target = cell.target().map(|target| heap.granule_of(target));
                target.into_iter().for_each(&mut note);
            }
        }
        match lost {
            Some(number) => {
                let what = "a reference names a dead object; its number";
                Err(broken("A8", what, number))
            }
            None => Ok(()),
        }
    }
}

impl Tables<'_> {
    /// Whether marking has ended, the sweep has not come to an object yet, and it is not marked: it
    /// is dead.
    fn is_condemned(&self, number: u32) -> bool {
        let is_ahead = match self.state.phase {
            ArenaPhase::Weak | ArenaPhase::Drop => true,
            ArenaPhase::Sweep => number / BITS >= self.state.cursor,
            _ => false,
        };
        is_ahead && !self.marks.get(number)
    }

    fn is_grey(&self, number: u32) -> bool {
        self.marks.get(number) && self.marks.get(number + 1)
    }

    /// Calls `see` with the number of every object, in ascending order.
    fn objects(&self) -> impl Iterator<Item = u32> {
        let next = |from| self.live.next(from);
        core::iter::successors(next(0), move |&number| next(number + 1))
    }
}

/// Verifies that the sweep, the pass over grey objects and the stack end within their tables.
fn check_places(tables: &Tables<'_>) -> Result<(), Corruption> {
    let state = &*tables.state;
    let (words, cursor) = (tables.live.words().len(), state.cursor as usize);
    let is_there = state.phase != ArenaPhase::Sweep || cursor < words;
    ensure(
        is_there,
        "A5",
        "the sweep is beyond the bits; the word",
        cursor,
    )?;
    let (len, room) = (state.pending.len, tables.stack.len());
    let what = "the mark stack is longer than its room; entries";
    ensure(len <= room, "A6", what, len)?;
    let pass = state.pending.pass.unwrap_or(0) as usize;
    let what = "the pass over grey objects is beyond the bits; its number";
    ensure(pass < tables.live.count(), "A7", what, pass)
}

/// Verifies A5.
fn check_marks(tables: &Tables<'_>) -> Result<(), Corruption> {
    let least = match tables.state.phase {
        ArenaPhase::Roots | ArenaPhase::Mark | ArenaPhase::Weak | ArenaPhase::Drop => 0,
        ArenaPhase::Sweep => tables.state.cursor * BITS,
        ArenaPhase::Merge | ArenaPhase::Idle => u32::MAX,
    };
    let mut bits = 0;
    for number in tables.objects().filter(|&number| tables.marks.get(number)) {
        if number < least {
            return Err(broken(
                "A5",
                "an object is still marked; its number",
                number,
            ));
        }
        bits += 1 + u32::from(tables.is_grey(number));
    }
    let words = tables.marks.words().iter();
    let set: u32 = words.map(|word| word.count_ones()).sum();
    let what = "mark bits are set of what is no live object; bits";
    ensure(bits == set, "A5", what, set as usize)
}

/// Verifies A6 and A7.
fn check_pending(tables: &Tables<'_>) -> Result<(), Corruption> {
    let state = &*tables.state;
    let may_pend = matches!(state.phase, ArenaPhase::Roots | ArenaPhase::Mark);
    let entries = &tables.stack[..state.pending.len];
    for number in entries.iter().map(|&entry| (entry >> 32) as u32) {
        if !(may_pend && tables.live.get(number) && tables.marks.get(number)) {
            let what = "an entry of the mark stack is not of a marked object; its number";
            return Err(broken("A6", what, number));
        }
    }
    let known_from = state.pending.grey.into_iter().chain(state.pending.pass);
    let known_from = known_from.min();
    for number in tables.objects().filter(|&number| tables.is_grey(number)) {
        if !may_pend {
            return Err(broken("A6", "an object is grey; its number", number));
        }
        if known_from.is_none_or(|from| from > number) {
            return Err(broken(
                "A7",
                "a grey object is forgotten; its number",
                number,
            ));
        }
    }
    Ok(())
}
