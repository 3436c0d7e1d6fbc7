//! Heaps that threads share: one after another, several registrations make calls, with guards held
//! at any point.

use std::cell::RefCell;

use surefit_compact::Bytes;
use surefit_compact::certify::Demand;
use surefit_compact::shared::{
    Granularity, Local, Pinned, ShardedHeap, ShardedPinned, SharedConfig, SharedHeap, Stepwise,
};
use surefit_core::Refused;
use surefit_testkit::layout;

use crate::PAGE;
use crate::book::{Book, Cost};
use crate::keys::KEYED;
use crate::region::Region;
use crate::search::{Key as StateKey, Outcome, Space};
use crate::shape::{self, Grain};

pub(crate) use crate::paused::Lock;

/// A call that meets another one.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Call {
    /// Allocates an object of a request.
    Insert(usize),
    /// Frees a live object.
    Free(usize),
}

/// One call, by the registration of a number.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Step {
    /// Allocates an object of a request.
    Insert(usize, usize),
    /// Frees a live object; the last one takes its number.
    Free(usize, usize),
    /// Takes a guard of a live object.
    Pin(usize),
    /// Drops it.
    Unpin(usize),
    /// Moves at most one object.
    Compact,
    /// Gives a registration back.
    Leave(usize),
    /// Registers again.
    Join(usize),
    /// Gives an instance a quota of one page, or none.
    Quota(u32, bool),
    /// A call of the first registration pauses after so many of its sections, while the second one
    /// makes a call.
    During(Call, usize, Call),
}

/// A shared heap, as scripts use it.
pub(crate) trait Shared: Sized {
    type Local<'h>: std::fmt::Debug + Send
    where
        Self: 'h;
    type Object: Send;
    type Guard<'h>
    where
        Self: 'h;
    fn register(&self) -> Result<Self::Local<'_>, Refused>;
    fn insert(local: &Self::Local<'_>, kind: usize) -> Result<Self::Object, Refused>;
    fn free(local: &Self::Local<'_>, object: &mut Option<Self::Object>) -> Result<(), Refused>;
    /// # Safety
    /// S1: the guard is dropped before the object is freed.
    unsafe fn pin(&self, object: &Self::Object) -> Result<Self::Guard<'_>, Refused>;
    fn compact(&self, budget: u64) -> u64;
    /// Gives an instance a quota of one page, or none; nothing where there are no instances.
    fn set_quota(&self, _: u32, _: bool) {}
    /// # Safety
    /// S1: nobody else works on the heap meanwhile.
    unsafe fn shape(&self, words: &mut [u32]) -> usize;
    fn check(&self);
}

impl<'m, G: Granularity> Shared for SharedHeap<'m, Lock, G> {
    type Local<'h>
        = Local<'h, 'm, Lock, G>
    where
        Self: 'h;
    type Object = Box<Bytes<u8>>;
    type Guard<'h>
        = Pinned<'h, [u8]>
    where
        Self: 'h;
    fn register(&self) -> Result<Self::Local<'_>, Refused> {
        self.register()
    }
    fn insert(local: &Self::Local<'_>, kind: usize) -> Result<Self::Object, Refused> {
        local.alloc_zeroed(layout(KEYED[kind])).map(Box::new)
    }
    fn free(local: &Self::Local<'_>, object: &mut Option<Self::Object>) -> Result<(), Refused> {
        local.free_bytes(*object.take().expect("live"))
    }
    unsafe fn pin(&self, object: &Self::Object) -> Result<Self::Guard<'_>, Refused> {
        // SAFETY: S1: the handle, whose place is its own, outlives the guard.
        self.pin_bytes(unsafe { &*std::ptr::from_ref::<Bytes<u8>>(object) })
    }
    fn compact(&self, budget: u64) -> u64 {
        self.compact(budget)
    }
    unsafe fn shape(&self, words: &mut [u32]) -> usize {
        // SAFETY: S1.
        unsafe { self.shape(words) }
    }
    fn check(&self) {
        self.check(true).expect("every invariant holds");
    }
}

