//! Locality: on how many pages and cache lines objects lie that a program reaches one after the
//! other.
//!
//! A program often reaches objects in the order in which it allocated them (a list that is walked),
//! and frees them in an order of its own (a tree that dies). So the objects that live at the peak
//! are taken in both orders, in windows of [`WINDOW`], and in each window the distinct pages and
//! lines that hold an object's first byte are counted. The fewer there are, the fewer misses of
//! caches and of the table of addresses the program has; the replay itself, which makes the calls
//! only, has the same misses whatever the program does with its objects. Nothing here is timed.

use super::replay::Table;
use crate::results::{Locality, Near};
use crate::steps::{Action, Step};
use crate::subject::Subject;

/// Objects that are reached one after the other.
const WINDOW: usize = 64;

/// The logarithm of the bytes of a cache line, and of a page of the machine.
const LINE_LOG2: u32 = 6;
const PAGE_LOG2: u32 = 12;

/// No line: the greatest address is that of no object.
const NOWHERE: u64 = u64::MAX;

/// The objects of a replay, for their locality at the peak.
///
/// Its tables have their full size and are written before the replay begins, so that they are not
/// counted as memory of the allocator.
#[derive(Debug)]
pub(super) struct Places {
    /// For each slot, the last step of its object; a free if there is none.
    last: Vec<Step>,
    /// For each slot, when its object was allocated.
    born: Vec<u64>,
    /// For each slot, the line of its object at the peak, if this object still lives.
    lines: Vec<u64>,
    /// The lines of objects that lived at the peak, as they are freed.
    freed: Vec<u64>,
    freed_count: usize,
    by_birth: Option<Near>,
}

impl Places {
    pub(super) fn new(slots: usize) -> Self {
        let none = Step {
            size: 0,
            old: 0,
            slot: u32::MAX,
            action: Action::Free,
            align_log2: 0,
        };
        Self {
            last: vec![none; slots],
            born: vec![NOWHERE; slots],
            lines: vec![NOWHERE; slots],
            freed: vec![NOWHERE; slots],
            freed_count: 0,
            by_birth: None,
        }
    }

    /// Event number `event` is done.
    #[inline]
    pub(super) fn done(&mut self, step: Step, event: usize) {
        let slot = step.slot as usize;
        self.last[slot] = step;
        match step.action {
            Action::Allocate | Action::AllocateZeroed => self.born[slot] = event as u64,
            Action::Resize => (),
            Action::Free => self.freed(slot),
        }
    }

    fn freed(&mut self, slot: usize) {
        let line = std::mem::replace(&mut self.lines[slot], NOWHERE);
        if line != NOWHERE {
            self.freed[self.freed_count] = line;
            self.freed_count += 1;
        }
    }

    /// Notes where everything lies; it is called once, at the peak.
    #[cold]
    pub(super) fn at_peak<S: Subject>(&mut self, subject: &mut S, table: &mut Table<S::Object>) {
        for (slot, step) in self.last.iter().enumerate() {
            if step.action != Action::Free && step.size > 0 {
                // SAFETY: T1 of `replay`: the last step of the slot left an object in it.
                let object = unsafe { table.get_mut(step.slot) };
                // SAFETY: as above; the object has the size of its last step.
                let chunk = unsafe { subject.chunk(object, step.layout(), 0) };
                self.lines[slot] = chunk.as_ptr().addr() as u64 >> LINE_LOG2;
            }
        }
        self.by_birth = self.in_order_of_birth();
    }

    fn in_order_of_birth(&mut self) -> Option<Near> {
        // the room for what will be freed is still unused
        let mut count = 0;
        for (slot, line) in self.lines.iter().enumerate() {
            if *line != NOWHERE {
                self.freed[count] = slot as u64;
                count += 1;
            }
        }
        let order = &mut self.freed[..count];
        order.sort_unstable_by_key(|slot| self.born[*slot as usize]);
        for place in &mut *order {
            *place = self.lines[*place as usize];
        }
        near(order)
    }

    /// What was seen; `None` if too few objects lived at the peak.
    pub(super) fn locality(mut self) -> Option<Locality> {
        Some(Locality {
            by_birth: self.by_birth?,
            by_free: near(&mut self.freed[..self.freed_count]),
        })
    }
}

