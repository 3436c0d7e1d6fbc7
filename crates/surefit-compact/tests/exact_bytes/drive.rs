//! Scripts that stay within a demand: nothing may be refused, whatever their order.

use core::fmt;

use surefit_compact::certify::{Budget, Demand};
use surefit_core::{Corruption, Refused};
use surefit_testkit::Random;

use crate::heaps::{Name, Numbers, UnderTest};
use crate::setup::{Cost, Ledger, Setup};

/// Sizes of objects that a script uses, and what each takes from a demand.
#[derive(Clone, Debug)]
pub(crate) struct Size {
    pub(crate) len: usize,
    pub(crate) align: usize,
    pub(crate) cost: Cost,
    /// π of the class of the first of its page-blocks.
    pub(crate) per_page: usize,
}

/// What went wrong.
#[derive(Clone, Debug)]
pub(crate) enum Failure {
    /// There is no heap of the certified bytes.
    NoHeap(Refused),
    /// A call inside the demand was refused.
    Refused(Refused),
    /// More data pages than certified.
    Pages(u64),
    /// More bytes moved by one free, or copied in one section, than certified.
    Copied(u64),
    Corrupt(Corruption),
    /// The heap wrote outside its region.
    Fence,
}

impl Failure {
    /// A short name for counts.
    pub(crate) fn kind(&self) -> &'static str {
        match self {
            Self::NoHeap(_) => "no heap",
            Self::Refused(Refused::NoPage) => "no page",
            Self::Refused(Refused::NoHandle) => "no handle",
            Self::Refused(Refused::Quota) => "quota",
            Self::Refused(_) => "refused",
            Self::Pages(_) => "pages",
            Self::Copied(_) => "copied",
            Self::Corrupt(_) => "corrupt",
            Self::Fence => "fence",
        }
    }
}

impl fmt::Display for Failure {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::NoHeap(refused) => write!(f, "no heap: {refused}"),
            Self::Refused(refused) => refused.fmt(f),
            Self::Pages(pages) => write!(f, "{pages} pages"),
            Self::Copied(bytes) => write!(f, "{bytes} bytes copied at once"),
            Self::Corrupt(corruption) => corruption.fmt(f),
            Self::Fence => f.write_str("written beside the region"),
        }
    }
}

pub(crate) type Outcome = Result<(), Failure>;

/// The order in which a script calls.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Order {
    /// Grows and shrinks at random.
    Random,
    /// All of one size, then all of the next; freed in the order of allocation, or backwards.
    Sorted,
    /// Hoards entries and pages where they are free, then spreads the live objects over as many
    /// pages as the bound allows.
    Adversarial,
    /// Fills the demand, empties it, fills it.
    Minimal,
    /// Each registration frees what the one before it allocated.
    Foreign,
    /// One object, allocated, resized and freed again and again, for the generations of keys.
    Churn,
}

impl Order {
    pub(crate) const ALL: [Self; 6] = [
        Self::Random,
        Self::Sorted,
        Self::Adversarial,
        Self::Minimal,
        Self::Foreign,
        Self::Churn,
    ];
}

/// An object of a script.
type Object = (Name, usize);

/// A script over a heap.
pub(crate) struct Drive<'a> {
    heap: &'a mut dyn UnderTest,
    setup: &'a Setup,
    sizes: &'a [Size],
    ledger: Ledger<'a>,
    random: Random,
    live: Vec<Object>,
    /// The registration that makes the next call: all in turn, unless it is fixed.
    by: usize,
    fixed: bool,
    /// Frees left in a heap of keys.
    frees: u64,
    most: Numbers,
}

impl<'a> Drive<'a> {
    pub(crate) fn new(
        heap: &'a mut dyn UnderTest,
        setup: &'a Setup,
        sizes: &'a [Size],
        limits: &'a Demand<'a>,
        (most, seed): (Numbers, u64),
    ) -> Self {
        let frees = if setup.kind.has_keys() {
            setup.frees
        } else {
            u64::MAX
        };
        Self {
            heap,
            setup,
            sizes,
            ledger: Ledger::new(limits),
            random: Random(seed),
            live: Vec::new(),
            by: 0,
            fixed: false,
            frees,
            most,
        }
    }