impl<'m, G: Stepwise> Shared for ShardedHeap<'m, Lock, G> {
    type Local<'h>
        = Local<'h, 'm, Lock, G>
    where
        Self: 'h;
    type Object = Box<Bytes<u8>>;
    type Guard<'h>
        = ShardedPinned<'h, [u8], Lock, G>
    where
        Self: 'h;
    fn register(&self) -> Result<Self::Local<'_>, Refused> {
        self.register()
    }
    fn insert(local: &Self::Local<'_>, kind: usize) -> Result<Self::Object, Refused> {
        local.alloc_zeroed(layout(KEYED[kind])).map(Box::new)
    }
    fn free(local: &Self::Local<'_>, object: &mut Option<Self::Object>) -> Result<(), Refused> {
        local.free_bytes(*object.take().expect("live"))
    }
    unsafe fn pin(&self, object: &Self::Object) -> Result<Self::Guard<'_>, Refused> {
        // SAFETY: S1: the handle, whose place is its own, outlives the guard.
        self.pin_bytes(unsafe { &*std::ptr::from_ref::<Bytes<u8>>(object) })
    }
    fn compact(&self, budget: u64) -> u64 {
        self.compact(budget)
    }
    fn set_quota(&self, instance: u32, is_set: bool) {
        self.set_quota(instance, if is_set { PAGE } else { usize::MAX });
    }
    unsafe fn shape(&self, words: &mut [u32]) -> usize {
        // SAFETY: S1.
        unsafe { self.shape(words) }
    }
    fn check(&self) {
        self.check(true).expect("every invariant holds");
    }
}

/// Makes a heap of a kind over a region, and hands it on.
pub(crate) trait Maker {
    type G: Granularity;
    type Heap<'m>: Shared;
    /// # Errors
    /// Why the region does not do.
    fn make<'m>(
        region: &'m mut [std::mem::MaybeUninit<u8>],
        config: &'m SharedConfig<Self::G>,
        instances: u16,
        slack: Option<usize>,
    ) -> Result<Self::Heap<'m>, Refused>;
}

/// Handles under locks of a granularity.
pub(crate) struct Handles<G>(std::marker::PhantomData<G>);
/// Handles in several instances.
pub(crate) struct Instances<G>(std::marker::PhantomData<G>);

impl<G: Granularity> Maker for Handles<G> {
    type G = G;
    type Heap<'m> = SharedHeap<'m, Lock, G>;
    fn make<'m>(
        region: &'m mut [std::mem::MaybeUninit<u8>],
        config: &'m SharedConfig<G>,
        _: u16,
        slack: Option<usize>,
    ) -> Result<Self::Heap<'m>, Refused> {
        match slack {
            None => SharedHeap::new(region, config),
            Some(slack) => SharedHeap::with_slack(region, config, slack),
        }
    }
}

impl<G: Stepwise> Maker for Instances<G> {
    type G = G;
    type Heap<'m> = ShardedHeap<'m, Lock, G>;
    fn make<'m>(
        region: &'m mut [std::mem::MaybeUninit<u8>],
        config: &'m SharedConfig<G>,
        instances: u16,
        _: Option<usize>,
    ) -> Result<Self::Heap<'m>, Refused> {
        ShardedHeap::new(region, config, instances)
    }
}

/// All scripts of some registrations inside a demand.
pub(crate) struct Registrations<'d, M: Maker> {
    pub(crate) config: &'d SharedConfig<M::G>,
    pub(crate) demand: &'d Demand<'d>,
    pub(crate) costs: Vec<Cost>,
    pub(crate) region: RefCell<Region>,
    pub(crate) instances: u16,
    /// What a heap of one instance lends, if anything.
    pub(crate) slack: Option<usize>,
    /// Registered at once.
    pub(crate) threads: usize,
    /// Guards held at once.
    pub(crate) guards: usize,
    /// Whether registrations come and go.
    pub(crate) leaves: bool,
    /// Whether instances get quotas, which may refuse.
    pub(crate) quotas: bool,
    /// Whether calls are made while another one pauses.
    pub(crate) pauses: bool,
    pub(crate) grain: Grain,
}

