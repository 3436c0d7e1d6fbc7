//! The counting behind [`Stats`]: one pass, no events kept.
//!
//! The sizes live at the peak are known only when the peak is past, and there may be millions of
//! peaks on the way up. So each size remembers how many of its objects were live at the last peak
//! only from its first change after that peak on: until then the current count is the answer. A new
//! peak is one increment of `peaks`, whatever its size.
#![deny(clippy::arithmetic_side_effects, clippy::cast_possible_truncation)]

use std::collections::{BTreeMap, HashMap};
use std::io::Read;

use crate::live::Live;
use crate::stats::{Calls, SizeCount, Stats};
use crate::{Align, Call, CheckedReader, Counts, Event, Op, Peak, Problem, Trace, TraceError};

/// Sizes below this one are found by index, larger ones by hashing.
const SMALL_SIZES: usize = 4096;

impl Stats {
    /// The most distinct sizes of a trace that is read: 2^24, whose tables take some 2 GiB.
    pub const MAX_SIZES: usize = 1 << 24;

    /// Reads and checks a trace to its end, without holding its events in memory.
    ///
    /// # Errors
    /// The first rule of the format that the trace breaks, or more than [`Stats::MAX_SIZES`]
    /// distinct sizes.
    ///
    /// # Complexity
    /// O(1) an event, O(n log n) for n distinct sizes at the end; 32 bytes for at most 8/3 of the
    /// most objects live at once, some 60 for each distinct size, and as much again while the
    /// tables grow.
    pub fn read<R: Read>(reader: &mut CheckedReader<R>) -> Result<Self, TraceError> {
        Self::read_within(reader, Self::MAX_SIZES)
    }

    fn read_within<R: Read>(
        reader: &mut CheckedReader<R>,
        most: usize,
    ) -> Result<Self, TraceError> {
        let mut tally = Tally::new();
        while let Some(event) = reader.next().transpose()? {
            tally
                .accept(event)
                .map_err(|problem| reader.error(problem))?;
            if tally.distinct_sizes() > most {
                return Err(reader.error(Problem::TooMany {
                    what: "sizes",
                    limit: most as u64,
                }));
            }
        }
        let peak = reader.peak().unwrap_or_default();
        let header = reader.header();
        Ok(tally.finish(header.name.clone(), header.counts, peak))
    }

    /// The statistics of a trace in memory.
    ///
    /// # Panics
    /// There is no memory for a table of its live objects.
    #[must_use]
    pub fn of(trace: &Trace) -> Self {
        let mut tally = Tally::new();
        let mut events = trace.events().iter();
        events
            .try_for_each(|&event| tally.accept(event))
            .expect("a table that is far smaller than the trace");
        let name = trace.name().to_owned();
        tally.finish(name, trace.header().counts, trace.peak())
    }
}

/// Statistics in the making. Events come from a checked source.
#[derive(Debug)]
struct Tally {
    objects: Live<Object>,
    sizes: SizeTable,
    calls: Calls,
    alignments: BTreeMap<Align, u64>,
    lives_events: u64,
    foreign_frees: u64,
    thread_switches: u64,
    thread: u16,
    events: u64,
    live_bytes: u64,
    peak_bytes: u64,
}

/// What is remembered of an object.
#[derive(Clone, Copy, Debug, Default)]
struct Object {
    /// The event of its allocation.
    born: u64,
    /// Its size, as an index of [`SizeTable::entries`].
    size: u32,
    /// The thread that last allocated or resized it.
    owner: u16,
}

impl Tally {
    fn new() -> Self {
        Self {
            objects: Live::default(),
            sizes: SizeTable::new(),
            calls: Calls::default(),
            alignments: BTreeMap::new(),
            lives_events: 0,
            foreign_frees: 0,
            thread_switches: 0,
            thread: 0,
            events: 0,
            live_bytes: 0,
            peak_bytes: 0,
        }
    }

    #[expect(
        clippy::arithmetic_side_effects,
        reason = "counts of events that were checked, in 64 bits; requests of live objects are part of a sum that was"
    )]
    fn accept(&mut self, event: Event) -> Result<(), Problem> {
        let thread = event.thread();
        self.thread_switches += u64::from(thread != self.thread);
        self.thread = thread;
        match event.op() {
            Op::Alloc { id, size, call } => self.allocate(thread, id, size, call)?,
            Op::Realloc { id, size } => self.reallocate(thread, id, size),
            Op::Free { id } => self.free(thread, id),
        }
        if self.live_bytes > self.peak_bytes || self.events == 0 {
            self.peak_bytes = self.live_bytes;
            self.sizes.peaks += 1;
        }
        self.events += 1;
        Ok(())
    }

    /// How many sizes have an entry.
    fn distinct_sizes(&self) -> usize {
        self.sizes.entries.len()
    }

    fn finish(self, name: String, counts: Counts, peak: Peak) -> Stats {
        Stats {
            name,
            counts,
            peak,
            calls: self.calls,
            lives_events: self.lives_events,
            foreign_frees: self.foreign_frees,
            thread_switches: self.thread_switches,
            sizes: self.sizes.finish(),
            alignments: self.alignments.into_iter().collect(),
        }
    }

    #[expect(
        clippy::arithmetic_side_effects,
        reason = "counts of events that were checked, in 64 bits; requests of live objects are part of a sum that was"
    )]
    fn allocate(&mut self, owner: u16, id: u32, size: u64, call: Call) -> Result<(), Problem> {
        match call {
            Call::Malloc => self.calls.malloc += 1,
            Call::Calloc => self.calls.calloc += 1,
            Call::Aligned(align) => {
                self.calls.aligned += 1;
                *self.alignments.entry(align).or_default() += 1;
            }
        }
        self.live_bytes += size;
        let object = Object {
            born: self.events,
            size: self.sizes.request(size),
            owner,
        };
        self.objects.insert(id, object).map(drop)
    }

    #[expect(
        clippy::arithmetic_side_effects,
        reason = "counts of events that were checked, in 64 bits; requests of live objects are part of a sum that was"
    )]
    fn reallocate(&mut self, thread: u16, id: u32, size: u64) {
        self.calls.realloc += 1;
        let Some(object) = self.objects.get_mut(id) else {
            return;
        };
        self.live_bytes -= self.sizes.release(object.size);
        self.live_bytes += size;
        object.size = self.sizes.request(size);
        object.owner = thread;
    }

    #[expect(
        clippy::arithmetic_side_effects,
        reason = "counts of events that were checked, in 64 bits; requests of live objects are part of a sum that was"
    )]
    fn free(&mut self, thread: u16, id: u32) {
        self.calls.free += 1;
        let Some(object) = self.objects.remove(id) else {
            return;
        };
        self.live_bytes -= self.sizes.release(object.size);
        self.lives_events += self.events - object.born;
        self.foreign_frees += u64::from(object.owner != thread);
    }
}

