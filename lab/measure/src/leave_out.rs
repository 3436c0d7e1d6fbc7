//! Removes the largest objects from a trace, so that heaps which keep every object in one piece can
//! take part.
//!
//! Objects and threads are renumbered by their first appearance, as the format requires.

use anyhow::Result;
use surefit_trace::{Event, Op, Trace};

use crate::results::LeftOut;

/// Returns the trace without the objects that are ever larger than `largest` bytes, and what was
/// left out.
///
/// # Errors
/// More threads or objects than a trace can name: never, because the whole trace named them.
pub(crate) fn leave_out(whole: &Trace, largest: u64) -> Result<(Trace, LeftOut)> {
    let mut filter = Filter::new(whole, largest);
    let mut kept = Vec::with_capacity(whole.events().len());
    let mut stacks = Vec::new();
    for (number, event) in whole.events().iter().enumerate() {
        if let Some(event) = filter.keep(*event) {
            kept.push(event);
            stacks.push(whole.stack(number));
        }
    }
    let left_out = filter.left_out();
    let rest = Trace::new(whole.name(), kept)?;
    let rest = match whole.sites() {
        Some(sites) => rest.with_sites(sites.clone(), stacks)?,
        None => rest,
    };
    Ok((rest, left_out))
}

struct Filter {
    largest: u64,
    /// For each object of the whole trace, the greatest size it ever has.
    greatest: Vec<u64>,
    /// For each object left out, its current size.
    sizes: Vec<u64>,
    /// For each object kept, its new number.
    objects: Numbers,
    threads: Numbers,
    live_bytes: u64,
    peak_bytes: u64,
}

impl Filter {
    fn new(whole: &Trace, largest: u64) -> Self {
        let mut greatest = Vec::new();
        for event in whole.events() {
            match event.op() {
                Op::Alloc { size, .. } => greatest.push(size),
                Op::Realloc { id, size } => {
                    let known: &mut u64 = &mut greatest[id as usize];
                    *known = size.max(*known);
                }
                Op::Free { .. } => {}
            }
        }
        Self {
            largest,
            sizes: vec![0; greatest.len()],
            objects: Numbers::new(greatest.len()),
            threads: Numbers::new(1 << 16),
            greatest,
            live_bytes: 0,
            peak_bytes: 0,
        }
    }

    /// The event with its new numbers; `None` if its object is left out.
    fn keep(&mut self, event: Event) -> Option<Event> {
        let id = event.id();
        if self.greatest[id as usize] > self.largest {
            self.count(event.op());
            return None;
        }
        let id = self.objects.of(id as usize);
        let op = match event.op() {
            Op::Alloc { size, call, .. } => Op::Alloc { id, size, call },
            Op::Realloc { size, .. } => Op::Realloc { id, size },
            Op::Free { .. } => Op::Free { id },
        };
        let thread = self.threads.of(usize::from(event.thread()));
        Some(Event::new(thread as u16, op))
    }

    fn count(&mut self, op: Op) {
        let (id, size) = match op {
            Op::Alloc { id, size, .. } | Op::Realloc { id, size } => (id, size),
            Op::Free { id } => (id, 0),
        };
        let old = std::mem::replace(&mut self.sizes[id as usize], size);
        self.live_bytes = self.live_bytes - old + size;
        self.peak_bytes = self.peak_bytes.max(self.live_bytes);
    }

    fn left_out(&self) -> LeftOut {
        let objects = self.greatest.iter().filter(|size| **size > self.largest);
        LeftOut {
            larger_than_bytes: self.largest,
            objects: objects.count() as u64,
            peak_live_bytes: self.peak_bytes,
        }
    }
}

/// Numbers things in the order in which they first appear.
struct Numbers {
    known: Vec<Option<u32>>,
    next: u32,
}

impl Numbers {
    fn new(most: usize) -> Self {
        Self {
            known: vec![None; most],
            next: 0,
        }
    }

    fn of(&mut self, thing: usize) -> u32 {
        *self.known[thing].get_or_insert_with(|| {
            self.next += 1;
            self.next - 1
        })
    }
}

#[cfg(test)]
mod tests {
    use super::leave_out;
    use surefit_trace::{Call, Event, Frame, Op, SitesBuilder, Stack, Trace};

    fn alloc(id: u32, size: u64) -> Op {
        Op::Alloc {
            id,
            size,
            call: Call::Malloc,
        }
    }

    #[test]
    fn an_object_that_grows_too_large_is_left_out_from_its_start() {
        let events = vec![
            Event::new(0, alloc(0, 10)),
            Event::new(1, alloc(1, 100)),
            Event::new(0, Op::Realloc { id: 0, size: 101 }),
            Event::new(1, alloc(2, 7)),
            Event::new(0, alloc(3, 500)),
            Event::new(0, Op::Free { id: 0 }),
            Event::new(2, Op::Free { id: 1 }),
        ];
        let whole = Trace::new("t", events).expect("sound");
        let (rest, left_out) = leave_out(&whole, 100).expect("sound");
        let expected = [
            Event::new(0, alloc(0, 100)),
            Event::new(0, alloc(1, 7)),
            Event::new(1, Op::Free { id: 0 }),
        ];
        assert_eq!(rest.events(), expected);
        assert_eq!(left_out.objects, 2);
        assert_eq!(left_out.peak_live_bytes, 601);
        assert_eq!(left_out.larger_than_bytes, 100);
    }

    #[test]
    fn what_is_kept_keeps_its_call_site() {
        let mut builder = SitesBuilder::default();
        let [one, two] = [1, 2].map(|offset| {
            let frame = Frame {
                module: "a",
                offset,
                function: None,
            };
            builder.stack(&[frame])
        });
        let ops = [alloc(0, 10), alloc(1, 100), Op::Free { id: 0 }];
        let events = ops.map(|op| Event::new(0, op)).to_vec();
        let whole = Trace::new("t", events).expect("sound");
        let stacks = vec![one, two, Stack::UNKNOWN];
        let whole = whole.with_sites(builder.finish(), stacks).expect("known");
        let (rest, _) = leave_out(&whole, 50).expect("sound");
        assert_eq!((rest.stack(0), rest.events().len()), (one, 2));
        let (rest, _) = leave_out(&whole, 5).expect("sound");
        assert_eq!(rest.sites(), whole.sites());
        let (rest, _) = leave_out(&whole, 500).expect("sound");
        assert_eq!((rest.stack(0), rest.stack(1)), (one, two));
    }

    #[test]
    fn nothing_is_left_out_when_all_objects_are_small_enough() {
        let whole = Trace::new("t", vec![Event::new(0, alloc(0, 100))]).expect("sound");
        let (rest, left_out) = leave_out(&whole, 100).expect("sound");
        assert_eq!(rest, whole);
        assert_eq!((left_out.objects, left_out.peak_live_bytes), (0, 0));
    }
}
