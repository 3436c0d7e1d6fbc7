//! The heap map: where the live bytes of a region lie over time, and what moved.
//!
//! The region is looked at after events at equal distances. Each look asks every live object for
//! the addresses of its bytes, whatever allocator placed them. A *row* of the map is a range of
//! addresses, some whole pages; a *column* is one look. A cell holds two sums, both exact: the
//! requested bytes that lie in the row at this look, and the bytes that left the row since the look
//! before because a move took them elsewhere.
//!
//! While the replay runs, the region has up to 4096 rows. At the end, neighbouring rows are
//! added up until the rows that were ever used are at most [`ROWS`]. Nothing is sampled within a
//! look, and nothing is averaged over looks: what comes and goes between two looks is not seen.

use std::ops::Range;

use anyhow::Result as AnyResult;
use surefit_os::Reservation;

use super::replay::{Hooks, Stop, Stopped, Table, drain, replay};
use crate::registry::Kind;
use crate::sizes::HeapSize;
use crate::steps::{Action, Step, Steps};
use crate::subject::{Classes, Pass, Subject};

/// Looks at the region, at most.
const COLUMNS: usize = 144;

/// Rows of a finished map, at most.
pub const ROWS: usize = 192;

/// Rows of the region while the replay runs, at most.
const FINE_ROWS: usize = 4096;

/// The page of an allocator that reports none of its own: the kernel's, in bytes.
const OS_PAGE_BYTES: usize = 4096;

/// One replay that looks at the region.
#[derive(Clone, Debug)]
pub struct Mapping<'a> {
    /// The trace.
    pub steps: &'a Steps,
    /// The addresses of the region.
    pub region: Range<usize>,
}

/// Where live bytes lie over time.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct HeapMap {
    /// Bytes of a page.
    pub page_bytes: usize,
    /// Pages of a row.
    pub pages_per_row: usize,
    /// One element for each look.
    pub columns: Vec<Column>,
    /// The size-classes after the event with the most live bytes, if the heap reports them.
    pub classes_at_peak: Option<Classes>,
}

/// One look at the region.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Column {
    /// The event after which it was.
    pub event: u64,
    /// For each row, from the lowest address, the requested bytes of live objects.
    pub live: Vec<u64>,
    /// For each row, the bytes that moves took elsewhere since the last look.
    pub left: Vec<u64>,
}

impl HeapMap {
    /// The map of an allocator in a fresh region; `None` if it has no region, or does not complete
    /// the trace.
    ///
    /// # Errors
    /// The operating system gives no memory.
    pub fn of(kind: &Kind, steps: &Steps, heap: HeapSize) -> AnyResult<Option<Self>> {
        if !kind.in_region() {
            return Ok(None);
        }
        let bytes = kind.heap_bytes(heap, steps);
        let mut region = Reservation::new(bytes)?;
        let start = region.start().addr().get();
        let pass = Mapping {
            steps,
            region: start..start + bytes,
        };
        let outcome = kind.run_untimed(region.memory(), pass);
        Ok(outcome.ok().and_then(Result::ok))
    }

    /// Bytes of a row.
    #[must_use]
    pub const fn row_bytes(&self) -> usize {
        self.page_bytes * self.pages_per_row
    }

    /// The number of rows.
    #[must_use]
    pub fn rows(&self) -> usize {
        self.columns.first().map_or(0, |column| column.live.len())
    }

    /// The map with at most `most` rows: those that were never used at the end are cut off, and
    /// neighbours are added up.
    fn coarsened(mut self, most: usize) -> Self {
        let last = |column: &Column| column.live.iter().rposition(|bytes| *bytes > 0);
        let last = self.columns.iter().filter_map(last).max();
        let used = last.map_or(0, |last| last + 1);
        let together = used.div_ceil(most).max(1);
        let summed = |rows: &[u64]| -> Vec<u64> {
            let rows = rows[..used].chunks(together);
            rows.map(|rows| rows.iter().sum()).collect()
        };
        for column in &mut self.columns {
            column.live = summed(&column.live);
            column.left = summed(&column.left);
        }
        self.pages_per_row *= together;
        self
    }
}

impl Pass for Mapping<'_> {
    type Output = Result<HeapMap, Stopped>;

    fn run<S: Subject>(self, mut subject: S) -> Self::Output {
        let mut table = Table::new(self.steps.slots());
        let mut mapper = Mapper::new(&self, &subject);
        replay(&mut subject, &mut table, self.steps, &mut mapper)?;
        drain(&mut subject, table, self.steps);
        Ok(mapper.map.coarsened(ROWS))
    }
}

/// The object in a slot: its size and alignment, and where it was at the last look.
#[derive(Clone, Default)]
struct Placed {
    layout: Option<Step>,
    /// Its pieces in `Mapper::before`; empty if it is new or resized since.
    pieces: Range<usize>,
}

struct Mapper<'a> {
    steps: &'a Steps,
    /// Events from one look to the next.
    distance: usize,
    rows: Rows,
    placed: Vec<Placed>,
    /// The addresses of pieces at the last look.
    before: Vec<usize>,
    map: HeapMap,
}

