//! Statistics of a block table heap: counters, where every byte is, and what can still be
//! allocated.
#![deny(
    unsafe_code,
    clippy::arithmetic_side_effects,
    clippy::cast_possible_truncation
)]

use surefit_compact::Width;
use surefit_core::Usage;

use super::heap::BlockTableHeap;

/// Counters of a block table heap.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct BlockTableStats {
    /// Objects allocated and not freed.
    pub live_objects: u32,
    /// Frames of live objects: exactly ⌈bytes / f⌉ each.
    pub live_frames: u32,
    /// Frames of frame pages that no object has.
    pub free_frames: u32,
    /// Pages that became frames.
    pub frame_pages: u32,
    /// Abstract pages in use, those of the table's size-classes. The compaction bound limits them.
    pub table_pages: u32,
    /// Page-blocks of the table in use: rows, pieces of long rows, and their spines.
    pub live_rows: u32,
    /// Abstract pages that are not full.
    pub not_full_pages: u32,
    /// Free page-blocks of not-full abstract pages that the hole bound counts.
    pub holes: u32,
    /// Pages that the table gave back, and that are not reused yet.
    pub freed_pages: u32,
    /// Pages never opened.
    pub fresh_pages: u32,
    /// Rows moved since the heap was made.
    pub moves_total: u64,
    /// Entries of the block table that these moves copied, including unused ones of their
    /// page-blocks.
    pub moved_entries_total: u64,
    /// Bytes that these moves copied: table words only.
    pub moved_bytes_total: u64,
    /// The most bytes that the free of one page-block of the table copied.
    pub moved_bytes_max_per_op: u64,
}

/// The size-class of the table that serves rows of some length.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct RowClassStats {
    /// Words of a page-block: entries, and words that stay unused.
    pub entries: u32,
    /// π: page-blocks per abstract page.
    pub blocks: u32,
    /// h: live page-blocks.
    pub live: u32,
    /// Abstract pages of the class.
    pub pages: u32,
}

impl<W: Width<Generation = ()>> BlockTableHeap<'_, W> {
    /// What the table's size-class for the rows of objects of `len` bytes holds; `None` if such
    /// rows are in pieces. O(1).
    #[expect(
        clippy::arithmetic_side_effects,
        reason = "words have two bytes or four"
    )]
    #[must_use]
    pub fn row_class_stats(&self, len: usize) -> Option<RowClassStats> {
        let bytes = self.config.frames_of(len).checked_mul(W::WORD_BYTES)?;
        if bytes > self.config.piece_bytes() {
            return None;
        }
        let geometry = self.config.table.geometry();
        let class = geometry.class_for(bytes, W::WORD_BYTES)?;
        let layout = geometry.layout(class);
        let (live, pages) = self.table.look(|heap| heap.details().class_usage(class));
        let words = layout.block_bytes as usize / W::WORD_BYTES;
        Some(RowClassStats {
            entries: u32::try_from(words).ok()?,
            blocks: u32::from(layout.blocks),
            live,
            pages,
        })
    }

    /// Counters. O(classes).
    #[expect(
        clippy::arithmetic_side_effects,
        reason = "frame pages are among the pages and page-blocks of the table"
    )]
    #[must_use]
    pub fn stats(&self) -> BlockTableStats {
        let table = self.table.look(|heap| heap.stats());
        let frame_pages = self.frames.pages.get();
        BlockTableStats {
            live_objects: self.objects.get(),
            live_frames: self.live_frames(),
            free_frames: self.frames.available(),
            frame_pages,
            table_pages: table.pages - frame_pages,
            live_rows: table.live_blocks - frame_pages,
            not_full_pages: table.not_full_pages,
            holes: table.holes,
            freed_pages: table.freed_pages,
            fresh_pages: table.fresh_pages,
            moves_total: table.moves_total,
            moved_entries_total: table.moved_bytes_total / W::WORD_BYTES as u64,
            moved_bytes_total: table.moved_bytes_total,
            moved_bytes_max_per_op: table.moved_bytes_max_per_op,
        }
    }

    #[expect(
        clippy::arithmetic_side_effects,
        reason = "no more are free than there are"
    )]
    fn live_frames(&self) -> u32 {
        self.all_frames() - self.frames.available()
    }

    /// Frames of all frame pages.
    #[expect(
        clippy::arithmetic_side_effects,
        reason = "counts and bytes of the parts of one region"
    )]
    pub(super) fn all_frames(&self) -> u32 {
        let per_page = self.config.frames_per_page();
        u32::try_from(self.frames.pages.get() as usize * per_page)
            .expect("BlockTableHeap::new bounds the frames")
    }

    /// As [`Heap::shape`](surefit_compact::Heap::shape), plus free frames, fresh frames and frame
    /// pages.
    #[expect(
        clippy::arithmetic_side_effects,
        reason = "words of a slice, and four more"
    )]
    #[doc(hidden)]
    pub fn shape(&self, words: &mut [u32]) -> usize {
        let count = self.table.look(|heap| heap.shape(words));
        let frames = &self.frames;
        // A record of three numbers.
        let numbers = [
            3,
            frames.free_count.get(),
            frames.fresh_count(),
            frames.pages.get(),
        ];
        let rest = words.get_mut(count..).unwrap_or_default();
        for (word, number) in rest.iter_mut().zip(numbers) {
            *word = number;
        }
        count + numbers.len()
    }

    /// Where every byte of the region is: the parts add up to its size. O(classes).
    ///
    /// `block_bytes` are the frames of live objects, `free_chunk_bytes` the free frames of frame
    /// pages. Rows are administrative space, like everything else of the table; free rows are
    /// `size_class_bytes`, and what the table's pages lose is `page_internal_bytes`.
    #[expect(
        clippy::arithmetic_side_effects,
        reason = "counts and bytes of the parts of one region"
    )]
    #[must_use]
    pub fn usage(&self) -> Usage {
        let table = self.table.look(|heap| heap.usage());
        let frame = self.config.frame_bytes();
        let frame_page_bytes = self.frames.pages.get() as usize * self.config.page_bytes();
        let rows = table.block_bytes - frame_page_bytes;
        Usage {
            block_bytes: self.live_frames() as usize * frame,
            free_chunk_bytes: self.frames.available() as usize * frame,
            administrative_bytes: table.administrative_bytes + rows,
            ..table
        }
    }

    /// Whether a byte object of this length can be allocated now. Linear in its frames, at most in
    /// the pages of the region.
    #[must_use]
    pub fn can_allocate(&self, len: usize, align: usize) -> bool {
        if align > self.config.frame_bytes() {
            return false;
        }
        let frames = self.config.frames_of(len);
        self.row_words(frames)
            .is_ok_and(|words| self.can_serve(Some(words), frames).is_ok())
    }

    /// The longest byte object that can be allocated now, in bytes; a binary search finds it.
    /// Shorter objects fit too, up to the rounding of their rows.
    ///
    /// # Complexity
    /// O(pages · log region): each step asks for the pages of so many frames.
    #[expect(
        clippy::arithmetic_side_effects,
        reason = "a search between zero and one frame more than the region has bytes for, half of what usize counts"
    )]
    #[must_use]
    pub fn largest_free(&self) -> usize {
        let frame = self.config.frame_bytes();
        let (mut fits, mut fails) = (0, self.bytes / frame + 1);
        while fails - fits > 1 {
            let middle = fits + (fails - fits) / 2;
            if self.can_allocate(middle * frame, 1) {
                fits = middle;
            } else {
                fails = middle;
            }
        }
        fits * frame
    }
}
