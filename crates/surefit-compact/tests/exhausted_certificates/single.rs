//! Heaps for one owner: byte objects through handles, contiguous and in pieces, and steps that
//! resize and compact.

use core::mem::MaybeUninit;
use std::cell::RefCell;

use surefit_compact::certify::Demand;
use surefit_compact::{Bytes, Config, Heap, Width};
use surefit_core::Refused;
use surefit_testkit::layout;

use crate::book::{Book, Cost};
use crate::region::Region;
use crate::search::{Key as StateKey, Outcome, Space};
use crate::shape::{self, Grain};

/// One call.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Step {
    /// Allocates an object of a request, by its number.
    Insert(usize),
    /// Frees a live object; the last one takes its number.
    Free(usize),
    /// Changes a live object to the length of another request.
    Resize(usize, usize),
    /// Moves at most one object.
    Compact,
}

type Object = Bytes<MaybeUninit<u8>>;

/// All scripts of handles inside a demand, in a heap of some bytes at an address.
pub(crate) struct Handles<'d, W: Width> {
    pub(crate) config: &'d Config,
    pub(crate) demand: &'d Demand<'d>,
    pub(crate) costs: Vec<Cost>,
    pub(crate) region: RefCell<Region>,
    pub(crate) grain: Grain,
    /// Whether objects are resized. Then `demand` does not include what a resize holds besides the
    /// larger object.
    pub(crate) resizes: bool,
    /// What the heap is told to lend, if it is told anything.
    pub(crate) slack: Option<usize>,
    pub(crate) width: core::marker::PhantomData<W>,
}

impl<'d, W: Width> Handles<'d, W> {
    pub(crate) fn new(
        config: &'d Config,
        demand: &'d Demand<'d>,
        lens: &[usize],
        region: Region,
    ) -> Self {
        let cost = |&len: &usize| Cost::of(config, len, W::WORD_BYTES);
        Self {
            config,
            demand,
            costs: lens.iter().map(cost).collect(),
            region: RefCell::new(region),
            grain: Grain::Coarse,
            resizes: false,
            slack: None,
            width: core::marker::PhantomData,
        }
    }
}

/// The number that the debug output of a handle's name shows.
pub(crate) fn index_of(object: &Object) -> u32 {
    let name = format!("{object:?}");
    let digits = name.chars().skip_while(|c| !c.is_ascii_digit());
    let digits: String = digits.take_while(char::is_ascii_digit).collect();
    digits.parse().expect("a name has a number")
}

impl<W: Width> Space for Handles<'_, W> {
    type Step = Step;

    fn replay(&self, script: &[Step], known: &dyn Fn(&StateKey) -> bool) -> Outcome<Step> {
        let mut region = self.region.borrow_mut();
        let base = region.address();
        let heap = match self.slack {
            None => Heap::<W>::new(region.fresh(), self.config),
            Some(slack) => Heap::with_slack(region.fresh(), self.config, slack),
        };
        let mut heap = match heap {
            Ok(heap) => heap,
            Err(refused) => return Outcome::Refused(format!("the region: {refused}")),
        };
        let (mut book, mut live) = (Book::new(self.demand, &self.costs), Vec::new());
        for &step in script {
            if let Err(refused) = self.call(&mut heap, &mut book, &mut live, step) {
                return Outcome::Refused(refused.to_string());
            }
        }
        let words = shape::words_of(|words| heap.shape(words));
        let names = self.pieces(&heap, base, &words, &live);
        let marks = |entry: u32| names.iter().find(|name| name.0 == entry).map_or(0, |n| n.1);
        let key = shape::key(&words, (self.grain, false), &marks, &[]);
        if !known(&key) {
            heap.check().expect("every invariant holds");
        }
        Outcome::Reached {
            key,
            steps: self.steps(&book),
        }
    }
}

impl<W: Width> Handles<'_, W> {
    fn call(
        &self,
        heap: &mut Heap<'_, W>,
        book: &mut Book<'_>,
        live: &mut Vec<Object>,
        step: Step,
    ) -> Result<(), Refused> {
        match step {
            Step::Insert(kind) => {
                live.push(heap.alloc(layout(self.costs[kind].len))?);
                book.insert(kind);
            }
            Step::Free(number) => {
                heap.free_bytes(live.swap_remove(number));
                book.live.swap_remove(number);
            }
            Step::Resize(number, kind) => {
                heap.resize(&mut live[number], layout(self.costs[kind].len))?;
                book.live[number].kind = kind;
            }
            Step::Compact => {
                heap.compact(1);
            }
        }
        Ok(())
    }

    fn steps(&self, book: &Book<'_>) -> Vec<Step> {
        let mut steps: Vec<_> = book.admitted().map(Step::Insert).collect();
        steps.extend((0..book.live.len()).map(Step::Free));
        if self.resizes {
            for number in 0..book.live.len() {
                let mut without = book.clone();
                let old = without.live.swap_remove(number).kind;
                let others = without.admitted().filter(|&kind| kind != old);
                steps.extend(others.map(|kind| Step::Resize(number, kind)));
            }
        }
        steps.push(Step::Compact);
        steps
    }

    /// Marks for the entries of objects in pieces: the object, and the part of it. Objects are
    /// numbered in order.
    fn pieces(
        &self,
        heap: &Heap<'_, W>,
        base: usize,
        words: &[u32],
        live: &[Object],
    ) -> Vec<(u32, u32)> {
        let Some(piece) = self.config.piece_bytes() else {
            return Vec::new();
        };
        let (places, mut names) = (shape::places(words), Vec::new());
        let page_bytes = self.config.geometry().page_bytes();
        for (object, number) in live.iter().zip(1_u32..) {
            if object.len() <= piece {
                continue;
            }
            assert!(
                object.len().div_ceil(piece) * W::WORD_BYTES <= piece,
                "one level of spines"
            );
            names.push((index_of(object), number << 8));
            for (part, offset) in (1_u32..).zip((0..object.len()).step_by(piece)) {
                let chunk = heap.chunk(object, offset);
                let at = chunk.as_ptr().addr() - base;
                let class = self
                    .config
                    .geometry()
                    .class_for(chunk.len(), 8)
                    .expect("fits");
                let beta = self.config.geometry().layout(class).block_bytes as usize;
                let place = (at / page_bytes, at % page_bytes / beta);
                let entry = places
                    .iter()
                    .find(|(_, found)| (found.0 as usize, found.1 as usize) == place);
                names.push((*entry.expect("a used page-block").0, number << 8 | part));
            }
        }
        names
    }
}