/// Ranges of addresses, each of some whole pages.
struct Rows {
    /// Where the first one begins: at a page, at or before the region.
    start: usize,
    bytes: usize,
    count: usize,
}

impl Rows {
    fn new(region: &Range<usize>, page_bytes: usize, pages: usize) -> Self {
        let start = region.start / page_bytes * page_bytes;
        let bytes = page_bytes * pages;
        Self {
            start,
            bytes,
            count: (region.end - start).div_ceil(bytes).max(1),
        }
    }

    /// Adds the bytes of a piece of memory to the rows in which it lies.
    fn add(&self, to: &mut [u64], address: usize, bytes: usize) {
        let Some(mut offset) = address.checked_sub(self.start) else {
            return;
        };
        let end = offset + bytes;
        while offset < end {
            let row = offset / self.bytes;
            let next = end.min((row + 1) * self.bytes);
            if let Some(sum) = to.get_mut(row) {
                *sum += (next - offset) as u64;
            }
            offset = next;
        }
    }
}

impl<'a> Mapper<'a> {
    fn new<S: Subject>(pass: &Mapping<'a>, subject: &S) -> Self {
        let page_bytes = subject.classes().map_or(OS_PAGE_BYTES, |it| it.page_bytes);
        let pages = pass.region.len().div_ceil(page_bytes);
        let pages_per_row = pages.div_ceil(FINE_ROWS).max(1);
        Self {
            steps: pass.steps,
            distance: pass.steps.steps().len().div_ceil(COLUMNS).max(1),
            rows: Rows::new(&pass.region, page_bytes, pages_per_row),
            placed: vec![Placed::default(); pass.steps.slots()],
            before: Vec::new(),
            map: HeapMap {
                page_bytes,
                pages_per_row,
                ..HeapMap::default()
            },
        }
    }

    /// The objects after a step.
    fn follow(&mut self, step: Step) {
        let placed = &mut self.placed[step.slot as usize];
        *placed = Placed {
            layout: (step.action != Action::Free).then_some(step),
            pieces: 0..0,
        };
    }

    fn look<S: Subject>(&mut self, subject: &mut S, table: &mut Table<S::Object>, event: usize) {
        let rows = vec![0; self.rows.count];
        let mut column = Column {
            event: event as u64,
            live: rows.clone(),
            left: rows,
        };
        let mut now = Vec::with_capacity(self.before.len());
        for (slot, placed) in self.placed.iter_mut().enumerate() {
            let Some(step) = placed.layout else { continue };
            // SAFETY: T1: the slot holds an object, of the layout of its last step (`follow`).
            let object = unsafe { table.get_mut(slot as u32) };
            let first = now.len();
            let mut offset = 0;
            while offset < step.size as usize {
                // SAFETY: as above; the bytes are not touched.
                let piece = unsafe { subject.chunk(object, step.layout(), offset) };
                let (address, bytes) = (piece.as_ptr().addr(), piece.len());
                if bytes == 0 {
                    break;
                }
                self.rows.add(&mut column.live, address, bytes);
                let before = placed.pieces.start + (now.len() - first);
                let before = self.before[..placed.pieces.end].get(before);
                if let Some(before) = before.filter(|before| **before != address) {
                    self.rows.add(&mut column.left, *before, bytes);
                }
                now.push(address);
                offset += bytes;
            }
            placed.pieces = first..now.len();
        }
        self.before = now;
        self.map.columns.push(column);
    }
}

