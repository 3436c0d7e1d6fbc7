//! Verifies every numbered invariant of a block table heap.
//!
//! It verifies the table's own invariants first; then the words of every row and the list of free
//! frames; then that these together are the frames of the frame pages, each once. The last test
//! compares fingerprints, sums of a 64-bit mix of the frame numbers. They are equal for equal sets,
//! and for other sets with a probability of 2⁻⁶⁴. The memory that is needed is a byte for each page
//! of the region.

use surefit_compact::{LiveBlock, Width, Word};
use surefit_core::{Corruption, ensure};

use super::frames::NO_FRAME;
use super::heap::BlockTableHeap;
use super::words::tag;

/// How many frames a set has, and their fingerprint.
#[derive(Clone, Copy, Default, PartialEq, Eq)]
struct FrameSet {
    count: u64,
    fingerprint: u64,
}

impl FrameSet {
    fn add(&mut self, frame: u32) {
        self.count += 1;
        self.fingerprint = self.fingerprint.wrapping_add(mix(u64::from(frame)));
    }
}

/// The finaliser of SplitMix64.
const fn mix(number: u64) -> u64 {
    let mixed = number.wrapping_add(0x9E37_79B9_7F4A_7C15);
    let mixed = (mixed ^ mixed >> 30).wrapping_mul(0xBF58_476D_1CE4_E5B9);
    let mixed = (mixed ^ mixed >> 27).wrapping_mul(0x94D0_49BB_1331_11EB);
    mixed ^ mixed >> 31
}

impl<W: Width<Generation = ()>> BlockTableHeap<'_, W> {
    /// Verifies every numbered invariant of the frames (B), and of the table's pages (P), addresses
    /// (A) and classes (H). O(region).
    ///
    /// # Errors
    /// The first invariant that is violated.
    pub fn check(&self) -> Result<(), Corruption> {
        self.table.look(|heap| heap.check())?;
        let mut pages = vec![false; self.bytes >> self.page_shift()];
        let all = self.check_frame_pages(&mut pages)?;
        let mut found = FrameSet::default();
        self.check_fresh(&pages, &mut found)?;
        self.check_free(&pages, &mut found)?;
        let mut rows = 0_u32;
        self.table.look(|heap| {
            let blocks = heap.live_blocks();
            let mut each = blocks.filter(|block| block.class != self.page_class());
            each.try_for_each(|row| {
                rows += 1;
                self.check_row(row, &pages, &mut found)
            })
        })?;
        let objects = self.objects.get();
        ensure(
            objects <= rows && (objects > 0 || rows == 0),
            "B3",
            "there are not as many rows as objects",
            objects as usize,
        )?;
        let lost = found.count.abs_diff(all.count);
        let each_once = found == all;
        ensure(
            each_once,
            "B1",
            "a frame is lost, or has two owners",
            usize::try_from(lost).unwrap_or(usize::MAX),
        )
    }

    /// All frames of the frame pages. Marks these pages by their numbers.
    fn check_frame_pages(&self, marks: &mut [bool]) -> Result<FrameSet, Corruption> {
        let (mut all, mut pages) = (FrameSet::default(), 0_u32);
        self.table.look(|heap| {
            let blocks = heap.live_blocks();
            let mut each = blocks.filter(|block| block.class == self.page_class());
            each.try_for_each(|page| {
                pages += 1;
                let offset = self.frames.offset_of(self.table.place(page.index));
                marks[offset >> self.page_shift()] = true;
                let first = offset >> self.frames.shift;
                (first..first + self.config.frames_per_page())
                    .try_for_each(|frame| self.number(frame).map(|number| all.add(number)))
            })
        })?;
        let counted = pages == self.frames.pages.get();
        ensure(counted, "B2", "frame pages are miscounted", pages as usize)?;
        Ok(all)
    }

    fn page_shift(&self) -> u32 {
        self.config.page_bytes().ilog2()
    }

    fn number(&self, frame: usize) -> Result<u32, Corruption> {
        u32::try_from(frame).map_err(|_| Corruption::new("B1", "a frame has no number", frame))
    }

    fn check_fresh(&self, pages: &[bool], found: &mut FrameSet) -> Result<(), Corruption> {
        let (fresh, end) = (self.frames.fresh.get(), self.frames.fresh_end.get());
        let per_page = self.config.frames_per_page();
        let in_page = fresh <= end && (end - fresh) as usize <= per_page;
        ensure(
            in_page,
            "B1",
            "fresh frames are not those of one page",
            fresh as usize,
        )?;
        let of_page = end as usize % per_page == 0;
        ensure(
            of_page,
            "B1",
            "fresh frames do not end with a page",
            end as usize,
        )?;
        for frame in fresh..end {
            self.check_frame(pages, frame)?;
            found.add(frame);
        }
        Ok(())
    }

    fn check_free(&self, pages: &[bool], found: &mut FrameSet) -> Result<(), Corruption> {
        let count = self.frames.free_count.get();
        let (mut linked, mut frame) = (0, self.frames.free.get());
        while frame != NO_FRAME {
            self.check_frame(pages, frame)?;
            linked += 1;
            ensure(
                linked <= count,
                "B2",
                "the list of free frames is longer than its count",
                frame as usize,
            )?;
            found.add(frame);
            frame = self.frames.link(frame);
        }
        let counted = linked == count;
        ensure(
            counted,
            "B2",
            "the list of free frames is shorter than its count",
            linked as usize,
        )
    }

    /// Verifies a row, a piece of one, or a spine, which begins with an entry.
    fn check_row(
        &self,
        row: LiveBlock,
        pages: &[bool],
        found: &mut FrameSet,
    ) -> Result<(), Corruption> {
        // SAFETY: all words of a live page-block were written.
        let word = |at| unsafe { self.table.word(row.index, at) };
        if word(0) < tag::<W>() {
            return Ok(());
        }
        let mut ended = false;
        for word in (0..row.block_bytes as usize / W::WORD_BYTES).map(word) {
            if word == W::Word::NIL.get() {
                ended = true;
                continue;
            }
            let is_frame = !ended && word >= tag::<W>();
            ensure(
                is_frame,
                "B3",
                "an entry of a row names no frame",
                row.index as usize,
            )?;
            let frame = word & !tag::<W>();
            self.check_frame(pages, frame)?;
            found.add(frame);
        }
        Ok(())
    }

    /// Verifies that a number that is read as a frame lies in a frame page.
    fn check_frame(&self, pages: &[bool], frame: u32) -> Result<(), Corruption> {
        let page = frame as usize >> (self.page_shift() - self.frames.shift);
        let of_frames = pages.get(page).copied().unwrap_or(false);
        ensure(
            of_frames,
            "B1",
            "a frame lies outside the frame pages",
            frame as usize,
        )
    }
}
