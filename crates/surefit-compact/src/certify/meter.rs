//! The demand of a sequence of calls: what a trace asks for, without replaying it.
//!
//! ```text
//! allocate(len)      + runs(len)
//! free(len)          − runs(len)
//! resize(old, new)   + the new blocks, record the maxima, − the old blocks: both are live during
//!                    the copy
//!                    one block to one block of its class: nothing; in pieces: kept pieces stay
//! ```
//! Every maximum is computed separately: page-blocks, their bytes, each class. Only
//! [`DemandMeter::settled_bytes`] knows what was live together.
//!
//! A call counts everything or nothing: its page-blocks are added up before the first is counted.
//! At most as many are live at once as a word can number (2³² − 1), of at most 64 KiB each, so no
//! sum of them overflows.
#![deny(
    unsafe_code,
    clippy::arithmetic_side_effects,
    clippy::cast_possible_truncation
)]

use surefit_classes::SizeClass;
use surefit_classes::geometry::MAX_CLASSES;

use super::demand::{BlockCount, Budget, ClassSet, Demand};
use super::limits::numbers;
use super::uncertifiable::Uncertifiable;
use super::work::CallWork;
use crate::config::Config;
use crate::layout::page_record_bytes;
use crate::pieces::{Division, Pieces, Run};
use crate::width::Width;

/// Counts the page-blocks that a sequence of calls keeps live, and stores the maxima.
///
/// # Examples
/// ```
/// use surefit_compact::certify::{DemandMeter, certify};
/// use surefit_compact::{Config, Wide};
/// let config = Config::DEFAULT;
/// let mut meter = DemandMeter::new::<Wide>(&config);
/// meter.allocate(100, 8).expect("fits a page");
/// meter.resize((100, 8), (50_000, 8)).expect("in pieces");
/// meter.free(50_000, 8).expect("as resized");
/// let certificate = certify::<Wide>(&config, &meter.joint()).expect("a heap can serve it");
/// assert!(certificate.heap_bytes > 50_000);
/// ```
#[derive(Clone, Debug)]
pub struct DemandMeter<'c> {
    config: &'c Config,
    word_bytes: usize,
    /// The most page-blocks that can be live at once.
    numbers: u64,
    live: [u32; MAX_CLASSES],
    most: [u32; MAX_CLASSES],
    blocks: u64,
    bytes: u64,
    most_blocks: u64,
    most_bytes: u64,
    classes: ClassSet,
    call: CallWork,
    /// Bytes of a page with its record, and of an entry.
    prices: (u64, u64),
    /// Σ ⌈h/π⌉ over the classes, now.
    pages: u64,
    most_settled: u64,
}

/// A byte object: its length and alignment, in bytes.
type Object = (usize, usize);

impl<'c> DemandMeter<'c> {
    /// An empty meter, for heaps of this configuration and width.
    #[must_use]
    pub fn new<W: Width>(config: &'c Config) -> Self {
        Self {
            config,
            word_bytes: W::SPINE_WORD_BYTES,
            numbers: numbers::<W>(),
            live: [0; MAX_CLASSES],
            most: [0; MAX_CLASSES],
            blocks: 0,
            bytes: 0,
            most_blocks: 0,
            most_bytes: 0,
            classes: ClassSet::EMPTY,
            call: CallWork::default(),
            prices: (
                (config.geometry().page_bytes() as u64)
                    .saturating_add(page_record_bytes::<W>() as u64),
                W::ENTRY_BYTES as u64,
            ),
            pages: 0,
            most_settled: 0,
        }
    }

    /// Counts the allocation of a byte object.
    ///
    /// # Errors
    /// [`Uncertifiable::TooLarge`] if the object needs a page-block larger than a page;
    /// [`Uncertifiable::TooManyEntries`] if more page-blocks would be live than a word of this
    /// width can number. Then nothing is counted.
    pub fn allocate(&mut self, len: usize, align: usize) -> Result<(), Uncertifiable> {
        let work = self.vet((len, align))?;
        self.replace(Change {
            lost: None.into_iter(),
            gained: self.runs((len, align)),
        })?;
        self.note_call(work);
        Ok(())
    }