    /// Runs a script, and checks the heap after it.
    pub(crate) fn run(&mut self, order: Order) -> Outcome {
        self.script(order)?;
        self.heap.check().map_err(Failure::Corrupt)
    }

    /// Runs a script, perhaps beside those of other threads.
    pub(crate) fn script(&mut self, order: Order) -> Outcome {
        match order {
            Order::Random => self.random_script(),
            Order::Sorted => self.sorted(),
            Order::Adversarial => self.adversarial(),
            Order::Minimal => self.minimal(),
            Order::Foreign => self.foreign(),
            Order::Churn => self.churn(),
        }
    }

    // ---- steps ---------------------------------------------------------------------------------

    fn below(&mut self, bound: usize) -> usize {
        self.random.below(bound.max(1))
    }

    fn turn(&mut self) -> usize {
        self.by += usize::from(!self.fixed);
        self.by
    }

    /// Allocates an object if the demand allows it; returns whether it did.
    fn allocate(&mut self, size: usize) -> Result<bool, Failure> {
        let cost = &self.sizes[size].cost;
        if !self.ledger.allows(cost) {
            return Ok(false);
        }
        self.ledger.add(cost);
        let by = self.turn();
        let Size { len, align, .. } = self.sizes[size];
        let name = self.heap.allocate_aligned(by, len, align);
        self.live.push((name.map_err(Failure::Refused)?, size));
        Ok(true)
    }

    /// Frees a live object by its position, if the heap's life allows it; returns whether it did.
    fn free(&mut self, place: usize) -> bool {
        if self.frees == 0 {
            return false;
        }
        self.frees -= 1;
        let (name, size) = self.live.swap_remove(place);
        let by = self.turn();
        self.heap.free(by, name);
        self.ledger.remove(&self.sizes[size].cost);
        true
    }

    /// Resizes an object, if the demand allows both lengths at once.
    fn resize(&mut self, place: usize) -> Outcome {
        let size = self.below(self.sizes.len());
        let (name, old) = self.live[place];
        let to = &self.sizes[size].cost;
        let possible = !self.setup.kind.has_values() && self.frees > 0;
        if !possible || !self.ledger.allows_resize(to) {
            return Ok(());
        }
        // The generations of a key are those of its object's frees and resizes.
        self.frees -= u64::from(self.setup.kind.has_keys());
        let by = self.turn();
        let Size { len, align, .. } = self.sizes[size];
        let resized = self.heap.resize_aligned(by, name, (len, align));
        resized.map_err(Failure::Refused)?;
        self.ledger.remove(&self.sizes[old].cost);
        self.ledger.add(&self.sizes[size].cost);
        self.live[place].1 = size;
        Ok(())
    }

    fn fill(&mut self, size: usize) -> Outcome {
        while self.allocate(size)? {}
        self.count_pages()
    }

    fn fill_up_to(&mut self, size: usize, most: usize) -> Outcome {
        let before = self.live.len();
        while self.live.len() - before < most && self.allocate(size)? {}
        Ok(())
    }

    fn count_pages(&self) -> Outcome {
        match self.heap.numbers() {
            (pages, _) if pages > self.most.0 => Err(Failure::Pages(pages)),
            (_, copied) if copied > self.most.1 => Err(Failure::Copied(copied)),
            _ => Ok(()),
        }
    }

    /// Frees all, the newest first.
    pub(crate) fn free_all(&mut self) {
        while !self.live.is_empty() && self.free(self.live.len() - 1) {}
    }

    /// Frees all, the oldest first.
    fn free_in_order(&mut self) {
        self.live.reverse();
        self.free_all();
    }

    // ---- scripts -------------------------------------------------------------------------------

