//! The naive model: what a trace of the calls that arrived must hold, and a board that makes calls.

use surefit_trace::{Align, Event, Op};

use crate::sender::Call;

/// Where an object lies, and how long it is.
type Place = (u64, u64);

/// An object, where it lies, and how long.
type Object = (u64, u64, u32);

/// The events of the calls that arrived, by a list of objects that is searched from end to end.
pub(crate) fn events(calls: &[Call]) -> Vec<Event> {
    let mut threads = Vec::new();
    let mut live: Vec<Object> = Vec::new();
    let mut events = Vec::new();
    let mut next = 0;
    for call in calls {
        let Some((thread, old, placed)) = parts(*call) else {
            live.sort_by_key(|object| object.2);
            let frees = live
                .drain(..)
                .map(|(.., id)| Event::new(0, Op::Free { id }));
            events.extend(frees);
            continue;
        };
        let known = old.and_then(|old| live.iter().position(|object| object.0 == old));
        let known = known.map(|place| live.remove(place).2);
        if known.is_none() && placed.is_none() {
            continue;
        }
        let place = threads.iter().position(|known| *known == thread);
        let place = place.unwrap_or_else(|| {
            threads.push(thread);
            threads.len() - 1
        });
        let thread = u16::try_from(place).expect("few threads");
        let Some((address, size)) = placed else {
            let id = known.expect("it is known");
            events.push(Event::new(thread, Op::Free { id }));
            continue;
        };
        let id = known.unwrap_or_else(|| {
            next += 1;
            next - 1
        });
        let overlaps = |object: &Object| {
            object.0 < address + size.max(1) && address < object.0 + object.1.max(1)
        };
        let mut gone: Vec<_> = live.iter().copied().filter(overlaps).collect();
        live.retain(|object| !overlaps(object));
        gone.sort_by_key(|object| std::cmp::Reverse(object.0));
        events.extend(
            gone.into_iter()
                .map(|(.., id)| Event::new(thread, Op::Free { id })),
        );
        live.push((address, size, id));
        let op = match known {
            Some(id) => Op::Realloc { id, size },
            None => {
                let call = kind(*call);
                Op::Alloc { id, size, call }
            }
        };
        events.push(Event::new(thread, op));
    }
    events
}

/// The thread of a call, the object that it gives up, and the place and size of the one that it
/// gets; `None` if the board begins anew.
fn parts(call: Call) -> Option<(u64, Option<u64>, Option<Place>)> {
    Some(match call {
        Call::Begin => return None,
        Call::Malloc {
            thread,
            address,
            size,
        }
        | Call::Calloc {
            thread,
            address,
            size,
        }
        | Call::Aligned {
            thread,
            address,
            size,
            ..
        } => (thread, None, Some((address, size))),
        Call::Realloc {
            thread,
            old,
            address,
            size,
        } => (thread, Some(old), Some((address, size))),
        Call::Free { thread, address } => (thread, Some(address), None),
    })
}

fn kind(call: Call) -> surefit_trace::Call {
    match call {
        Call::Calloc { .. } => surefit_trace::Call::Calloc,
        Call::Aligned { log2, .. } => {
            let log2 = u8::try_from(log2).expect("small");
            surefit_trace::Call::Aligned(Align::from_log2(log2).expect("small"))
        }
        _ => surefit_trace::Call::Malloc,
    }
}

/// A program on a board whose heap never gives out a byte twice: first fit over a list.
#[derive(Debug, Default)]
pub(crate) struct Board {
    live: Vec<(u64, u64)>,
    pub(crate) calls: Vec<Call>,
}

impl Board {
    pub(crate) fn new() -> Self {
        let calls = vec![Call::Begin];
        Self {
            live: Vec::new(),
            calls,
        }
    }

    /// Makes the call that three numbers choose.
    pub(crate) fn step(&mut self, kind: u8, pick: u16, size: u64) {
        let thread = u64::from(pick % 40);
        let victim = usize::from(pick) % self.live.len().max(1);
        if self.live.is_empty() || kind < 5 {
            let address = self.place(size);
            self.calls.push(match kind {
                3 => Call::Calloc {
                    thread,
                    address,
                    size,
                },
                4 => Call::Aligned {
                    thread,
                    log2: 3,
                    address,
                    size,
                },
                _ => Call::Malloc {
                    thread,
                    address,
                    size,
                },
            });
        } else if kind < 6 {
            let (old, _) = self.live.swap_remove(victim);
            let address = self.place(size);
            self.calls.push(Call::Realloc {
                thread,
                old,
                address,
                size,
            });
        } else {
            let (address, _) = self.live.swap_remove(victim);
            self.calls.push(Call::Free { thread, address });
        }
    }

    fn place(&mut self, size: u64) -> u64 {
        self.live.sort_unstable();
        let mut address = 0;
        for (start, end) in &self.live {
            if address + size.max(1) <= *start {
                break;
            }
            address = end.next_multiple_of(8);
        }
        self.live.push((address, address + size.max(1)));
        address
    }
}
