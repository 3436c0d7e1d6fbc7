//! Heaps of keys for one owner, and entries that retire.

use std::cell::RefCell;

use surefit_compact::certify::Demand;
use surefit_compact::{Config, Counted, Key, KeyHeap, Width};
use surefit_core::Refused;

use crate::book::{Book, Cost};
use crate::region::Region;
use crate::search::{Key as StateKey, Outcome, Space};
use crate::shape::{self, Grain};

/// Requests of the keyed spaces: one type each.
pub(crate) const KEYED: [usize; 3] = [256, 512, 1024];

/// A key of a type of each length.
#[derive(Clone, Copy)]
pub(crate) enum AnyKey {
    A(Key<[u8; 256]>),
    B(Key<[u8; 512]>),
    C(Key<[u8; 1024]>),
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Step {
    Insert(usize),
    Remove(usize),
}

/// All scripts of keys inside a demand.
pub(crate) struct Keys<'d, W, G> {
    pub(crate) config: &'d Config,
    pub(crate) demand: &'d Demand<'d>,
    pub(crate) costs: Vec<Cost>,
    pub(crate) region: RefCell<Region>,
    /// How often each of the first entries was freed before the scripts begin. Empty: no entry
    /// ages.
    pub(crate) aged: Vec<u32>,
    /// The most frees in the heap's life, if that is bounded.
    pub(crate) frees: Option<u32>,
    pub(crate) width: core::marker::PhantomData<(W, G)>,
}

impl<'d, W: Width<Generation = ()>, G: Counted> Keys<'d, W, G> {
    pub(crate) fn new(config: &'d Config, demand: &'d Demand<'d>, region: Region) -> Self {
        let cost = |len: usize| Cost::of(config, len, W::WORD_BYTES);
        Self {
            config,
            demand,
            costs: KEYED.into_iter().map(cost).collect(),
            region: RefCell::new(region),
            aged: Vec::new(),
            frees: None,
            width: core::marker::PhantomData,
        }
    }
}

/// The heap and the objects that a script holds.
struct Play<'m, W: Width<Generation = ()>, G: Counted> {
    heap: KeyHeap<'m, W, G>,
    live: Vec<AnyKey>,
    frees: u32,
}

impl<W: Width<Generation = ()>, G: Counted> Play<'_, W, G> {
    fn insert(&mut self, kind: usize) -> Result<(), Refused> {
        let heap = &self.heap;
        self.live.push(match kind {
            0 => AnyKey::A(heap.insert([0; 256]).map_err(|full| full.refused)?),
            1 => AnyKey::B(heap.insert([0; 512]).map_err(|full| full.refused)?),
            _ => AnyKey::C(heap.insert([0; 1024]).map_err(|full| full.refused)?),
        });
        Ok(())
    }

    fn remove(&mut self, number: usize) {
        let is_gone = match self.live.swap_remove(number) {
            AnyKey::A(key) => self.heap.remove(key).is_ok() && !self.heap.contains(key),
            AnyKey::B(key) => self.heap.remove(key).is_ok() && !self.heap.contains(key),
            AnyKey::C(key) => self.heap.remove(key).is_ok() && !self.heap.contains(key),
        };
        assert!(is_gone, "the key was live, and is stale");
        self.frees += 1;
    }

    /// Frees an object of each of some entries this often. The entry that was freed last is taken
    /// first.
    fn age(&mut self, aged: &[u32]) -> Result<(), Refused> {
        for _ in aged {
            self.insert(0)?;
        }
        for frees in aged {
            // The first object is freed and inserted last in the list, so each entry has its turn.
            for _ in 1..*frees {
                let last = self.live.len() - 1;
                self.live.swap(0, last);
                self.remove(last);
                self.insert(0)?;
                self.live.swap(0, last);
            }
            self.live.rotate_left(1);
        }
        for _ in aged {
            self.remove(0);
        }
        Ok(())
    }
}

impl<W: Width<Generation = ()>, G: Counted> Space for Keys<'_, W, G> {
    type Step = Step;

    fn replay(&self, script: &[Step], known: &dyn Fn(&StateKey) -> bool) -> Outcome<Step> {
        let mut region = self.region.borrow_mut();
        let heap = match KeyHeap::<W, G>::new(region.fresh(), self.config) {
            Ok(heap) => heap,
            Err(refused) => return Outcome::Refused(format!("the region: {refused}")),
        };
        let mut play = Play {
            heap,
            live: Vec::new(),
            frees: 0,
        };
        if let Err(refused) = play.age(&self.aged) {
            return Outcome::Refused(format!("{refused} while entries age"));
        }
        let mut book = Book::new(self.demand, &self.costs);
        for &step in script {
            match step {
                Step::Insert(kind) => {
                    if let Err(refused) = play.insert(kind) {
                        return Outcome::Refused(refused.to_string());
                    }
                    book.insert(kind);
                }
                Step::Remove(number) => {
                    play.remove(number);
                    book.live.swap_remove(number);
                }
            }
        }
        let words = shape::words_of(|words| play.heap.shape(words));
        let frees = self.frees.map(|_| play.frees);
        let ages = !self.aged.is_empty();
        let key = shape::key(
            &words,
            (Grain::Coarse, ages),
            &|_| 0,
            &frees.map_or(vec![], |f| vec![f]),
        );
        if !known(&key) {
            play.heap.check().expect("every invariant holds");
        }
        let mut steps: Vec<_> = book.admitted().map(Step::Insert).collect();
        if self.frees.is_none_or(|most| play.frees < most) {
            steps.extend((0..book.live.len()).map(Step::Remove));
        }
        Outcome::Reached { key, steps }
    }
}
