//! The rules that need memory: which objects are live, and the seven counters.
#![deny(clippy::arithmetic_side_effects, clippy::cast_possible_truncation)]

use crate::header::{MAX_LIVE_OBJECTS, MAX_OBJECTS};
use crate::live::Live;
use crate::{Counts, Event, MAX_SIZE, Op, Peak, Problem};

/// Keeps the rules of the format over a sequence of events, wherever they come from, and counts the
/// header again.
///
/// # Complexity
/// O(1) an event; eight bytes for at most 8/3 of the most objects live at once.
#[derive(Clone, Debug, Default)]
pub struct Checker {
    sizes: Sizes,
    counts: Counts,
    live_bytes: u64,
    peak: Peak,
}

impl Checker {
    /// A checker that saw no event.
    #[must_use]
    pub fn new() -> Self {
        Self::default()
    }

    /// Takes the next event.
    ///
    /// # Errors
    /// The rule that it breaks; nothing has changed then.
    #[expect(
        clippy::arithmetic_side_effects,
        reason = "the sum of live requests is part of the sum of all, which is checked; events and objects are counted in 64 bits"
    )]
    #[inline]
    pub fn accept(&mut self, event: Event) -> Result<(), Problem> {
        let threads = self.with_thread(u64::from(event.thread()))?;
        match event.op() {
            Op::Alloc { id, size, .. } => self.allocate(id, size)?,
            Op::Realloc { id, size } => {
                let Some(old) = self.sizes.of(id) else {
                    return Err(self.not_live(id));
                };
                let total = sum(self.counts.total_bytes, size)?;
                self.sizes.set(id, size)?;
                self.counts.total_bytes = total;
                self.live_bytes = self.live_bytes - old + size;
            }
            Op::Free { id } => match self.sizes.remove(id) {
                Some(old) => self.live_bytes -= old,
                None => return Err(self.not_live(id)),
            },
        }
        self.counts.threads = threads;
        self.note_peak();
        self.counts.events += 1;
        Ok(())
    }

    /// The header's counters, as counted so far.
    #[must_use]
    pub fn counts(&self) -> Counts {
        Counts {
            peak_bytes: self.peak.live_bytes,
            live_at_end: self.live_objects(),
            ..self.counts
        }
    }

    /// Where the sum of the live requests was greatest so far; `None` before the first event.
    #[must_use]
    pub fn peak(&self) -> Option<Peak> {
        (self.counts.events > 0).then_some(self.peak)
    }

    /// The live objects now.
    #[must_use]
    pub fn live_objects(&self) -> u64 {
        self.sizes.small.len() as u64
    }

    /// The sum of the live requests now, in bytes.
    #[must_use]
    pub fn live_bytes(&self) -> u64 {
        self.live_bytes
    }

    /// Compares the counters with those of a header.
    ///
    /// # Errors
    /// The first counter that differs.
    pub fn verify(&self, header: &Counts) -> Result<(), Problem> {
        let counted = self.counts().named();
        for ((field, header), (_, counted)) in header.named().into_iter().zip(counted) {
            if header != counted {
                return Err(Problem::Counter {
                    field,
                    header,
                    counted,
                });
            }
        }
        Ok(())
    }

    /// Verifies that the counters that size tables do not pass the header, so that no reader's
    /// table grows beyond it, and that the header claims no more objects than have numbers, or than
    /// tables are made for.
    #[inline]
    pub(crate) fn verify_bounds(&self, header: &Counts) -> Result<(), Problem> {
        if header.objects > MAX_OBJECTS {
            return Err(too_many("objects", MAX_OBJECTS));
        }
        if header.peak_objects > MAX_LIVE_OBJECTS {
            return Err(too_many("live objects", MAX_LIVE_OBJECTS));
        }
        if self.counts.events > header.events {
            return Err(passes("n_events", header.events, self.counts.events));
        }
        if self.counts.objects > header.objects {
            return Err(passes("n_objects", header.objects, self.counts.objects));
        }
        let live = self.live_objects();
        if live > header.peak_objects {
            return Err(passes("peak_objects", header.peak_objects, live));
        }
        Ok(())
    }

    /// The threads that appeared, this one included.
    #[expect(
        clippy::arithmetic_side_effects,
        reason = "not above the threads that appeared, at most 2^16 of them"
    )]
    fn with_thread(&self, number: u64) -> Result<u64, Problem> {
        let appeared = self.counts.threads;
        if number > appeared {
            return Err(Problem::Thread { number, appeared });
        }
        Ok(appeared.max(number + 1))
    }

    #[expect(
        clippy::arithmetic_side_effects,
        reason = "the sum of live requests is part of the sum of all, which was checked; objects are counted in 64 bits"
    )]
    fn allocate(&mut self, id: u32, size: u64) -> Result<(), Problem> {
        let next = self.counts.objects;
        if u64::from(id) != next {
            return Err(Problem::WrongId { id, next });
        }
        let total = sum(self.counts.total_bytes, size)?;
        self.sizes.set(id, size)?;
        self.counts.objects += 1;
        self.counts.total_bytes = total;
        self.live_bytes += size;
        Ok(())
    }

    #[cold]
    fn not_live(&self, id: u32) -> Problem {
        if u64::from(id) < self.counts.objects {
            Problem::NotLive { id }
        } else {
            Problem::NeverAllocated
        }
    }

    fn note_peak(&mut self) {
        self.counts.peak_objects = self.counts.peak_objects.max(self.live_objects());
        if self.live_bytes > self.peak.live_bytes || self.counts.events == 0 {
            self.peak = Peak {
                event: self.counts.events,
                live_bytes: self.live_bytes,
                live_objects: self.live_objects(),
            };
        }
    }
}

/// The sum of all requests with one more. The live sum needs no check of its own: it never passes
/// this one.
fn sum(total: u64, size: u64) -> Result<u64, Problem> {
    if size > MAX_SIZE {
        return Err(Problem::Size(size));
    }
    total.checked_add(size).ok_or(Problem::SumOverflow)
}

#[cold]
fn too_many(what: &'static str, limit: u64) -> Problem {
    Problem::TooMany { what, limit }
}

#[cold]
fn passes(field: &'static str, header: u64, counted: u64) -> Problem {
    Problem::Counter {
        field,
        header,
        counted,
    }
}

/// The requests of the live objects. Nearly all have 32 bits: so twice as many are in a line of the
/// cache.
#[derive(Clone, Debug, Default)]
struct Sizes {
    /// The request, or [`LARGE`].
    small: Live<u32>,
    large: Live<u64>,
}

/// In `small`: the request is in `large`.
const LARGE: u32 = u32::MAX;

impl Sizes {
    /// The request of a live object.
    #[inline]
    fn of(&mut self, id: u32) -> Option<u64> {
        match *self.small.get_mut(id)? {
            LARGE => self.large.get_mut(id).copied(),
            small => Some(small.into()),
        }
    }

    /// An object has this request from now on.
    #[inline]
    fn set(&mut self, id: u32, size: u64) -> Result<(), Problem> {
        let small = match u32::try_from(size) {
            Ok(small) if small != LARGE => small,
            _ => {
                self.large.insert(id, size)?;
                LARGE
            }
        };
        if self.small.insert(id, small)? == Some(LARGE) && small != LARGE {
            self.large.remove(id);
        }
        Ok(())
    }

    /// An object dies; its request, if it lived.
    #[inline]
    fn remove(&mut self, id: u32) -> Option<u64> {
        match self.small.remove(id)? {
            LARGE => self.large.remove(id),
            small => Some(small.into()),
        }
    }
}
