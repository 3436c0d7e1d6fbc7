//! The demand of a sequence of calls: what a trace asks for, without replaying it.
//!
//! ```text
//! allocate(len)      + runs(len)
//! free(len)          − runs(len)
//! resize(old, new)   + the new blocks, note the maxima, − the old blocks: both are live while bytes are copied
//!                    one block to one block of its class: nothing; in pieces: kept pieces stay
//! ```
//! Every maximum is taken on its own: page-blocks, their bytes, each class.
#![deny(unsafe_code)]

use super::{Budget, CallWork, ClassSet, Demand, Uncertifiable};
use crate::config::Config;
use crate::geometry::{MAX_CLASSES, SizeClass};
use crate::pieces::{Pieces, Run};
use crate::width::Width;

/// Counts the page-blocks that a sequence of calls keeps live, and remembers the maxima.
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
    live: [u32; MAX_CLASSES],
    most: [u32; MAX_CLASSES],
    blocks: u64,
    bytes: u64,
    most_blocks: u64,
    most_bytes: u64,
    classes: ClassSet,
    call: CallWork,
}

/// A byte object: its length and alignment, in bytes.
type Object = (usize, usize);

impl<'c> DemandMeter<'c> {
    /// A meter of nothing, for heaps of this configuration and width.
    #[must_use]
    pub fn new<W: Width>(config: &'c Config) -> Self {
        Self {
            config,
            word_bytes: W::WORD_BYTES,
            live: [0; MAX_CLASSES],
            most: [0; MAX_CLASSES],
            blocks: 0,
            bytes: 0,
            most_blocks: 0,
            most_bytes: 0,
            classes: ClassSet::EMPTY,
            call: CallWork::default(),
        }
    }

    /// Counts the allocation of a byte object.
    ///
    /// # Errors
    /// [`Uncertifiable::TooLarge`] if it needs a page-block larger than a page; nothing is counted.
    pub fn allocate(&mut self, len: usize, align: usize) -> Result<(), Uncertifiable> {
        self.note_call((len, align))?;
        self.add_all(self.runs((len, align)));
        self.note();
        Ok(())
    }

    /// Counts the free of a byte object that was counted with this length and alignment.
    ///
    /// # Errors
    /// As [`DemandMeter::allocate`].
    pub fn free(&mut self, len: usize, align: usize) -> Result<(), Uncertifiable> {
        self.vet(len, align)?;
        self.remove_all(self.runs((len, align)));
        Ok(())
    }

    /// Counts a resize from one (length, alignment) to another, as [`Heap::resize`](crate::Heap::resize) does it.
    ///
    /// # Errors
    /// As [`DemandMeter::allocate`].
    pub fn resize(&mut self, old: Object, new: Object) -> Result<(), Uncertifiable> {
        self.vet(old.0, old.1)?;
        self.note_call(new)?;
        match (self.pieces(old), self.pieces(new)) {
            (1, 1) if self.class(old) == self.class(new) => {}
            (1, _) | (_, 1) => self.replace(self.runs(old), self.runs(new)),
            (before, after) => self.resize_pieces((old, before), (new, after)),
        }
        Ok(())
    }

    /// As [`DemandMeter::resize`], as [`Local::resize`](crate::shared::Local::resize) does it: unless it stays in place, the
    /// whole new object is live beside the whole old one.
    ///
    /// # Errors
    /// As [`DemandMeter::allocate`].
    pub fn resize_by_copy(&mut self, old: Object, new: Object) -> Result<(), Uncertifiable> {
        self.vet(old.0, old.1)?;
        self.note_call(new)?;
        let stays = self.pieces(old) == 1 && self.pieces(new) == 1;
        if !stays || self.class(old) != self.class(new) {
            self.replace(self.runs(old), self.runs(new));
        }
        Ok(())
    }