    fn random_script(&mut self) -> Outcome {
        let phases = 2 + self.below(5);
        for _ in 0..phases {
            let (steps, grows) = (10 + self.below(60), 20 + self.below(75));
            for _ in 0..steps {
                if self.below(100) < grows || self.live.is_empty() {
                    let size = self.below(self.sizes.len());
                    self.allocate(size)?;
                } else {
                    let place = self.below(self.live.len());
                    match self.below(8) {
                        0 => self.resize(place)?,
                        _ => drop(self.free(place)),
                    }
                }
            }
            match self.below(6) {
                0 => self.heap.compact(3),
                1 => self.thin(7)?,
                2 => self.heap.register_anew(self.by),
                3 => {
                    let size = self.below(self.sizes.len());
                    self.fill(size)?;
                }
                _ => {}
            }
            self.count_pages()?;
        }
        Ok(())
    }

    fn sorted(&mut self) -> Outcome {
        for forwards in [true, false] {
            for size in 0..self.sizes.len() {
                self.fill(size)?;
                if forwards {
                    self.free_in_order();
                } else {
                    self.free_all();
                }
            }
            for size in (0..self.sizes.len()).rev() {
                self.fill(size)?;
            }
            self.live.sort_by_key(|&(_, size)| size);
            self.free_all();
        }
        Ok(())
    }

    fn minimal(&mut self) -> Outcome {
        for _ in 0..2 {
            for size in 0..self.sizes.len() {
                self.fill(size)?;
            }
            self.free_all();
        }
        for size in 0..self.sizes.len() {
            self.fill(size)?;
        }
        Ok(())
    }

    /// Section 2.4 of docs/bounds.md, after hoarding: pages next to the address table, or entries
    /// next to data pages, which serve no entry any more once they were opened.
    fn adversarial(&mut self) -> Outcome {
        self.fixed = true;
        if self.below(2) == 0 {
            self.hoard_entries()?;
            self.hoard_pages()?;
            return self.spread();
        }
        self.hoard_pages()?;
        self.spread()?;
        self.free_all();
        self.hoard_entries()
    }

    /// Hoards as many entries as possible: those that other groups and threads hold ready serve
    /// nobody else, while the smallest objects take all that the budget allows.
    fn hoard_entries(&mut self) -> Outcome {
        let others = self.setup.registrations() as usize - 1;
        for size in (1..self.sizes.len()).rev() {
            // In a group that holds none ready, as many objects as its buffer has room for leave
            // the buffer full.
            let handles = usize::from(self.setup.handle_buffer);
            let count = match self.below(4) {
                0 => 1 + self.below(2 * handles),
                _ => handles,
            };
            self.fill_up_to(size, count)?;
            self.free_all();
        }
        for by in (0..=others).rev() {
            // Under page locks a free leaves its entry to its thread.
            self.by = 0;
            self.fill(0)?;
            self.by = by;
            self.free_all();
        }
        self.by = 0;
        self.fill(0)?;
        self.free_all();
        Ok(())
    }

    /// Hoards pages, which other registrations buffer when they free.
    fn hoard_pages(&mut self) -> Outcome {
        for by in (1..self.setup.registrations() as usize).rev() {
            self.by = by;
            let size = self.below(self.sizes.len());
            self.fill(size)?;
            self.free_all();
        }
        self.by = 0;
        Ok(())
    }

    /// Spreads the live objects over as many pages as the bound allows.
    fn spread(&mut self) -> Outcome {
        self.by = 0;
        for size in 0..self.sizes.len() {
            self.allocate(size)?;
        }
        for size in 0..self.sizes.len() {
            let (first, most) = (self.live.len(), 1 + self.below(8));
            // Some of the budget for each, so that every class has its share of what is not full.
            let pages = if size + 1 == self.sizes.len() {
                usize::MAX
            } else {
                most
            };
            let blocks = self.sizes[size].per_page.saturating_mul(pages);
            self.fill_up_to(size, blocks)?;
            self.count_pages()?;
            self.stretch(first, self.sizes[size].per_page)?;
        }
        for size in 0..self.sizes.len() {
            self.fill(size)?;
        }
        Ok(())
    }