/// Every distinct size.
#[derive(Debug)]
struct SizeTable {
    entries: Vec<SizeEntry>,
    /// The entry of each small size plus one; zero for none.
    small: Box<[u32; SMALL_SIZES]>,
    large: HashMap<u64, u32>,
    /// Peaks so far.
    peaks: u64,
}

#[derive(Clone, Copy, Debug)]
struct SizeEntry {
    size: u64,
    requests: u64,
    live: u64,
    /// The live objects at the last peak, if `changed_after` is that peak; else `live` is.
    live_at_peak: u64,
    changed_after: u64,
}

impl SizeEntry {
    fn at_peak(&self, peaks: u64) -> u64 {
        if self.changed_after == peaks {
            self.live_at_peak
        } else {
            self.live
        }
    }

    fn remember(&mut self, peaks: u64) {
        self.live_at_peak = self.at_peak(peaks);
        self.changed_after = peaks;
    }
}

impl SizeTable {
    fn new() -> Self {
        Self {
            entries: Vec::new(),
            small: Box::new([0; SMALL_SIZES]),
            large: HashMap::new(),
            peaks: 0,
        }
    }

    /// Counts a request and returns the entry of its size.
    #[expect(
        clippy::arithmetic_side_effects,
        reason = "counts of events that were checked, in 64 bits; requests of live objects are part of a sum that was"
    )]
    fn request(&mut self, size: u64) -> u32 {
        let index = self.index(size);
        let entry = &mut self.entries[index as usize];
        entry.remember(self.peaks);
        entry.requests += 1;
        entry.live += 1;
        index
    }

    /// Counts the end of an object of this entry's size, which it returns.
    #[expect(
        clippy::arithmetic_side_effects,
        reason = "counts of events that were checked, in 64 bits; requests of live objects are part of a sum that was"
    )]
    fn release(&mut self, index: u32) -> u64 {
        let entry = &mut self.entries[index as usize];
        entry.remember(self.peaks);
        entry.live -= 1;
        entry.size
    }

    #[expect(
        clippy::arithmetic_side_effects,
        clippy::cast_possible_truncation,
        reason = "2^32 sizes would be more than 100 GiB of entries; zero stands for none"
    )]
    fn index(&mut self, size: u64) -> u32 {
        let next = self.entries.len() as u32;
        let index = match self.small(size) {
            Some(&mut 0) => next,
            Some(&mut known) => return known - 1,
            None => *self.large.entry(size).or_insert(next),
        };
        if index == next {
            self.add(size);
        }
        index
    }

    fn small(&mut self, size: u64) -> Option<&mut u32> {
        self.small.get_mut(usize::try_from(size).ok()?)
    }

    #[expect(
        clippy::cast_possible_truncation,
        reason = "2^32 sizes would be more than 100 GiB of entries"
    )]
    fn add(&mut self, size: u64) {
        self.entries.push(SizeEntry {
            size,
            requests: 0,
            live: 0,
            live_at_peak: 0,
            changed_after: self.peaks,
        });
        let number = self.entries.len() as u32;
        if let Some(small) = self.small(size) {
            *small = number;
        }
    }

    fn finish(self) -> Vec<SizeCount> {
        let count = |entry: &SizeEntry| SizeCount {
            size: entry.size,
            requests: entry.requests,
            live_at_peak: entry.at_peak(self.peaks),
        };
        let mut sizes: Vec<_> = self.entries.iter().map(count).collect();
        sizes.sort_unstable_by_key(|count| count.size);
        sizes
    }
}

#[cfg(test)]
mod tests {
    use super::Stats;
    use crate::{Call, CheckedReader, Event, Op, Problem, Trace};

    #[test]
    fn more_sizes_than_tables_are_made_for_are_refused() {
        let (call, sizes) = (Call::Malloc, [8_u64, 8, 5000, 6000, 8, 7000]);
        let events = (0..)
            .zip(sizes)
            .map(|(id, size)| Op::Alloc { id, size, call });
        let trace = Trace::new("sizes", events.map(|op| Event::new(0, op)).collect());
        let bytes = trace.expect("a sound trace").to_bytes();
        let read = |most| Stats::read_within(&mut CheckedReader::new(&bytes[..])?, most);
        assert_eq!(read(4).expect("four sizes").sizes.len(), 4);
        let error = read(3).expect_err("one more");
        assert!(matches!(
            error.problem(),
            Problem::TooMany {
                what: "sizes",
                limit: 3
            }
        ));
    }
}
