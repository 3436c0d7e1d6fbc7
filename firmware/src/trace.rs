//! Replays a cut of a recorded program. `lab/trace/tests/cut.rs` makes it and says what
//! its bytes mean.

use core::alloc::Layout;

use surefit::compact::certify::{Uncertifiable, certify};
use surefit::compact::{Config, DemandMeter, Width};

use crate::bench::Bench;
use crate::failure::{Failure, require};
use crate::scale;
use crate::store::Store;

/// The cut, with a line of text before it.
static CUT: &[u8] = include_bytes!("../trace/python-a.cut");

/// The alignment of all requests.
const ALIGN: usize = 8;

/// Events between two verifications.
const VERIFIED_EVERY: usize = 100;

/// One event.
#[derive(Clone, Copy, Debug)]
enum Event {
    Allocate { slot: usize, len: usize },
    Resize { slot: usize, len: usize },
    Free { slot: usize },
}

/// The events of the cut, in order.
#[derive(Clone, Debug)]
struct Events(core::slice::Iter<'static, u8>);

impl Events {
    fn new() -> Self {
        let mut bytes = CUT.iter();
        bytes.find(|&&byte| byte == b'\n');
        Self(bytes)
    }

    fn number(&mut self) -> Option<usize> {
        let (mut number, mut shift) = (0, 0);
        loop {
            let byte = *self.0.next()?;
            number |= usize::from(byte & 0x7f) << shift;
            shift += 7;
            if byte < 0x80 {
                return Some(number);
            }
        }
    }
}

impl Iterator for Events {
    type Item = Event;

    fn next(&mut self) -> Option<Event> {
        let head = self.number()?;
        let slot = head / 4;
        match head % 4 {
            0 => Some(Event::Free { slot }),
            1 => self.number().map(|len| Event::Allocate { slot, len }),
            _ => self.number().map(|len| Event::Resize { slot, len }),
        }
    }
}

/// The bytes that are enough for a handle heap that replays the cut, aligned to a page.
///
/// # Errors
/// If no heap of this configuration can serve it.
pub fn certified_bytes<W: Width>(config: &Config) -> Result<usize, Failure> {
    metered::<W>(config).map_err(|_| Failure::Other("the recording has no certificate"))
}

fn metered<W: Width>(config: &Config) -> Result<usize, Uncertifiable> {
    let mut meter = DemandMeter::new::<W>(config);
    let mut lens = [0; scale::TRACE_SLOTS];
    for event in Events::new() {
        match event {
            Event::Allocate { slot, len } => {
                meter.allocate(len, ALIGN)?;
                lens[slot] = len;
            }
            Event::Resize { slot, len } => {
                meter.resize((lens[slot], ALIGN), (len, ALIGN))?;
                lens[slot] = len;
            }
            Event::Free { slot } => meter.free(lens[slot], ALIGN)?,
        }
    }
    Ok(certify::<W>(config, &meter.both())?.aligned_bytes)
}

/// Replays the cut; returns the number of events. The contents of an object are verified when it is
/// resized or freed, and those of all objects, with the heap's invariants, every hundred events.
///
/// # Errors
/// What the heap did wrong; a refusal is wrong.
pub fn replay<S: Store>(bench: &mut Bench<S, { scale::TRACE_SLOTS }>) -> Result<usize, Failure> {
    let mut events = 0;
    for event in Events::new() {
        apply(bench, event)?;
        require(bench.tally().refused == 0, "refused a recorded request")?;
        events += 1;
        if events % VERIFIED_EVERY == 0 {
            bench.verify()?;
        }
    }
    while let Some(slot) = bench.find(0, true) {
        bench.free(slot)?;
    }
    bench.verify()?;
    Ok(events)
}

fn apply<S: Store>(
    bench: &mut Bench<S, { scale::TRACE_SLOTS }>,
    event: Event,
) -> Result<(), Failure> {
    match event {
        Event::Allocate { slot, len } => {
            let layout = Layout::from_size_align(len, ALIGN);
            let layout = layout.map_err(|_| Failure::Other("no layout"))?;
            bench.allocate(slot, layout).map(drop)
        }
        Event::Resize { slot, len } => bench.resize(slot, len).map(drop),
        Event::Free { slot } => bench.free(slot),
    }
}