    /// Leaves one object of every page's worth of the newest ones; some of these are pinned while
    /// the others are freed.
    fn stretch(&mut self, first: usize, per_page: usize) -> Outcome {
        let mut objects = self.live.split_off(first);
        let alone: Vec<Object> = objects.iter().copied().step_by(per_page.max(2)).collect();
        objects.retain(|object| !alone.contains(object));
        self.free_while_pinned(&alone, &objects)?;
        self.live.extend(alone);
        Ok(())
    }

    /// Frees all but every `keep`th object, some of these pinned.
    fn thin(&mut self, keep: usize) -> Outcome {
        let all = core::mem::take(&mut self.live);
        let (kept, freed): (Vec<_>, Vec<_>) = all
            .into_iter()
            .enumerate()
            .partition(|(n, _)| n % keep == 0);
        let strip = |objects: Vec<(usize, Object)>| -> Vec<Object> {
            objects.into_iter().map(|(_, object)| object).collect()
        };
        let (kept, freed) = (strip(kept), strip(freed));
        self.free_while_pinned(&kept, &freed)?;
        self.live.extend(kept);
        Ok(())
    }

    /// As many of some objects as guards can pin, of those that they may.
    fn pinnable(&self, objects: &[Object]) -> Vec<Name> {
        let longest = self.setup.pinned.map_or(usize::MAX, |(len, _)| len);
        let short = objects
            .iter()
            .filter(|&&(_, size)| self.sizes[size].len <= longest);
        let names = short.map(|&(name, _)| name);
        names.take(self.setup.guards as usize).collect()
    }

    /// Frees objects while some of others are pinned; in a heap of keys, also some that are
    /// themselves pinned. Objects that the heap's life does not allow to free stay live.
    fn free_while_pinned(&mut self, kept: &[Object], freed: &[Object]) -> Outcome {
        let most = usize::try_from(self.frees).unwrap_or(usize::MAX);
        let (freed, stay) = freed.split_at(freed.len().min(most));
        self.live.extend(stay);
        self.frees -= freed.len() as u64;
        let mut guarded = self.pinnable(kept);
        if self.setup.kind.has_values() && self.below(2) == 0 {
            // An object that is freed while it is pinned counts as live until it is no longer
            // pinned.
            guarded = self.pinnable(freed);
        }
        let (mut by, fixed) = (self.by, self.fixed);
        self.heap.pinned(&guarded, &mut |heap| {
            for &(name, _) in freed {
                by += usize::from(!fixed);
                heap.free(by, name);
            }
        });
        self.by = by;
        for &(_, size) in freed {
            self.ledger.remove(&self.sizes[size].cost);
        }
        self.count_pages()
    }

    fn foreign(&mut self) -> Outcome {
        self.fixed = true;
        for round in 0..2 * self.setup.registrations() as usize {
            for size in 0..self.sizes.len() {
                self.by = round;
                self.fill(size)?;
            }
            self.by = round + 1;
            if round % 2 == 0 {
                self.free_in_order();
            } else {
                self.thin(3)?;
            }
        }
        for size in 0..self.sizes.len() {
            self.fill(size)?;
        }
        Ok(())
    }

    fn churn(&mut self) -> Outcome {
        for round in 0..600 {
            let size = round % self.sizes.len();
            if !self.allocate(size)? {
                continue;
            }
            for _ in 0..3 {
                self.resize(self.live.len() - 1)?;
            }
            if !self.free(self.live.len() - 1) {
                break;
            }
        }
        for size in 0..self.sizes.len() {
            self.fill(size)?;
        }
        Ok(())
    }
}

/// A budget for the page-blocks of some sizes.
pub(crate) fn budget(sizes: &[Size], objects: u64, block_bytes: u64) -> Budget {
    let classes = sizes.iter().flat_map(|size| &size.cost.classes);
    let set = surefit_compact::certify::ClassSet::EMPTY;
    Budget {
        objects,
        block_bytes,
        classes: classes.fold(set, |set, &(class, _)| set.with(class)),
    }
}