impl<'d, M: Maker> Registrations<'d, M> {
    pub(crate) fn new(
        config: &'d SharedConfig<M::G>,
        demand: &'d Demand<'d>,
        region: Region,
    ) -> Self {
        let cost = |len: usize| Cost::of(config.config(), len, 4);
        Self {
            config,
            demand,
            costs: KEYED.into_iter().map(cost).collect(),
            region: RefCell::new(region),
            instances: 1,
            slack: None,
            threads: 1,
            guards: 0,
            leaves: false,
            quotas: false,
            pauses: false,
            grain: Grain::Coarse,
        }
    }
}

/// A heap and what a script holds of it. Guards go before what they guard.
struct Play<'h, H: Shared + 'h> {
    heap: &'h H,
    guards: Vec<Option<H::Guard<'h>>>,
    live: Vec<Option<H::Object>>,
    locals: Vec<Option<H::Local<'h>>>,
}

impl<H: Shared> Play<'_, H> {
    fn call(&mut self, book: &mut Book<'_>, step: Step) -> Result<(), Refused> {
        let local = |by: usize| self.locals[by].as_ref().expect("registered");
        match step {
            Step::Insert(kind, by) => match H::insert(local(by), kind) {
                Ok(object) => {
                    self.live.push(Some(object));
                    self.guards.push(None);
                    book.insert(kind);
                }
                // Not the certificate's refusal; the instance was compacted.
                Err(Refused::Quota) => {}
                Err(refused) => return Err(refused),
            },
            Step::Free(number, by) => {
                H::free(local(by), &mut self.live[number])?;
                book.live[number].is_freed = true;
                self.forget(book, number);
            }
            Step::Pin(number) => {
                let object = self.live[number].as_ref().expect("live");
                // SAFETY: S1: scripts free what has no guard (`steps`).
                self.guards[number] = Some(unsafe { self.heap.pin(object) }?);
                book.live[number].guards = 1;
            }
            Step::Unpin(number) => {
                self.guards[number] = None;
                book.live[number].guards = 0;
                self.forget(book, number);
            }
            Step::Compact => {
                self.heap.compact(1);
            }
            Step::Leave(by) => self.locals[by] = None,
            Step::Join(by) => self.locals[by] = Some(self.heap.register()?),
            Step::Quota(instance, is_set) => self.heap.set_quota(instance, is_set),
            Step::During(outer, sections, inner) => self.meet(book, outer, sections, inner)?,
        }
        Ok(())
    }

    /// One call while another one pauses. What they free is live until both have returned, and then
    /// leaves the lists.
    fn meet(
        &mut self,
        book: &mut Book<'_>,
        outer: Call,
        sections: usize,
        inner: Call,
    ) -> Result<(), Refused> {
        let mut take = |call: Call| match call {
            Call::Insert(_) => None,
            Call::Free(number) => self.live[number].take(),
        };
        let (first, second) = (take(outer), take(inner));
        let (left, right) = self.locals.split_at_mut(1);
        let (one, other) = (&mut left[0], &mut right[0]);
        let make = |local: &mut Option<H::Local<'_>>, call, mut object| {
            let local = local.as_ref().expect("registered");
            match call {
                Call::Insert(kind) => H::insert(local, kind).map(Some),
                Call::Free(_) => H::free(local, &mut object).map(|()| None),
            }
        };
        let mut inserted = Ok(None);
        let outer_made = crate::paused::during(
            sections,
            || make(one, outer, first),
            || inserted = make(other, inner, second),
        );
        for (call, made) in [(outer, outer_made), (inner, inserted)] {
            if let (Call::Insert(kind), Some(object)) = (call, made?) {
                self.live.push(Some(object));
                self.guards.push(None);
                book.insert(kind);
            }
        }
        for number in (0..self.live.len()).rev() {
            if self.live[number].is_none() && self.guards[number].is_none() {
                book.live[number].is_freed = true;
                self.forget(book, number);
            }
        }
        Ok(())
    }

    /// An object is live until it is freed and unpinned.
    fn forget(&mut self, book: &mut Book<'_>, number: usize) {
        if book.live[number].is_freed && book.live[number].guards == 0 {
            book.live.swap_remove(number);
            self.live.swap_remove(number);
            self.guards.swap_remove(number);
        }
    }
}

