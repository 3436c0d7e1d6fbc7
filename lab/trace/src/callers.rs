//! Who allocates: the events of a trace by the stacks that called.
#![deny(clippy::arithmetic_side_effects, clippy::cast_possible_truncation)]

use std::io::Read;

use crate::{CheckedReader, Header, Live, Op, Peak, Sites, Stack, TraceError};

/// What each stack asked for, of a whole trace, after the verification of all its rules.
#[derive(Clone, Debug)]
pub struct Callers {
    /// The name and the counters, verified.
    pub header: Header,
    /// Where the sum of the live requests is greatest.
    pub peak: Peak,
    /// The table of the stacks; `None` if the trace has none: then all is of unknown callers.
    pub sites: Option<Sites>,
    /// Every stack that called, in the order of the table; unknown ones first.
    pub callers: Vec<Caller>,
}

/// What one stack asked for.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Caller {
    /// The stack.
    pub stack: Stack,
    /// Allocations and reallocations.
    pub requests: u64,
    /// The sum of their sizes.
    pub requested_bytes: u64,
    /// Objects live at the peak that it allocated, or resized last.
    pub live_at_peak_objects: u64,
    /// The sum of their requests.
    pub live_at_peak_bytes: u64,
}

impl Callers {
    /// Reads and checks a trace to its end, in memory that follows its live objects and its stacks.
    ///
    /// # Errors
    /// The first rule of the format that the trace breaks.
    pub fn read<R: Read>(mut reader: CheckedReader<R>) -> Result<Self, TraceError> {
        let stacks = reader.sites().map_or(0, Sites::len);
        let mut tally = Tally::new(stacks);
        while let Some(event) = reader.next().transpose()? {
            let stack = reader.stack();
            let taken = tally.accept(event.op(), stack);
            taken.map_err(|problem| reader.error(problem))?;
        }
        let peak = reader.peak().unwrap_or_default();
        let (header, sites) = reader.into_parts();
        Ok(Self {
            header,
            peak,
            sites,
            callers: tally.finish(),
        })
    }
}

/// The statistics in the making. A stack remembers what it held at the last peak only from its
/// first change after that peak on: until then what it holds now is the answer.
struct Tally {
    /// By the number of the stack.
    held: Vec<Held>,
    live: Live<(Stack, u64)>,
    live_bytes: u64,
    peak_bytes: u64,
    /// Peaks so far.
    peaks: u64,
}

#[derive(Clone, Copy, Default)]
struct Held {
    requests: u64,
    requested_bytes: u64,
    /// Objects and bytes now.
    now: (u64, u64),
    /// The same at the last peak, if `changed_after` is that peak.
    at_peak: (u64, u64),
    changed_after: u64,
}

impl Held {
    fn at_peak(&self, peaks: u64) -> (u64, u64) {
        if self.changed_after == peaks {
            self.at_peak
        } else {
            self.now
        }
    }
}

#[expect(
    clippy::arithmetic_side_effects,
    reason = "counts of events that were checked, in 64 bits; requests of live objects are part of a sum that was"
)]
impl Tally {
    fn new(stacks: usize) -> Self {
        Self {
            held: vec![Held::default(); stacks + 1],
            live: Live::default(),
            live_bytes: 0,
            peak_bytes: 0,
            peaks: 0,
        }
    }

    fn accept(&mut self, op: Op, stack: Stack) -> Result<(), crate::Problem> {
        match op {
            Op::Alloc { id, size, .. } => {
                self.request(stack, size);
                self.live.insert(id, (stack, size))?;
            }
            Op::Realloc { id, size } => {
                let old = self.live.get_mut(id).copied();
                // A reallocation from nobody knows where stays with who allocated.
                let before = old.map_or(stack, |(before, _)| before);
                let stack = if stack.is_known() { stack } else { before };
                self.release(old);
                self.request(stack, size);
                self.live.insert(id, (stack, size))?;
            }
            Op::Free { id } => {
                let old = self.live.remove(id);
                self.release(old);
            }
        }
        if self.live_bytes > self.peak_bytes || self.peaks == 0 {
            self.peak_bytes = self.live_bytes;
            self.peaks += 1;
        }
        Ok(())
    }

    fn changed(&mut self, stack: Stack) -> &mut Held {
        let held = &mut self.held[stack.number() as usize];
        held.at_peak = held.at_peak(self.peaks);
        held.changed_after = self.peaks;
        held
    }

    fn request(&mut self, stack: Stack, size: u64) {
        self.live_bytes += size;
        let held = self.changed(stack);
        held.requests += 1;
        held.requested_bytes += size;
        held.now.0 += 1;
        held.now.1 += size;
    }

    fn release(&mut self, object: Option<(Stack, u64)>) {
        if let Some((stack, size)) = object {
            self.live_bytes -= size;
            let held = self.changed(stack);
            held.now.0 -= 1;
            held.now.1 -= size;
        }
    }

    fn finish(self) -> Vec<Caller> {
        let stacks = Stack::all(self.held.len());
        let callers = stacks.zip(&self.held).map(|(stack, held)| {
            let (live_at_peak_objects, live_at_peak_bytes) = held.at_peak(self.peaks);
            Caller {
                stack,
                requests: held.requests,
                requested_bytes: held.requested_bytes,
                live_at_peak_objects,
                live_at_peak_bytes,
            }
        });
        callers.filter(|caller| caller.requests > 0).collect()
    }
}

#[cfg(test)]
mod tests {
    use super::{Caller, Callers};
    use crate::{Call, CheckedReader, Event, Frame, Op, SitesBuilder, Stack, Trace};

    #[test]
    fn each_stack_has_what_it_asked_for_and_what_it_held_at_the_peak() {
        let mut builder = SitesBuilder::default();
        let mut at = |offset| {
            let frame = Frame {
                module: "a",
                offset,
                function: None,
            };
            builder.stack(&[frame])
        };
        let (one, two, none) = (at(1), at(2), Stack::UNKNOWN);
        let alloc = |id, size| {
            let call = Call::Malloc;
            Op::Alloc { id, size, call }
        };
        let script = [
            (alloc(0, 10), one),
            (alloc(1, 100), two),
            (Op::Realloc { id: 0, size: 30 }, two),
            (alloc(2, 5), none),
            (Op::Free { id: 1 }, none),
            (alloc(3, 7), one),
            (Op::Realloc { id: 3, size: 8 }, none),
        ];
        let events = script.map(|(op, _)| Event::new(0, op)).to_vec();
        let stacks = script.map(|(_, stack)| stack).to_vec();
        let trace = Trace::new("callers", events).expect("sound");
        let trace = trace.with_sites(builder.finish(), stacks).expect("known");
        let bytes = trace.to_bytes();
        let callers = Callers::read(CheckedReader::new(&bytes[..]).expect("a trace"));
        let caller = |stack, requests, requested_bytes, (objects, bytes)| Caller {
            stack,
            requests,
            requested_bytes,
            live_at_peak_objects: objects,
            live_at_peak_bytes: bytes,
        };
        assert_eq!(
            callers.expect("sound").callers,
            [
                caller(none, 1, 5, (1, 5)),
                caller(one, 3, 25, (0, 0)),
                caller(two, 2, 130, (2, 130)),
            ]
        );
    }
}