    /// Counts the free of a byte object that was counted with this length and alignment.
    ///
    /// # Errors
    /// As [`DemandMeter::allocate`]. [`Uncertifiable::NotCounted`] if its classes have fewer live
    /// page-blocks than the object.
    pub fn free(&mut self, len: usize, align: usize) -> Result<(), Uncertifiable> {
        self.vet_live((len, align))?;
        self.replace(Change {
            lost: self.runs((len, align)),
            gained: None.into_iter(),
        })
    }

    /// Counts a resize from one (length, alignment) to another, as
    /// [`Heap::resize`](crate::Heap::resize) does it.
    ///
    /// # Errors
    /// As [`DemandMeter::allocate`], with old and new page-blocks live at once, and as
    /// [`DemandMeter::free`].
    pub fn resize(&mut self, old: Object, new: Object) -> Result<(), Uncertifiable> {
        self.vet_live(old)?;
        let work = self.vet(new)?;
        let levels = self.levels(old, new);
        let (lost, gained) = (
            levels.map(|level| level.lost),
            levels.map(|level| level.gained),
        );
        self.replace(Change {
            lost: lost.into_iter().flatten().flatten(),
            gained: gained.into_iter().flatten().flatten(),
        })?;
        self.note_call(work);
        Ok(())
    }

    /// As [`DemandMeter::resize`], but as [`Local::resize`](crate::shared::Local::resize) does it:
    /// unless the object stays in place, the whole new object is live beside the whole old one.
    ///
    /// # Errors
    /// As [`DemandMeter::resize`].
    pub fn resize_by_copy(&mut self, old: Object, new: Object) -> Result<(), Uncertifiable> {
        self.vet_live(old)?;
        let work = self.vet(new)?;
        let stays = !self.is_in_pieces(old) && !self.is_in_pieces(new);
        if !stays || self.class(old) != self.class(new) {
            self.replace(self.whole(old, new))?;
        }
        self.note_call(work);
        Ok(())
    }