impl<S: Subject> Hooks<S> for Mapper<'_> {
    fn done(
        &mut self,
        subject: &mut S,
        table: &mut Table<S::Object>,
        step: Step,
        event: usize,
    ) -> Result<(), Stop> {
        self.follow(step);
        if event == self.steps.peak_event {
            self.map.classes_at_peak = subject.classes();
        }
        if event % self.distance == 0 {
            self.look(subject, table, event);
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use surefit_trace::{Call, Event, Op, Trace};

    use super::{COLUMNS, Column, HeapMap, ROWS, Rows};
    use crate::sizes::HeapSize;
    use crate::spec::{Choice, Spec};
    use crate::steps::Steps;

    const CALL: Call = Call::Malloc;

    fn map(allocator: &str, ops: &[Op]) -> (Steps, HeapMap) {
        let events = ops.iter().map(|op| Event::new(0, *op)).collect();
        let steps = Steps::new(&Trace::new("test", events).expect("sound")).expect("small");
        let Choice::InProcess(kind) = Spec::parse(allocator).expect("a name").choice else {
            panic!("{allocator} is in this process");
        };
        let map = HeapMap::of(&kind, &steps, HeapSize::Bytes(1 << 20)).expect("memory");
        (steps, map.expect("every request is served"))
    }

    fn alloc(id: u32, size: u64) -> Op {
        Op::Alloc {
            id,
            size,
            call: CALL,
        }
    }

    /// The live bytes after each event, by the trace alone.
    fn live(steps: &Steps) -> Vec<u64> {
        let mut live = 0;
        let after = |step: &crate::steps::Step| {
            live = match step.action {
                crate::steps::Action::Free => live - u64::from(step.size),
                _ => live + u64::from(step.size) - u64::from(step.old),
            };
            live
        };
        steps.steps().iter().map(after).collect()
    }

    #[test]
    fn every_look_finds_exactly_the_live_bytes() {
        let mut ops = vec![alloc(0, 9000), alloc(1, 100), alloc(2, 0)];
        ops.extend([Op::Realloc { id: 1, size: 5000 }, Op::Free { id: 0 }]);
        ops.extend((3..300).map(|id| alloc(id, 7 * u64::from(id))));
        ops.extend((3..300).filter(|id| id % 3 > 0).map(|id| Op::Free { id }));
        for allocator in [
            "cf",
            "cf:branded",
            "cf-direct",
            "tlsf",
            "peer-dlmalloc",
            "n-cf",
        ] {
            let (steps, map) = map(allocator, &ops);
            let live = live(&steps);
            assert!(map.columns.len() > 50 && map.columns.len() <= COLUMNS);
            for column in &map.columns {
                let sum: u64 = column.live.iter().sum();
                assert_eq!(sum, live[column.event as usize], "{allocator}");
                let most = column.live.iter().max().expect("rows");
                assert!(*most <= map.row_bytes() as u64, "{allocator}");
            }
            assert!(map.rows() <= ROWS);
            let moves = map.columns.iter().flat_map(|column| &column.left);
            let moved = moves.sum::<u64>() > 0;
            assert_eq!(
                moved,
                allocator == "cf" || allocator == "cf:branded" || allocator == "n-cf",
                "{allocator}"
            );
        }
    }

    #[test]
    fn the_classes_at_the_peak_are_those_of_the_heap() {
        let ops: Vec<_> = (0..1000).map(|id| alloc(id, 100)).collect();
        let (_, map) = map("cf:page=4K", &ops);
        let classes = map.classes_at_peak.expect("a heap of size-classes");
        assert_eq!((classes.page_bytes, map.page_bytes), (4096, 4096));
        let used: Vec<_> = classes.classes.iter().filter(|it| it.pages > 0).collect();
        let [only] = used.as_slice() else {
            panic!("one class: {used:?}");
        };
        assert_eq!(only.live_blocks, 1000);
        assert!(
            only.block_bytes >= 100 && only.block_bytes < 128,
            "{only:?}"
        );
        assert_eq!(only.pages, 1000_u64.div_ceil(only.blocks));
        assert!(only.not_full_pages <= 1, "{only:?}");
        assert_eq!(
            classes.classes.len(),
            classes.classes.iter().filter(|it| it.pages == 0).count() + 1
        );
    }

    #[test]
    fn rows_share_what_lies_across_their_ends() {
        let rows = Rows::new(&(10_000..30_000), 4096, 1);
        assert_eq!((rows.start, rows.count), (8192, 6));
        let mut sums = vec![0; rows.count];
        rows.add(&mut sums, 12_000, 5000);
        assert_eq!(sums, [288, 4096, 616, 0, 0, 0]);
        rows.add(&mut sums, 100, 50);
        assert_eq!(
            sums.iter().sum::<u64>(),
            5000,
            "what lies before is no row's"
        );
    }

    #[test]
    fn neighbours_are_added_up_and_unused_rows_go() {
        let column = |live: &[u64]| Column {
            event: 0,
            live: live.to_vec(),
            left: vec![1; live.len()],
        };
        let map = HeapMap {
            page_bytes: 4096,
            pages_per_row: 2,
            columns: vec![
                column(&[1, 2, 3, 4, 0, 0, 0]),
                column(&[0, 0, 0, 0, 5, 0, 0]),
            ],
            classes_at_peak: None,
        };
        let coarse = map.coarsened(3);
        assert_eq!((coarse.pages_per_row, coarse.row_bytes()), (4, 16384));
        assert_eq!(coarse.columns[0].live, [3, 7, 0]);
        assert_eq!(coarse.columns[1].live, [0, 0, 5]);
        assert_eq!(coarse.columns[0].left, [2, 2, 1]);
    }

    #[test]
    fn what_has_no_region_or_does_not_complete_has_no_map() {
        let ops = [alloc(0, 2 << 20)];
        let events = ops.iter().map(|op| Event::new(0, *op)).collect();
        let steps = Steps::new(&Trace::new("t", events).expect("sound")).expect("small");
        for allocator in ["system", "cf-os", "tlsf", "cf:pieces=off"] {
            let Choice::InProcess(kind) = Spec::parse(allocator).expect("a name").choice else {
                panic!("{allocator} is in this process");
            };
            let map = HeapMap::of(&kind, &steps, HeapSize::Bytes(1 << 20));
            assert_eq!(map.expect("memory"), None, "{allocator}");
        }
    }

    #[test]
    fn a_trace_without_objects_has_a_map_without_rows() {
        let (_, empty) = map("cf", &[]);
        assert_eq!((empty.rows(), empty.columns.len()), (0, 0));
        let (_, zero) = map("tlsf", &[alloc(0, 0)]);
        assert_eq!((zero.rows(), zero.columns.len()), (0, 1));
    }
}
