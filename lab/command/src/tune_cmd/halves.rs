//! A trace as two: each object is in one half or the other, by chance.
//!
//! The halves have the same phases and disjoint objects, so one half judges what was tuned on the
//! other where no second recording exists.

use anyhow::Result;
use surefit_trace::{Event, Op, Trace};

/// Both halves of a trace.
///
/// # Errors
/// Never: what is left out of a sound trace leaves a sound one.
pub(super) fn halves(whole: &Trace) -> Result<[Trace; 2]> {
    let mut halves = [Half::default(), Half::default()];
    for event in whole.events() {
        halves[half_of(event.id())].add(*event);
    }
    let [first, second] = halves;
    Ok([
        Trace::new(whole.name(), first.events)?,
        Trace::new(whole.name(), second.events)?,
    ])
}

/// The half of an object: a bit of its number, mixed as in SplitMix64.
fn half_of(id: u32) -> usize {
    let mixed = (u64::from(id) + 1).wrapping_mul(0x9E37_79B9_7F4A_7C15);
    let mixed = (mixed ^ (mixed >> 30)).wrapping_mul(0xBF58_476D_1CE4_E5B9);
    let mixed = (mixed ^ (mixed >> 27)).wrapping_mul(0x94D0_49BB_1331_11EB);
    (mixed >> 63) as usize
}

/// The events of some objects; objects and threads are numbered by their first appearance.
#[derive(Default)]
struct Half {
    events: Vec<Event>,
    objects: Numbers,
    threads: Numbers,
}

impl Half {
    fn add(&mut self, event: Event) {
        let id = self.objects.of(event.id());
        let op = match event.op() {
            Op::Alloc { size, call, .. } => Op::Alloc { id, size, call },
            Op::Realloc { size, .. } => Op::Realloc { id, size },
            Op::Free { .. } => Op::Free { id },
        };
        let thread = self.threads.of(u32::from(event.thread()));
        self.events.push(Event::new(thread as u16, op));
    }
}

/// Numbers things in the order in which they first appear.
#[derive(Default)]
struct Numbers {
    known: Vec<Option<u32>>,
    next: u32,
}

impl Numbers {
    fn of(&mut self, thing: u32) -> u32 {
        let thing = thing as usize;
        if thing >= self.known.len() {
            self.known.resize(thing + 1, None);
        }
        *self.known[thing].get_or_insert_with(|| {
            self.next += 1;
            self.next - 1
        })
    }
}

#[cfg(test)]
mod tests {
    use super::halves;
    use surefit_trace::{Call, Event, Op, Trace};

    #[test]
    fn every_object_is_in_one_half() {
        let call = Call::Malloc;
        let size = |id: u32| u64::from(id) + 1;
        let alloc = |id| Op::Alloc {
            id,
            size: size(id),
            call,
        };
        let mut events: Vec<_> = (0..1000).map(|id| Event::new(0, alloc(id))).collect();
        events.push(Event::new(1, Op::Realloc { id: 7, size: 5000 }));
        events.extend((0..1000).map(|id| Event::new(2, Op::Free { id })));
        let whole = Trace::new("t", events).expect("sound");
        let halves = halves(&whole).expect("sound");
        let counts = halves.each_ref().map(|half| half.header().counts);
        assert_eq!(counts[0].objects + counts[1].objects, 1000);
        assert!(
            counts[0].objects > 400 && counts[1].objects > 400,
            "{counts:?}"
        );
        let bytes = counts[0].peak_bytes + counts[1].peak_bytes;
        assert_eq!(bytes, whole.header().counts.peak_bytes);
        let events = counts[0].events + counts[1].events;
        assert_eq!(events, 2001);
    }
}
