//! Promotion: what lives in the nursery gets a page-block of the heap; nothing else is touched.
//!
//! ```text
//! for every object in the nursery, from the oldest:
//!     dead: its entry is free already
//!     alive: place its entry in a page-block, and copy its words there
//!            no page-block: let the heap move others together; place
//!            none again: slide it down to the others that stay, and those of its class that follow
//! ```
//! So a promotion never fails, and needs no room that is kept free for it. What stays makes the
//! nursery smaller until the next collection.

use core::ptr::NonNull;

use surefit_compact::SizeClass;

use super::Nursery;
use super::eden::Header;
use crate::compact_fit::stub::WORD;

/// Size-classes for which the heap has no room.
#[derive(Clone, Copy, Debug, Default)]
struct Exhausted(u128);

impl Exhausted {
    const fn contains(self, class: SizeClass) -> bool {
        self.0 >> class.index() & 1 == 1
    }

    const fn add(&mut self, class: SizeClass) {
        self.0 |= 1 << class.index();
    }
}

impl Nursery<'_> {
    /// Empties the nursery. `lives` says of an entry whether its object lives; one that has none is
    /// dead.
    ///
    /// The entries of what is dead are free. Nothing here panics (N1, N2): the headers are
    /// forgotten first.
    pub(super) fn promote(&mut self, lives: impl Fn(u32) -> bool) {
        let mut exhausted = Exhausted::default();
        self.promotions.headers += u64::from(self.eden.objects());
        let (mut place, end) = (0, self.eden.begin());
        while place < end {
            let header = self.eden.header(place);
            if let Some(entry) = header.entry.filter(|&entry| lives(entry)) {
                self.promote_one(entry, header, place, &mut exhausted);
            }
            place += header.units();
        }
        self.crowded = self.eden.objects() > 0;
        self.promotions.rounds += 1;
    }

    fn promote_one(&mut self, entry: u32, header: Header, place: u32, exhausted: &mut Exhausted) {
        let bytes = header.words as usize * WORD;
        let Some(block) = self.take_in(entry, bytes, exhausted) else {
            let place = self.eden.keep(place);
            self.old.heap.relocate_entry(entry, place);
            self.promotions.stayed += 1;
            self.promotions.stayed_bytes += bytes as u64;
            return;
        };
        let from = self.eden.first(place).cast::<u8>();
        // SAFETY: from the words of an object of the nursery, which has so many (E1), to a
        // page-block of the heap that was allocated just now for as many bytes. They lie in
        // different regions.
        unsafe { block.copy_from_nonoverlapping(from, bytes) };
        self.promotions.objects += 1;
        self.promotions.bytes += bytes as u64;
    }

    /// A page-block for an entry. If its class has none, moves make room; if they cannot, they are
    /// not tried again.
    fn take_in(
        &mut self,
        entry: u32,
        bytes: usize,
        exhausted: &mut Exhausted,
    ) -> Option<NonNull<u8>> {
        let class = self.class_of(bytes)?;
        if exhausted.contains(class) {
            return None;
        }
        let heap = &mut self.old.heap;
        let placed = heap.take_in_entry(entry, bytes).ok();
        let block = placed.or_else(|| {
            heap.make_room(&[bytes]).ok()?;
            // Moves may have made room for other classes, too.
            *exhausted = Exhausted::default();
            heap.take_in_entry(entry, bytes).ok()
        });
        if block.is_none() {
            exhausted.add(class);
        }
        block
    }
}