    /// The most page-blocks of each class that were live at once.
    #[must_use]
    pub fn per_class(&self) -> Demand<'_> {
        Demand::PerClass(&self.most[..self.config.geometry().class_count()])
    }

    /// The most page-blocks and the most bytes of page-blocks that were live at once, and the
    /// classes used.
    #[must_use]
    pub fn joint(&self) -> Demand<'static> {
        Demand::Joint(self.budget())
    }

    /// The budget of [`DemandMeter::joint`] and the peaks of [`DemandMeter::per_class`] together.
    #[must_use]
    pub fn both(&self) -> Demand<'_> {
        Demand::Both(
            self.budget(),
            &self.most[..self.config.geometry().class_count()],
        )
    }

    /// As [`DemandMeter::joint`], as a budget.
    #[must_use]
    pub fn budget(&self) -> Budget {
        Budget {
            objects: self.most_blocks,
            block_bytes: self.most_bytes,
            classes: self.classes,
        }
    }

    /// The most bytes that the pages, their records and the entries of a heap without holes take
    /// while it serves these calls in this order; without the states of size-classes. Another order
    /// may need more: it is no certificate.
    #[must_use]
    pub fn settled_bytes(&self) -> u64 {
        self.most_settled
    }

    /// The most that the free of one of the counted objects can cost, its pieces together.
    #[must_use]
    pub fn call(&self) -> CallWork {
        self.call
    }

    /// The page-blocks that are live now, and their bytes.
    #[must_use]
    pub fn live(&self) -> (u64, u64) {
        (self.blocks, self.bytes)
    }

    // ---- objects -------------------------------------------------------------------------------

    /// Records what the free of an object can cost.
    fn note_call(&mut self, work: CallWork) {
        self.call.blocks = self.call.blocks.max(work.blocks);
        self.call.moves = self.call.moves.max(work.moves);
        self.call.moved_bytes = self.call.moved_bytes.max(work.moved_bytes);
    }

    /// What the free of an object can cost, if a heap can hold the object.
    fn vet(&self, (len, align): Object) -> Result<CallWork, Uncertifiable> {
        let limit = self.config.geometry().page_bytes();
        if self
            .runs((len, align))
            .any(|run| self.class_of(run).is_none())
        {
            return Err(Uncertifiable::TooLarge { limit });
        }
        let limit = self.numbers;
        let many = Uncertifiable::TooManyEntries { limit };
        let count = BlockCount::of_words(self.config, self.word_bytes, len, align);
        let count = count.filter(|count| count.blocks <= limit);
        count.ok_or(many)?;
        CallWork::of_free(self.config, self.word_bytes, len, align).ok_or(many)
    }

    /// Checks that as many page-blocks are live as an object that was counted must have.
    fn vet_live(&self, object: Object) -> Result<(), Uncertifiable> {
        self.vet(object)?;
        let mut left = self.live;
        for run in self.runs(object) {
            let live = &mut left[self.class((run.bytes, run.align)).index()];
            let count = u32::try_from(run.count).ok();
            let less = count.and_then(|count| live.checked_sub(count));
            *live = less.ok_or(Uncertifiable::NotCounted)?;
        }
        Ok(())
    }

    fn class_of(&self, run: Run) -> Option<SizeClass> {
        self.config.geometry().class_for(run.bytes, run.align)
    }

    fn runs(&self, (len, align): Object) -> Pieces {
        Pieces::new(len, align, self.division(), self.word_bytes)
    }

    fn division(&self) -> Division {
        self.config.division()
    }

    fn is_in_pieces(&self, (len, _): Object) -> bool {
        self.division().divides(len)
    }

    fn class(&self, (len, align): Object) -> SizeClass {
        let class = self.config.geometry().class_for(len, align);
        class.expect("the object was vetted")
    }

    /// Piece `number` of an object in pieces.
    fn piece(&self, (len, align): Object, number: usize) -> Object {
        (self.division().piece_len(len, number), align)
    }

    /// The page-blocks that a resize in place of a heap of one owner replaces: those of the object,
    /// of its spine, of the spine's spine. Ends at the first level that stays or is replaced whole.
    fn levels(&self, old: Object, new: Object) -> [Level; MAX_LEVELS] {
        let mut next = Some((old, new));
        core::array::from_fn(|_| {
            let level = next.take().map(|(old, new)| self.level(old, new));
            next = level.and_then(|level| level.spines);
            level.unwrap_or_default()
        })
    }

    #[expect(
        clippy::arithmetic_side_effects,
        reason = "both objects have pieces, numbers of usize less than their bytes"
    )]
    fn level(&self, old: Object, new: Object) -> Level {
        let is_divided = (self.is_in_pieces(old), self.is_in_pieces(new));
        if is_divided == (false, false) && self.class(old) == self.class(new) {
            return Level::default();
        }
        let replaced = Level {
            lost: Some(self.runs(old)),
            gained: Some(self.runs(new)),
            spines: None,
        };
        let kept = self.division().kept(old.0, new.0, |number, len| {
            self.class(self.piece(old, number)) == self.class(self.piece((len, new.1), number))
        });
        let Some(kept) = kept else {
            return replaced;
        };
        let (before, after) = (self.division().count(old.0), self.division().count(new.0));
        let spine = |pieces| (pieces * self.word_bytes, self.word_bytes);
        Level {
            lost: self.parts(old, before, kept),
            gained: self.parts(new, after, kept),
            spines: (before != after).then(|| (spine(before), spine(after))),
        }
    }

    /// The pieces from `first` on, without spines.
    #[expect(
        clippy::arithmetic_side_effects,
        reason = "a piece before the last ends within the object"
    )]
    fn parts(&self, object: Object, count: usize, first: usize) -> Option<Pieces> {
        (first < count).then(|| {
            let start = self.division().start(object.0, first);
            self.runs((object.0 - start, object.1)).without_spine()
        })
    }

    /// Replaces all page-blocks of one object by all of another.
    fn whole(&self, old: Object, new: Object) -> Change<Pieces, Pieces> {
        Change {
            lost: self.runs(old),
            gained: self.runs(new),
        }
    }

    // ---- counts --------------------------------------------------------------------------------

    /// Counts what is gained, records the maxima, and then subtracts what is lost: page-blocks of
    /// an object that was live.
    fn replace<L, G>(&mut self, change: Change<L, G>) -> Result<(), Uncertifiable>
    where
        L: Iterator<Item = Run>,
        G: Iterator<Item = Run> + Clone,
    {
        let limit = self.numbers;
        let gained = change.gained.clone().try_fold(self.blocks, |sum, run| {
            sum.checked_add(run.count as u64)
                .filter(|&sum| sum <= limit)
        });
        gained.ok_or(Uncertifiable::TooManyEntries { limit })?;
        change.gained.for_each(|run| self.add(run));
        self.most_blocks = self.most_blocks.max(self.blocks);
        self.most_bytes = self.most_bytes.max(self.bytes);
        let (page, entry) = self.prices;
        let settled = self.pages.saturating_mul(page);
        let settled = settled.saturating_add(self.most_blocks.saturating_mul(entry));
        self.most_settled = self.most_settled.max(settled);
        change.lost.for_each(|run| self.remove(run));
        Ok(())
    }

    #[expect(
        clippy::arithmetic_side_effects,
        reason = "`replace` compared the sum of the page-blocks with what a word numbers; each has 64 KiB at most"
    )]
    fn add(&mut self, run: Run) {
        let (class, count, bytes) = self.sized(run);
        let blocks = self.blocks_of_page(class);
        let live = &mut self.live[class.index()];
        let before = live.div_ceil(blocks);
        *live += count;
        self.pages += u64::from(live.div_ceil(blocks) - before);
        self.most[class.index()] = self.most[class.index()].max(*live);
        self.blocks += u64::from(count);
        self.bytes += bytes;
        self.classes = self.classes.with(class);
    }

    #[expect(
        clippy::arithmetic_side_effects,
        reason = "`vet_live` found so many page-blocks of the class live"
    )]
    fn remove(&mut self, run: Run) {
        let (class, count, bytes) = self.sized(run);
        let blocks = self.blocks_of_page(class);
        let live = &mut self.live[class.index()];
        let before = live.div_ceil(blocks);
        *live -= count;
        self.pages -= u64::from(before - live.div_ceil(blocks));
        self.blocks -= u64::from(count);
        self.bytes -= bytes;
    }

    fn blocks_of_page(&self, class: SizeClass) -> u32 {
        u32::from(self.config.geometry().layout(class).blocks)
    }

    #[expect(
        clippy::arithmetic_side_effects,
        reason = "fewer than 2^32 page-blocks of fewer than 2^32 bytes, in 64 bits"
    )]
    fn sized(&self, run: Run) -> (SizeClass, u32, u64) {
        let class = self.class((run.bytes, run.align));
        let count = u32::try_from(run.count).expect("no more than a word numbers");
        let block_bytes = self.config.geometry().layout(class).block_bytes;
        (class, count, u64::from(count) * u64::from(block_bytes))
    }
}

/// Page-blocks that a call frees, and those that it takes before.
struct Change<L, G> {
    lost: L,
    gained: G,
}

/// The most levels of spines, that of the object included: each is shorter by a factor of at least
/// 16, and an object has less than 2⁶⁴ bytes, a piece 2⁶.
const MAX_LEVELS: usize = 16;

/// The page-blocks that a resize replaces at one level of spines.
#[derive(Clone, Copy, Default)]
struct Level {
    lost: Option<Pieces>,
    gained: Option<Pieces>,
    /// The spines, if they are resized too.
    spines: Option<(Object, Object)>,
}
