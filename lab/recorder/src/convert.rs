//! From a log, in which objects are addresses, to the events of a trace, in which they have
//! numbers.

use std::collections::HashMap;

use surefit_trace::{Align, Call, Event, MAX_SIZE, Op};

/// An event, and the stack that called, as the log numbers it; 0 for a free.
pub type Called = (Event, u32);

use crate::log::kind;
use crate::read::{ReadError, Reader, Record};

/// What a log did not say in full.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Gaps {
    /// Frees and reallocations of objects that the log does not know: they are from before it
    /// began, or inherited from the parent. They are left out.
    pub unknown: u64,
    /// Allocations at an address at which an object lives, as the log has it: its free was missed,
    /// and is put before the allocation.
    pub overlapping: u64,
    /// Threads above the 65,536th; their events are those of the last thread.
    pub more_threads: u64,
    /// Allocations after the 2^32nd, which have no number in a trace. They are left out.
    pub more_objects: u64,
}

/// Turns records into events, one after the other.
#[derive(Debug, Default)]
pub struct Converter {
    /// The number of the object at each address.
    living: HashMap<u64, u32>,
    /// The object and the old address of the reallocation that each thread began.
    reallocating: HashMap<u32, (u64, u32)>,
    threads: HashMap<u32, u16>,
    objects: u32,
    gaps: Gaps,
}

impl Converter {
    /// What is missing so far.
    #[must_use]
    pub fn gaps(&self) -> Gaps {
        self.gaps
    }

    /// Appends the events of one record: none, one or two.
    pub fn convert(&mut self, record: Record, events: &mut Vec<Called>) {
        let Record { address, size, .. } = record;
        let call = match record.kind {
            kind::MALLOC => Call::Malloc,
            kind::CALLOC => Call::Calloc,
            kind::ALIGNED => Call::Aligned(align(record.log2_align)),
            kind::FREE => return self.free(record, events),
            kind::REALLOC => {
                match self.living.remove(&address) {
                    Some(id) => drop(self.reallocating.insert(record.thread, (address, id))),
                    None => self.gaps.unknown += 1,
                }
                return;
            }
            _ => return self.reallocated(record, events),
        };
        let id = self.objects;
        let Some(next) = id.checked_add(1) else {
            self.gaps.more_objects += 1;
            return;
        };
        self.objects = next;
        self.place(record, id, events);
        let size = size.min(MAX_SIZE);
        let thread = self.thread(record.thread);
        events.push((
            Event::new(thread, Op::Alloc { id, size, call }),
            record.stack,
        ));
    }

    fn free(&mut self, record: Record, events: &mut Vec<Called>) {
        match self.living.remove(&record.address) {
            Some(id) => {
                let thread = self.thread(record.thread);
                events.push((Event::new(thread, Op::Free { id }), 0));
            }
            None => self.gaps.unknown += 1,
        }
    }

    fn reallocated(&mut self, record: Record, events: &mut Vec<Called>) {
        let begun = self.reallocating.remove(&record.thread);
        match (begun, record.kind) {
            (Some((_, id)), kind::REALLOCATED) => {
                self.place(record, id, events);
                let size = record.size.min(MAX_SIZE);
                let thread = self.thread(record.thread);
                events.push((Event::new(thread, Op::Realloc { id, size }), record.stack));
            }
            (Some((_, id)), kind::REALLOC_FREED) => {
                let thread = self.thread(record.thread);
                events.push((Event::new(thread, Op::Free { id }), 0));
            }
            (Some((address, id)), _) => drop(self.living.insert(address, id)),
            // It began before the log did: from here on the object is known.
            (None, kind::REALLOCATED) => {
                let known = Record {
                    kind: kind::MALLOC,
                    ..record
                };
                self.convert(known, events);
            }
            (None, _) => {}
        }
    }

    /// An object lives at an address. If another one still does, its free was missed.
    fn place(&mut self, record: Record, id: u32, events: &mut Vec<Called>) {
        if let Some(id) = self.living.insert(record.address, id) {
            self.gaps.overlapping += 1;
            let thread = self.thread(record.thread);
            events.push((Event::new(thread, Op::Free { id }), 0));
        }
    }

    /// The trace's number of a thread: by first appearance.
    fn thread(&mut self, thread: u32) -> u16 {
        if let Some(number) = self.threads.get(&thread) {
            return *number;
        }
        let number = u16::try_from(self.threads.len()).unwrap_or_else(|_| {
            self.gaps.more_threads += 1;
            u16::MAX
        });
        self.threads.insert(thread, number);
        number
    }
}

/// The alignment that was asked for, or the strictest that a trace has.
fn align(log2: u8) -> Align {
    const STRICTEST: Align = match Align::from_log2(Align::MAX_LOG2) {
        Some(align) => align,
        None => panic!("the strictest is one"),
    };
    Align::from_log2(log2).unwrap_or(STRICTEST)
}

