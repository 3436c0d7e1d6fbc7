//! The large-object space: it grows from the other end of the region; the gaps between its objects
//! are not in the lists.
//!
//! ```text
//!        end | not used | floor | object | gap | object | object | gap | top
//!
//! allocate_large(n): the upper end of the highest gap that has room for n
//!                    else lower the floor: take the unused granules, and what they lack from the
//!                    last chunk of the lists, if that is free and large enough
//!                    else refuse
//! allocate_displaced(n): the same, but the next gap with room, from where the last search ended
//! sweep:             dead objects join the gaps beside them; all below the lowest live object
//!                    goes back to the lists
//! free:              the same for one object
//! ```
//! Objects and gaps are chunks with the usual header, so that the length of a large object is read
//! like that of any other. A gap has a footer as well, and the header of the object after it says
//! that a gap is there: so one object is freed in constant time. One granule lies between the floor
//! and the lowest object; it holds that object's header, and the word before that header is
//! nobody's. A heap without large objects has no such granule and loses nothing.
//!
//! This keeps small objects apart from large ones: a large object leaves no hole between small
//! ones, and small objects do not settle where a large one was. The caller that allocates large
//! objects sets how far below the floor the lists end, so that the next large object finds a
//! *reserve* there.
//!
//! # Invariants
//! - W2: objects and gaps tile the region from the granule after the floor to the top. Without
//!   objects, the floor is the top.
//! - W3: the lowest of them is an object, and no two gaps are neighbours.
//! - W4: `objects` is the number of objects.
//! - W5: every gap is shorter than `gaps_below`.
//! - W6: `next` is an object, a gap or the top.
//! - W7: a header says that the chunk before is a gap if and only if it is; the footer of a gap is
//!   its size.
//!
//! # Bounds
//! `allocate_large` is linear in live large objects, but looks at no gap if all gaps are known to
//! be too short. The sweep is linear in the large objects before it. At worst, `allocate_displaced`
//! is as `allocate_large`; but filling gaps with small objects takes only two walks in total, if
//! every gap is long enough for each of these objects.
//!
//! # Drawbacks
//! A small object at the end of the lists holds up the floor. Further large objects then need gaps,
//! or the reserve.
//!
//! # Source
//! Jones, Hosking and Moss, The Garbage Collection Handbook, 8.1: why large objects are kept apart,
//! and why they do not move.
#![deny(unsafe_code)]

use core::ptr::NonNull;

use surefit_core::{Corruption, Refused, ensure};

use crate::check::Walk;
use crate::chunk::{Chunk, Header, SMALLEST, granules_for, payload_bytes};
use crate::heap::Heap;
use crate::index::Index;
use crate::sweep::Swept;