impl<M: Maker> Space for Registrations<'_, M> {
    type Step = Step;

    fn replay(&self, script: &[Step], known: &dyn Fn(&StateKey) -> bool) -> Outcome<Step> {
        let mut region = self.region.borrow_mut();
        let heap = match M::make(region.fresh(), self.config, self.instances, self.slack) {
            Ok(heap) => heap,
            Err(refused) => return Outcome::Refused(format!("the region: {refused}")),
        };
        let locals = (0..self.threads).map(|_| heap.register().ok()).collect();
        let mut play = Play {
            heap: &heap,
            guards: Vec::new(),
            live: Vec::new(),
            locals,
        };
        let mut book = Book::new(self.demand, &self.costs);
        let steps = script
            .iter()
            .try_for_each(|&step| play.call(&mut book, step));
        if let Err(refused) = steps {
            return Outcome::Refused(refused.to_string());
        }
        // SAFETY: S1: the heap is this function's, and every call of the script has returned.
        let words = shape::words_of(|words| unsafe { heap.shape(words) });
        let grain = (self.grain, false);
        let key = shape::key(&words, grain, &|_| 0, &self.more(&play));
        if !known(&key) {
            heap.check();
        }
        Outcome::Reached {
            key,
            steps: self.steps(&book, &play),
        }
    }
}

impl<M: Maker> Registrations<'_, M> {
    /// Which registration has which buffer and instance.
    fn more<H: Shared>(&self, play: &Play<'_, H>) -> Vec<u32> {
        let mut more = Vec::new();
        for local in &play.locals {
            let name = format!("{local:?}");
            let number = |digits: &str| digits.parse::<u32>().ok();
            more.extend(name.split(|c: char| !c.is_ascii_digit()).filter_map(number));
            more.push(u32::MAX);
        }
        more
    }

    fn steps<H: Shared>(&self, book: &Book<'_>, play: &Play<'_, H>) -> Vec<Step> {
        let mut steps = vec![Step::Compact];
        let held = book.live.iter().filter(|object| object.guards > 0).count();
        for by in (0..self.threads).filter(|&by| play.locals[by].is_some()) {
            steps.extend(book.admitted().map(|kind| Step::Insert(kind, by)));
            for (number, object) in book.live.iter().enumerate() {
                let is_free = object.guards == 0;
                if is_free {
                    steps.push(Step::Free(number, by));
                }
            }
            if self.leaves {
                steps.push(Step::Leave(by));
            }
        }
        for (number, object) in book.live.iter().enumerate() {
            if object.guards > 0 {
                steps.push(Step::Unpin(number));
            } else if held < self.guards {
                steps.push(Step::Pin(number));
            }
        }
        if self.pauses {
            steps.extend(meetings(book));
        }
        let left = (0..self.threads).filter(|&by| play.locals[by].is_none());
        steps.extend(left.map(Step::Join));
        if self.quotas {
            let instances = 0..u32::from(self.instances);
            steps.extend(instances.flat_map(|at| [true, false].map(|set| Step::Quota(at, set))));
        }
        steps
    }
}

/// Two calls at once, of objects without guards, the first paused after one or two sections.
fn meetings(book: &Book<'_>) -> Vec<Step> {
    let frees = || {
        let unpinned = |&number: &usize| book.live[number].guards == 0;
        (0..book.live.len()).filter(unpinned).map(Call::Free)
    };
    let mut steps = Vec::new();
    for outer in frees().chain(book.admitted().map(Call::Insert)) {
        let mut with = book.clone();
        if let Call::Insert(kind) = outer {
            with.insert(kind);
        }
        let inserts = with.admitted().map(Call::Insert);
        for inner in frees()
            .chain(inserts)
            .filter(|&inner| inner != outer || matches!(inner, Call::Insert(_)))
        {
            steps.extend([1, 2].map(|sections| Step::During(outer, sections, inner)));
        }
    }
    steps
}
