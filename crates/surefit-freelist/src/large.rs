//! The large-object space: from the other end of the region, with gaps between objects that the lists do not know.
//!
//! ```text
//!        end | not used | floor | object | gap | object | object | gap | top
//!
//! allocate_large(n): the highest gap that has room for n: the object is its upper end
//!                    else what is not used, and what that lacks of the last chunk of the lists, if that is free and large
//!                    enough: the floor sinks
//!                    else a refusal
//! allocate_displaced(n): the same, but the next gap that has room, from where the last search ended
//! sweep:             what died joins the gaps beside it; what lies below the lowest object is given back to the lists
//! ```
//! Objects and gaps are chunks with the header of all chunks, so that an object's length is read as any other's. A gap has a
//! header and nothing else. Between the floor and the lowest object lies one granule, which has the header of that object;
//! the word before it is nobody's. A heap without large objects has no such granule, and loses nothing.
//!
//! Small objects are apart from large ones then: a large one leaves no hole between small ones, and small ones do not settle
//! where a large one was. Whoever allocates them says how far below the floor the lists are to end, so that the next large
//! object finds a *reserve* there.
//!
//! # Invariants
//! - W2: objects and gaps tile the region from the granule behind the floor to the top; without objects, the floor is the
//!   top.
//! - W3: the lowest is an object, and no two gaps are neighbours.
//! - W4: `objects` is the number of objects.
//! - W5: every gap is shorter than `gaps_below`.
//! - W6: `next` is an object, a gap or the top.
//!
//! # Bounds
//! `allocate_large` is linear in live large objects, but looks at no gap if it is known that all are too short; the sweep is
//! linear in the objects that there were. `allocate_displaced` is as `allocate_large` at worst; as many small objects as fit
//! into gaps that are long enough for each of them take two walks in all.
//!
//! # Drawbacks
//! A small object at the end of the lists holds the floor up; large objects behind it need gaps, or the reserve.
//!
//! # Source
//! Jones, Hosking and Moss, The Garbage Collection Handbook, 8.1: why large objects are apart, and that they do not move.
#![deny(unsafe_code)]

use core::ptr::NonNull;

use surefit_core::{Corruption, Refused, ensure};

use crate::check::Walk;
use crate::chunk::{Chunk, Header, SMALLEST, granules_for, payload_bytes};
use crate::heap::Heap;
use crate::index::Index;
use crate::sweep::Swept;

/// Where large objects begin, and how many there are.
#[derive(Debug)]
pub(crate) struct Large {
    /// The granule up to which the chunks of the lists may reach; the lowest object is the chunk behind it.
    pub(crate) floor: u32,
    pub(crate) objects: usize,
    /// Granules below the floor that the lists leave, as far as they can.
    pub(crate) reserve: u32,
    /// Granules that no gap has: as few as is known without looking.
    pub(crate) gaps_below: u32,
    /// Where the search for a gap goes on for a displaced object.
    pub(crate) next: Chunk,
}

impl Large {
    /// None, in a region of so many granules.
    pub(crate) const fn none(granules: u32) -> Self {
        Self {
            floor: granules,
            objects: 0,
            reserve: 0,
            gaps_below: SMALLEST,
            next: Chunk::at(granules),
        }
    }
}