impl<I: Index> Heap<'_, I> {
    /// Allocates an object from the other end of the region. Any length is served, but it is meant
    /// for large objects.
    ///
    /// Only [`Heap::free_numbered`], or a sweep that does not keep the object, can free it: it must
    /// not be passed to [`free`](surefit_core::RawHeap::free) or
    /// [`resize`](surefit_core::RawHeap::resize). In all other respects it is like an object of
    /// [`Heap::allocate_as_is`].
    ///
    /// # Errors
    /// [`Refused::TooLarge`] above [`Heap::largest_large_request`]; [`Refused::NoChunk`] if there
    /// is no room in a gap, nor in the unused granules together with the last chunk of the lists.
    /// Another chunk of the lists may have room even then. The heap is unchanged.
    ///
    /// # Complexity
    /// O(live large objects), and the work of the index to remove one chunk and to insert one. Each
    /// gap that it examines counts as a visit.
    #[cold]
    pub fn allocate_large(&mut self, bytes: usize) -> Result<NonNull<u8>, Refused> {
        self.allocate_at_top(bytes, Self::highest_gap)
    }

    /// Allocates an object that the lists had no room for among the large objects; otherwise as
    /// [`Heap::allocate_large`].
    ///
    /// # Errors
    /// As [`Heap::allocate_large`].
    ///
    /// # Complexity
    /// As [`Heap::allocate_large`], but a search begins where the last one ended, because there may
    /// be many displaced objects.
    #[cold]
    pub fn allocate_displaced(&mut self, bytes: usize) -> Result<NonNull<u8>, Refused> {
        self.allocate_at_top(bytes, Self::next_gap)
    }

    fn allocate_at_top(
        &mut self,
        bytes: usize,
        find: impl Fn(&mut Self, u32) -> Option<(Chunk, Header)>,
    ) -> Result<NonNull<u8>, Refused> {
        let limit = self.largest_large_request();
        if bytes > limit {
            return Err(Refused::TooLarge { limit });
        }
        let granules = granules_for(bytes);
        let taken = self.take_gap(granules, find);
        let taken = taken.or_else(|| self.lower_floor(granules));
        let chunk = taken.ok_or(Refused::NoChunk)?;
        self.large.objects += 1;
        Ok(self.memory.payload(chunk.granule()))
    }

    /// The largest request, in bytes, that [`Heap::allocate_large`] serves if nothing is live and
    /// the limit is the region.
    #[must_use]
    pub const fn largest_large_request(&self) -> usize {
        // One granule lies below the object.
        let most = self.top().granule() - self.first.granule() - 1;
        if most < SMALLEST {
            return 0;
        }
        payload_bytes(most)
    }

    /// The payload bytes of the gaps between large objects. One pass over the headers of both.
    #[must_use]
    pub fn gap_bytes(&self) -> usize {
        let gaps = self.walk_large().filter(|(_, header)| header.is_free());
        gaps.map(|(_, header)| payload_bytes(header.granules()))
            .sum()
    }

    /// The highest gap of at least `granules` granules.
    fn highest_gap(&mut self, granules: u32) -> Option<(Chunk, Header)> {
        let mut visits = 0;
        let found = fitting(self.walk_large(), granules, &mut visits).last();
        self.counters.visits += visits;
        found
    }

    /// The next gap of at least `granules` granules, from where the last search ended: up to the
    /// top, then from the lowest.
    fn next_gap(&mut self, granules: u32) -> Option<(Chunk, Header)> {
        let (next, mut visits) = (self.large.next, 0);
        let above = Walk::over(&self.memory, next, self.top());
        let below = Walk::over(&self.memory, Chunk::at(self.large.floor + 1), next);
        let found = fitting(above.chain(below), granules, &mut visits).next();
        self.counters.visits += visits;
        self.large.next = found.map_or(next, |(gap, _)| gap);
        found
    }

    /// The upper end of a gap, `granules` long; or all of the gap if less than a chunk would be
    /// left.
    fn take_gap(
        &mut self,
        granules: u32,
        find: impl Fn(&mut Self, u32) -> Option<(Chunk, Header)>,
    ) -> Option<Chunk> {
        if granules >= self.large.gaps_below {
            return None;
        }
        let Some((gap, header)) = find(self, granules) else {
            self.large.gaps_below = granules;
            return None;
        };
        let rest = header.granules() - granules;
        self.tell_above(gap.after(header.granules()), false);
        if rest < SMALLEST {
            let whole = Header::in_use(header.granules(), false);
            self.memory.set_header(gap, whole);
            return Some(gap);
        }
        self.counters.split();
        let chunk = gap.after(rest);
        self.memory.tag_free(gap, rest);
        self.memory
            .set_header(chunk, Header::in_use(granules, true));
        Some(chunk)
    }

    /// Records in the header of a large object whether the chunk before it is a gap. The top has no
    /// header.
    fn tell_above(&mut self, chunk: Chunk, is_gap: bool) {
        if chunk < self.top() {
            let granules = self.memory.header(chunk).granules();
            self.memory
                .set_header(chunk, Header::in_use(granules, is_gap));
        }
    }

    /// A chunk below the lowest object, made of unused granules and of the last chunk of the lists.
    fn lower_floor(&mut self, granules: u32) -> Option<Chunk> {
        let below = u32::from(self.large.objects == 0);
        let mut taken = granules + below;
        let missing = taken.saturating_sub(self.spare());
        if missing > 0 {
            taken += self.retreat_end(missing)? - missing;
        }
        self.large.floor -= taken;
        let chunk = Chunk::at(self.large.floor + 1);
        self.memory
            .set_header(chunk, Header::in_use(taken - below, false));
        Some(chunk)
    }

    /// The large objects and the gaps, from the lowest to the top.
    pub(crate) fn walk_large(&self) -> Walk<'_, '_> {
        Walk::over(&self.memory, Chunk::at(self.large.floor + 1), self.top())
    }

    /// Frees the large objects that `keep` rejects, and returns what lies below the lowest kept one
    /// to the lists.
    ///
    /// Not inlined, because the sweep of small objects that follows would have fewer registers.
    #[inline(never)]
    pub(crate) fn sweep_large(&mut self, keep: impl Fn(u32) -> bool) -> Swept {
        let (mut swept, top) = (Swept::default(), self.top());
        let mut chunk = Chunk::at(self.large.floor + 1);
        let (mut run, mut floor) = (chunk, top.granule());
        while chunk < top {
            let header = self.memory.header(chunk);
            let next = chunk.after(header.granules());
            swept.visited += 1;
            if !header.is_free() && keep(chunk.granule()) {
                let mut is_gap = false;
                if swept.live_objects == 0 {
                    floor = chunk.granule() - 1;
                } else {
                    is_gap = self.leave_gap(run, chunk, &mut swept);
                }
                self.tell_above(chunk, is_gap);
                swept.count_live(header);
                run = next;
            }
            chunk = next;
        }
        if swept.live_objects > 0 {
            self.leave_gap(run, top, &mut swept);
        }
        swept.freed_objects = self.large.objects as u64 - swept.live_objects;
        self.large.floor = floor;
        self.large.objects = swept.live_objects as usize;
        // Every gap is shorter than the region.
        self.large.gaps_below = top.granule();
        self.large.next = top;
        self.extend_end();
        swept
    }

    /// Makes what lies between two large objects one gap, if there is anything; returns whether
    /// there is.
    fn leave_gap(&mut self, start: Chunk, end: Chunk, swept: &mut Swept) -> bool {
        let is_gap = start < end;
        if is_gap {
            let granules = end.granule() - start.granule();
            self.memory.tag_free(start, granules);
            swept.count_free(granules);
        }
        is_gap
    }

    /// Frees one large object: it joins the gaps beside it. If it is the lowest, all below the next
    /// one goes back to the lists.
    pub(crate) fn free_large(&mut self, chunk: Chunk) {
        let (header, top) = (self.memory.header(chunk), self.top());
        debug_assert!(!header.is_free(), "S1: the object is not live");
        let (mut start, mut end) = (chunk, chunk.after(header.granules()));
        if end < top && self.memory.header(end).is_free() {
            end = end.after(self.memory.header(end).granules());
        }
        if header.is_before_free() {
            start = chunk.before(self.memory.granules_before(chunk));
        }
        self.large.objects -= 1;
        let is_lowest = start.granule() == self.large.floor + 1;
        let is_inside = start <= self.large.next && self.large.next < end;
        self.tell_above(end, !is_lowest);
        if is_lowest {
            self.large.floor = end.granule() - u32::from(end < top);
            self.large.next = if is_inside { top } else { self.large.next };
            self.extend_end();
            return;
        }
        let granules = end.granule() - start.granule();
        self.memory.tag_free(start, granules);
        self.large.next = if is_inside { start } else { self.large.next };
        self.large.gaps_below = self.large.gaps_below.max(granules + 1);
    }

    /// Verifies W1 to W7.
    pub(crate) fn check_large(&self) -> Result<(), Corruption> {
        self.check_ends()?;
        let (mut live, mut before_free) = (0, true);
        let mut knows_next = self.large.next == self.top();
        let mut walk = self.walk_large();
        for (chunk, header) in walk.by_ref() {
            let at = chunk.granule() as usize;
            let is_told = header.is_before_free() == (before_free && live > 0);
            ensure(
                is_told,
                "W7",
                "a header is wrong about whether the chunk before is a gap; granule",
                at,
            )?;
            let has_footer = !header.is_free()
                || self.memory.granules_before(chunk.after(header.granules())) == header.granules();
            ensure(
                has_footer,
                "W7",
                "the footer of a gap is not its size; granule",
                at,
            )?;
            ensure(
                !(header.is_free() && before_free),
                "W3",
                "a gap is the lowest chunk, or follows another gap; granule",
                at,
            )?;
            ensure(
                !(header.is_free() && header.granules() >= self.large.gaps_below),
                "W5",
                "a gap is not shorter than gaps are known to be; granule",
                at,
            )?;
            knows_next |= chunk == self.large.next;
            before_free = header.is_free();
            live += usize::from(!before_free);
        }
        let reached = if live > 0 {
            walk.reached()
        } else {
            Chunk::at(self.large.floor)
        };
        ensure(
            reached == self.top(),
            "W2",
            "large objects and gaps do not reach the top; granule",
            reached.granule() as usize,
        )?;
        ensure(
            live == self.large.objects,
            "W4",
            "the number of large objects is not that of chunks in use; chunks in use",
            live,
        )?;
        ensure(
            knows_next,
            "W6",
            "the search for a gap would continue at no object or gap; granule",
            self.large.next.granule() as usize,
        )
    }

    /// Verifies W1, which keeps the walks inside the region.
    fn check_ends(&self) -> Result<(), Corruption> {
        let (first, end, top) = (
            self.first.granule(),
            self.end.granule(),
            self.top().granule(),
        );
        let floor = self.large.floor;
        ensure(
            first <= end && end <= floor && floor <= top,
            "W1",
            "the ends of lists and large objects are out of order; the end's granule",
            end as usize,
        )?;
        let used = end - first + top - floor;
        ensure(
            used <= self.limit && self.limit <= top - first,
            "W1",
            "both ends together have more granules than the limit; granules",
            used as usize,
        )
    }
}

/// The gaps of a walk that have at least `granules` granules; counts the gaps that it examines.
fn fitting<'v>(
    walk: impl Iterator<Item = (Chunk, Header)> + 'v,
    granules: u32,
    visits: &'v mut u64,
) -> impl Iterator<Item = (Chunk, Header)> + 'v {
    walk.filter(|(_, header)| header.is_free())
        .inspect(|_| *visits += 1)
        .filter(move |(_, header)| header.granules() >= granules)
}