/// Gives the events of a log to `each`, one after the other, in memory that follows the objects
/// live at once. `progress` is called now and then with the number of records read.
///
/// # Errors
/// The log cannot be read, or what `each` failed with.
pub fn convert<E: From<ReadError>>(
    reader: &mut Reader,
    mut progress: impl FnMut(u64),
    mut each: impl FnMut(Called) -> Result<(), E>,
) -> Result<Gaps, E> {
    let mut converter = Converter::default();
    let mut events = Vec::new();
    let mut records = 0_u64;
    while let Some(record) = reader.next_record()? {
        converter.convert(record, &mut events);
        events.drain(..).try_for_each(&mut each)?;
        records += 1;
        if records % (1 << 18) == 0 {
            progress(records);
        }
    }
    Ok(converter.gaps())
}

#[cfg(test)]
mod tests {
    use surefit_trace::{Call, Event, Op};

    use super::{Converter, Gaps};
    use crate::log::kind;
    use crate::read::Record;

    fn record(kind: u8, thread: u32, address: u64, size: u64) -> Record {
        Record {
            kind,
            log2_align: 0,
            thread,
            stack: 0,
            address,
            size,
        }
    }

    fn converted(records: &[Record]) -> (Vec<Event>, Gaps) {
        let mut converter = Converter::default();
        let mut events = Vec::new();
        for record in records {
            converter.convert(*record, &mut events);
        }
        let events = events.into_iter().map(|(event, _)| event);
        (events.collect(), converter.gaps())
    }

    fn alloc(id: u32, size: u64) -> Op {
        let call = Call::Malloc;
        Op::Alloc { id, size, call }
    }

    #[test]
    fn a_reallocation_lasts_from_its_first_to_its_second_number() {
        // While thread 0 reallocates, thread 7 gets the address that is free again.
        let (events, gaps) = converted(&[
            record(kind::MALLOC, 0, 100, 10),
            record(kind::REALLOC, 0, 100, 0),
            record(kind::MALLOC, 7, 100, 20),
            record(kind::REALLOCATED, 0, 200, 30),
            record(kind::FREE, 7, 200, 0),
            record(kind::FREE, 0, 100, 0),
        ]);
        let expected = [
            Event::new(0, alloc(0, 10)),
            Event::new(1, alloc(1, 20)),
            Event::new(0, Op::Realloc { id: 0, size: 30 }),
            Event::new(1, Op::Free { id: 0 }),
            Event::new(0, Op::Free { id: 1 }),
        ];
        assert_eq!((&events[..], gaps), (&expected[..], Gaps::default()));
    }

    #[test]
    fn a_reallocation_that_is_refused_or_frees() {
        let (events, gaps) = converted(&[
            record(kind::MALLOC, 0, 100, 10),
            record(kind::REALLOC, 0, 100, 0),
            record(kind::REALLOC_REFUSED, 0, 0, 1 << 60),
            record(kind::REALLOC, 0, 100, 0),
            record(kind::REALLOC_FREED, 0, 0, 0),
        ]);
        let expected = [
            Event::new(0, alloc(0, 10)),
            Event::new(0, Op::Free { id: 0 }),
        ];
        assert_eq!((&events[..], gaps), (&expected[..], Gaps::default()));
    }

    #[test]
    fn what_the_log_does_not_know_is_counted() {
        let (events, gaps) = converted(&[
            record(kind::FREE, 0, 1, 0),
            record(kind::REALLOC, 0, 2, 0),
            record(kind::REALLOCATED, 0, 3, 40),
            record(kind::MALLOC, 0, 3, 50),
        ]);
        let expected = [
            Event::new(0, alloc(0, 40)),
            Event::new(0, Op::Free { id: 0 }),
            Event::new(0, alloc(1, 50)),
        ];
        let counted = Gaps {
            unknown: 2,
            overlapping: 1,
            ..Gaps::default()
        };
        assert_eq!((&events[..], gaps), (&expected[..], counted));
    }

    #[test]
    fn threads_beyond_those_of_a_trace_share_the_last_number() {
        let records: Vec<_> = (0..70_000)
            .map(|n| record(kind::MALLOC, n, u64::from(n), 8))
            .collect();
        let (events, gaps) = converted(&records);
        assert_eq!(events.last().map(|event| event.thread()), Some(u16::MAX));
        assert_eq!(gaps.more_threads, 70_000 - 65_536);
    }

    #[test]
    fn records_in_any_order_make_a_sound_trace() {
        let mut random = 1_u64;
        let mut next = |below: u64| {
            random = random
                .wrapping_mul(6_364_136_223_846_793_005)
                .wrapping_add(1);
            (random >> 33) % below
        };
        let records: Vec<_> = (0..100_000)
            .map(|_| {
                let kind = u8::try_from(1 + next(8)).expect("few");
                record(
                    kind,
                    u32::try_from(next(3)).expect("few"),
                    next(20),
                    next(100),
                )
            })
            .collect();
        let (events, _) = converted(&records);
        assert!(events.len() > 30_000);
        surefit_trace::Trace::new("any", events).expect("sound");
    }
}