impl<I: Index> Heap<'_, I> {
    /// Allocates an object from the other end of the region; of any length, but meant for large ones.
    ///
    /// A sweep frees it, if it is not kept, and nothing else can: it is no object for
    /// [`free`](surefit_core::RawHeap::free) and [`resize`](surefit_core::RawHeap::resize). In all other things it is as
    /// one of [`Heap::allocate_as_is`].
    ///
    /// # Errors
    /// [`Refused::TooLarge`] beyond [`Heap::largest_large_request`]; [`Refused::NoChunk`] if neither a gap nor what
    /// is not used and the last chunk of the lists have room, although another chunk of the lists may. The heap is unchanged.
    ///
    /// # Complexity
    /// O(live large objects), and what the index does to forget a chunk and to remember one. Gaps that it looked at are
    /// counted as visits.
    #[cold]
    pub fn allocate_large(&mut self, bytes: usize) -> Result<NonNull<u8>, Refused> {
        self.allocate_at_top(bytes, Self::highest_gap)
    }

    /// Allocates an object among the large ones that the lists had no room for; otherwise as [`Heap::allocate_large`].
    ///
    /// # Errors
    /// As [`Heap::allocate_large`].
    ///
    /// # Complexity
    /// As [`Heap::allocate_large`], but a search begins where the last one ended, since displaced objects may be many.
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

    /// The largest request, in bytes, that [`Heap::allocate_large`] serves if nothing lives and the limit is the region.
    #[must_use]
    pub const fn largest_large_request(&self) -> usize {
        // One granule lies below the object.
        let most = self.top().granule() - self.first.granule() - 1;
        if most < SMALLEST {
            return 0;
        }
        payload_bytes(most)
    }

    /// The bytes of payload of the gaps between large objects. A pass over the headers of both.
    #[must_use]
    pub fn gap_bytes(&self) -> usize {
        let gaps = self.walk_large().filter(|(_, header)| header.is_free());
        gaps.map(|(_, header)| payload_bytes(header.granules()))
            .sum()
    }

    /// The highest gap that has so many granules.
    fn highest_gap(&mut self, granules: u32) -> Option<(Chunk, Header)> {
        let mut visits = 0;
        let found = fitting(self.walk_large(), granules, &mut visits).last();
        self.counters.visits += visits;
        found
    }

    /// The next gap that has so many granules, from where the last search ended: up to the top, then from the lowest.
    fn next_gap(&mut self, granules: u32) -> Option<(Chunk, Header)> {
        let (next, mut visits) = (self.large.next, 0);
        let above = Walk::over(&self.memory, next, self.top());
        let below = Walk::over(&self.memory, Chunk::at(self.large.floor + 1), next);
        let found = fitting(above.chain(below), granules, &mut visits).next();
        self.counters.visits += visits;
        self.large.next = found.map_or(next, |(gap, _)| gap);
        found
    }

    /// The upper end of a gap that has so many granules, or all of it where less than a chunk would be left.
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
        if rest < SMALLEST {
            let whole = Header::in_use(header.granules(), false);
            self.memory.set_header(gap, whole);
            return Some(gap);
        }
        self.counters.splits += 1;
        let chunk = gap.after(rest);
        self.memory.set_header(gap, Header::free(rest, false));
        self.memory
            .set_header(chunk, Header::in_use(granules, false));
        Some(chunk)
    }

    /// A chunk below the lowest, of granules that are not used and of the last chunk of the lists.
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

    /// Frees the large objects that `keep` refuses, and gives what lies below the lowest kept one back to the lists.
    ///
    /// Not inlined: the sweep of small objects, which follows, would have fewer registers.
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
                if swept.live_objects == 0 {
                    floor = chunk.granule() - 1;
                } else {
                    self.leave_gap(run, chunk, &mut swept);
                }
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
        // No gap is as long as the region.
        self.large.gaps_below = top.granule();
        self.large.next = top;
        self.extend_end();
        swept
    }

    /// Makes what lies between two large objects, if anything, one gap.
    fn leave_gap(&mut self, start: Chunk, end: Chunk, swept: &mut Swept) {
        if start < end {
            let granules = end.granule() - start.granule();
            self.memory.set_header(start, Header::free(granules, false));
            swept.count_free(granules);
        }
    }

    /// Verifies W1 to W6.
    pub(crate) fn check_large(&self) -> Result<(), Corruption> {
        self.check_ends()?;
        let (mut live, mut before_free) = (0, true);
        let mut knows_next = self.large.next == self.top();
        let mut walk = self.walk_large();
        for (chunk, header) in walk.by_ref() {
            let at = chunk.granule() as usize;
            ensure(
                !header.is_before_free(),
                "W2",
                "a large object's header has a flag that none has; granule",
                at,
            )?;
            ensure(
                !(header.is_free() && before_free),
                "W3",
                "a gap is the lowest, or behind another gap; granule",
                at,
            )?;
            ensure(
                !(header.is_free() && header.granules() >= self.large.gaps_below),
                "W5",
                "a gap is longer than gaps are known to be; granule",
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
            "the number of large objects is not that of chunks in use; so many are in use",
            live,
        )?;
        ensure(
            knows_next,
            "W6",
            "the search for a gap goes on at no object or gap; granule",
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
            "both ends together have more granules than the limit; so many",
            used as usize,
        )
    }
}

/// The gaps of a walk that have so many granules; counts those that are looked at.
fn fitting<'v>(
    walk: impl Iterator<Item = (Chunk, Header)> + 'v,
    granules: u32,
    visits: &'v mut u64,
) -> impl Iterator<Item = (Chunk, Header)> + 'v {
    walk.filter(|(_, header)| header.is_free())
        .inspect(|_| *visits += 1)
        .filter(move |(_, header)| header.granules() >= granules)
}