    /// The most page-blocks of each class that were live at once.
    #[must_use]
    pub fn per_class(&self) -> Demand<'_> {
        Demand::PerClass(&self.most[..self.config.geometry().class_count()])
    }

    /// The most page-blocks and the most bytes of page-blocks that were live at once, and the classes used.
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

    /// The most that the free of one of the objects seen can cost, its pieces together.
    #[must_use]
    pub fn call(&self) -> CallWork {
        self.call
    }

    /// Page-blocks live now, and their bytes.
    #[must_use]
    pub fn live(&self) -> (u64, u64) {
        (self.blocks, self.bytes)
    }

    // ---- objects -----------------------------------------------------------------------------------------------------

    /// Notes what the free of an object can cost.
    fn note_call(&mut self, (len, align): Object) -> Result<(), Uncertifiable> {
        let work = self.vet(len, align)?;
        self.call.blocks = self.call.blocks.max(work.blocks);
        self.call.moves = self.call.moves.max(work.moves);
        self.call.moved_bytes = self.call.moved_bytes.max(work.moved_bytes);
        Ok(())
    }

    fn vet(&self, len: usize, align: usize) -> Result<CallWork, Uncertifiable> {
        let limit = self.config.geometry().page_bytes();
        CallWork::of_free(self.config, self.word_bytes, len, align)
            .ok_or(Uncertifiable::TooLarge { limit })
    }

    fn runs(&self, (len, align): Object) -> Pieces {
        Pieces::new(len, align, self.config.piece_bytes(), self.word_bytes)
    }

    /// Pieces of an object; 1 if it is contiguous.
    fn pieces(&self, (len, _): Object) -> usize {
        match self.config.piece_bytes() {
            Some(piece) if len > piece => len.div_ceil(piece),
            _ => 1,
        }
    }

    fn class(&self, (len, align): Object) -> SizeClass {
        let class = self.config.geometry().class_for(len, align);
        class.expect("the object was vetted")
    }

    /// Piece `number` of an object in pieces.
    fn piece(&self, (len, align): Object, number: usize) -> Object {
        let piece = self.config.piece_bytes().expect("the object is in pieces");
        (piece.min(len - number * piece), align)
    }

    /// The pieces from `first` on, and the spines if they are asked for.
    fn parts(
        &self,
        object: Object,
        count: usize,
        first: usize,
        spine: bool,
    ) -> [Option<Pieces>; 2] {
        let pieces = (first < count).then(|| {
            let piece = self.config.piece_bytes().expect("the object is in pieces");
            self.runs((object.0 - first * piece, object.1))
                .without_spine()
        });
        let spine = spine.then(|| self.runs((count * self.word_bytes, self.word_bytes)));
        [pieces, spine]
    }

    fn resize_pieces(&mut self, (old, before): (Object, usize), (new, after): (Object, usize)) {
        let whole = self.piece(old, 0);
        if self.class(whole) != self.class((whole.0, new.1)) {
            return self.replace(self.runs(old), self.runs(new));
        }
        let last = before.min(after) - 1;
        let same = self.class(self.piece(old, last)) == self.class(self.piece(new, last));
        let kept = last + usize::from(same);
        let gained = self.parts(new, after, kept, before != after);
        let lost = self.parts(old, before, kept, before != after);
        self.replace(
            lost.into_iter().flatten().flatten(),
            gained.into_iter().flatten().flatten(),
        );
    }

    // ---- counts ------------------------------------------------------------------------------------------------------

    fn replace(&mut self, old: impl Iterator<Item = Run>, new: impl Iterator<Item = Run>) {
        self.add_all(new);
        self.note();
        self.remove_all(old);
    }

    fn add_all(&mut self, runs: impl Iterator<Item = Run>) {
        for run in runs {
            let (class, count, bytes) = self.sized(run);
            self.live[class.index()] += count;
            self.blocks += u64::from(count);
            self.bytes += bytes;
            self.classes = self.classes.with(class);
            let most = &mut self.most[class.index()];
            *most = (*most).max(self.live[class.index()]);
        }
    }

    fn remove_all(&mut self, runs: impl Iterator<Item = Run>) {
        for run in runs {
            let (class, count, bytes) = self.sized(run);
            self.live[class.index()] -= count;
            self.blocks -= u64::from(count);
            self.bytes -= bytes;
        }
    }

    fn sized(&self, run: Run) -> (SizeClass, u32, u64) {
        let class = self.class((run.bytes, run.align));
        let count = u32::try_from(run.count).expect("no heap has more than 2^32 blocks");
        let block_bytes = self.config.geometry().layout(class).block_bytes;
        (class, count, u64::from(count) * u64::from(block_bytes))
    }

    fn note(&mut self) {
        self.most_blocks = self.most_blocks.max(self.blocks);
        self.most_bytes = self.most_bytes.max(self.bytes);
    }
}
