//! The rules that need memory: which objects are live, and the seven counters.
#![deny(clippy::arithmetic_side_effects, clippy::cast_possible_truncation)]

use crate::header::MAX_OBJECTS;
use crate::{Counts, Event, MAX_SIZE, Op, Peak, Problem};

/// Keeps the rules of the format over a sequence of events, wherever they come from, and counts the header again.
///
/// # Complexity
/// O(1) an event; eight bytes for each object ever allocated.
#[derive(Clone, Debug, Default)]
pub struct Checker {
    /// The request of each object ever allocated, or [`DEAD`].
    sizes: Vec<u64>,
    counts: Counts,
    live_bytes: u64,
    live_objects: u64,
    peak: Peak,
}

/// The mark of an object that was freed; no request is that large.
const DEAD: u64 = u64::MAX;
const _: () = assert!(DEAD > MAX_SIZE);

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
                let old = live(&mut self.sizes, id)?;
                self.counts.total_bytes = sum(self.counts.total_bytes, size)?;
                self.live_bytes -= std::mem::replace(old, size);
                self.live_bytes += size;
            }
            Op::Free { id } => {
                let old = live(&mut self.sizes, id)?;
                self.live_bytes -= std::mem::replace(old, DEAD);
                self.live_objects -= 1;
            }
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
            objects: self.sizes.len() as u64,
            peak_bytes: self.peak.live_bytes,
            live_at_end: self.live_objects,
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
        self.live_objects
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

    /// Verifies that the counters that size tables do not pass the header, so that no reader's table grows beyond it, and
    /// that the header claims no more objects than tables are made for.
    #[inline]
    pub(crate) fn verify_bounds(&self, header: &Counts) -> Result<(), Problem> {
        if header.objects > MAX_OBJECTS {
            return Err(Problem::TooMany {
                what: "objects",
                limit: MAX_OBJECTS,
            });
        }
        let passes = |field, header, counted| Problem::Counter {
            field,
            header,
            counted,
        };
        if self.counts.events > header.events {
            return Err(passes("n_events", header.events, self.counts.events));
        }
        let objects = self.sizes.len() as u64;
        if objects > header.objects {
            return Err(passes("n_objects", header.objects, objects));
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
        let next = self.sizes.len();
        if id as usize != next {
            let next = next as u64;
            return Err(Problem::WrongId { id, next });
        }
        let total = sum(self.counts.total_bytes, size)?;
        if next == self.sizes.capacity() {
            let more = self.sizes.try_reserve(1);
            more.map_err(|_| Problem::OutOfMemory)?;
        }
        self.sizes.push(size);
        self.live_objects += 1;
        self.counts.total_bytes = total;
        self.live_bytes += size;
        Ok(())
    }

    fn note_peak(&mut self) {
        self.counts.peak_objects = self.counts.peak_objects.max(self.live_objects);
        if self.live_bytes > self.peak.live_bytes || self.counts.events == 0 {
            self.peak = Peak {
                event: self.counts.events,
                live_bytes: self.live_bytes,
                live_objects: self.live_objects,
            };
        }
    }
}

/// The request of a live object.
fn live(sizes: &mut [u64], id: u32) -> Result<&mut u64, Problem> {
    match sizes.get_mut(id as usize) {
        None => Err(Problem::NeverAllocated),
        Some(&mut DEAD) => Err(Problem::NotLive { id }),
        Some(size) => Ok(size),
    }
}

/// The sum of all requests with one more. The live sum needs no check of its own: it never passes this one.
fn sum(total: u64, size: u64) -> Result<u64, Problem> {
    if size > MAX_SIZE {
        return Err(Problem::Size(size));
    }
    total.checked_add(size).ok_or(Problem::SumOverflow)
}