/// Counts the distinct pages and lines of each whole window; `None` if there is none.
fn near(lines: &mut [u64]) -> Option<Near> {
    let mut windows = 0_u64;
    let (mut all_lines, mut all_pages) = (0, 0);
    for window in lines.chunks_exact_mut(WINDOW) {
        window.sort_unstable();
        windows += 1;
        all_lines += distinct(window.iter().copied());
        all_pages += distinct(window.iter().map(|line| line >> (PAGE_LOG2 - LINE_LOG2)));
    }
    (windows > 0).then(|| Near {
        lines: all_lines as f64 / windows as f64,
        pages: all_pages as f64 / windows as f64,
    })
}

fn distinct(ascending: impl Iterator<Item = u64>) -> u64 {
    let mut last = NOWHERE;
    let differs = |value: &u64| std::mem::replace(&mut last, *value) != *value;
    ascending.filter(differs).count() as u64
}

#[cfg(test)]
mod tests {
    use surefit_trace::{Call, Event, Op, Trace};

    use super::{Near, WINDOW, near};
    use crate::results::Locality;
    use crate::single::{Setting, check};
    use crate::sizes::HeapSize;
    use crate::spec::{Choice, Spec};
    use crate::steps::Steps;

    #[test]
    fn distinct_pages_and_lines_are_counted_in_whole_windows() {
        assert_eq!(near(&mut [7; WINDOW - 1]), None);
        let mut same = [7; WINDOW + 1];
        same[WINDOW] = 1 << 40;
        let one = Near {
            lines: 1.0,
            pages: 1.0,
        };
        assert_eq!(near(&mut same), Some(one));
        // in the first window pairs of neighbours on two pages, in the second a page for each
        let mut lines: Vec<u64> = (0..64)
            .map(|object| 64 * (object % 2) + object / 4)
            .collect();
        lines.extend((0..64).rev().map(|object| 64 * object));
        let both = Near {
            lines: (32.0 + 64.0) / 2.0,
            pages: (2.0 + 64.0) / 2.0,
        };
        assert_eq!(near(&mut lines), Some(both));
    }

    /// The locality in a heap that places objects one behind the other, if the objects are freed in
    /// this order.
    fn seen(objects: u32, freed: impl Iterator<Item = u32>) -> Option<Locality> {
        let (size, call) = (56, Call::Malloc);
        let allocated = (0..objects).map(|id| Op::Alloc { id, size, call });
        let freed = freed.map(|id| Op::Free { id });
        let ops = allocated.chain(freed);
        let trace = Trace::new("near", ops.map(|op| Event::new(0, op)).collect()).expect("sound");
        let steps = Steps::new(&trace).expect("small");
        let spec = Spec::parse("tlsf").expect("a spec");
        let Choice::InProcess(kind) = &spec.choice else {
            panic!("in process");
        };
        let setting = Setting {
            heap: HeapSize::Bytes(1 << 20),
            touch: true,
        };
        let row = check(&spec, kind, &steps, setting).expect("it measures");
        assert!(row.completed, "{row:?}");
        row.locality
    }

    #[test]
    fn order_of_birth_and_order_of_frees_are_told_apart() {
        const OBJECTS: u32 = 1024;
        // each object with its header has a line, and 64 of them a page or two
        let backwards = seen(OBJECTS, (0..OBJECTS).rev()).expect("enough live");
        let near = backwards.by_birth;
        assert_eq!((near.lines, near.pages.ceil()), (64.0, 2.0));
        assert_eq!(backwards.by_free, Some(near));
        let scattered = seen(OBJECTS, (0..OBJECTS).map(|n| n * 33 % OBJECTS)).expect("as above");
        assert_eq!(scattered.by_birth, near);
        let freed = scattered.by_free.expect("all are freed");
        assert!(freed.pages > 15.0, "{freed:?}");
        // what is never freed has no order of frees
        let kept = seen(OBJECTS, 0..63).expect("enough live");
        assert_eq!((kept.by_birth, kept.by_free), (near, None));
        assert_eq!(seen(63, 0..63), None);
    }
}
