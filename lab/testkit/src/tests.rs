//! Tests the test kit with a heap that does everything wrong, one thing at a time.

use std::alloc::Layout;
use std::ops::Range;
use std::ptr::NonNull;

use surefit_core::{Corruption, RawHeap, Refused, Usage, ensure};

use crate::{Fault, JunkRegion, Op, ShadowHeap, ShadowModel, Shape, run_script, script};

/// What the heap under test does wrong.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Wrong {
    Nothing,
    Overlap,
    Contained,
    Misaligned,
    Outside,
    Before,
    Scribbles,
    ResizeForgets,
    ResizeRefusesAndScribbles,
    UsageTooSmall,
    NotSound,
    RefusalLeaks,
}

/// A heap that takes memory from the front and never reuses it.
#[derive(Debug)]
struct Bump {
    /// The first byte of the region. Some memory before and behind it belongs to the heap too, but
    /// the kit does not know it.
    first: NonNull<u8>,
    bytes: usize,
    used: usize,
    live: usize,
    wrong: Wrong,
}

/// Memory on either side of the region of a `Bump`.
const MARGIN: usize = 1024;

impl Bump {
    fn new(memory: &mut JunkRegion, wrong: Wrong) -> (Self, Range<usize>) {
        let (span, memory) = (memory.span(), memory.memory());
        let bytes = memory.len() - 2 * MARGIN;
        let heap = Self {
            first: NonNull::from(memory).cast(),
            bytes,
            used: 0,
            live: 0,
            wrong,
        };
        let heap = Self {
            first: heap.at(MARGIN),
            ..heap
        };
        (heap, span.start + MARGIN..span.end - MARGIN)
    }

    fn at(&self, offset: usize) -> NonNull<u8> {
        // SAFETY: every offset that the tests use lies inside the region, and its margin.
        unsafe { self.first.add(offset) }
    }
}

// SAFETY: it is as wrong as the test wants, but all pointers point into the memory with its
// margins.
unsafe impl RawHeap for Bump {
    fn allocate(&mut self, layout: Layout) -> Result<NonNull<u8>, Refused> {
        let size = layout.size().max(1);
        let first = self.at(0).addr().get();
        let mut offset = (first + self.used).next_multiple_of(layout.align()) - first;
        if offset + size > self.bytes {
            self.used += usize::from(self.wrong == Wrong::RefusalLeaks);
            return Err(Refused::NoChunk);
        }
        self.used = offset + size;
        self.live += size;
        if self.live > size {
            match self.wrong {
                Wrong::Overlap => offset -= layout.align(),
                Wrong::Contained => offset = 16,
                Wrong::Misaligned => offset += 1,
                Wrong::Outside => offset = self.bytes - size / 2,
                // SAFETY: the margin before the region is larger.
                Wrong::Before => return Ok(unsafe { self.first.sub(8) }),
                // SAFETY: the first object is live and this long.
                Wrong::Scribbles => unsafe { self.at(3).write(0xEE) },
                _ => {}
            }
        }
        Ok(self.at(offset))
    }

    unsafe fn free(&mut self, _object: NonNull<u8>, layout: Layout) {
        self.live -= layout.size().max(1);
    }

    unsafe fn resize(
        &mut self,
        object: NonNull<u8>,
        layout: Layout,
        new_size: usize,
    ) -> Result<NonNull<u8>, Refused> {
        if self.wrong == Wrong::ResizeRefusesAndScribbles {
            // SAFETY: the object is live and not empty in this test.
            unsafe { object.write(0xEE) };
            return Err(Refused::NoChunk);
        }
        let new_layout = Layout::from_size_align(new_size, layout.align()).expect("a valid layout");
        let moved = self.allocate(new_layout)?;
        if self.wrong != Wrong::ResizeForgets {
            // SAFETY: both objects are live, disjoint and at least this long.
            unsafe { object.copy_to_nonoverlapping(moved, layout.size().min(new_size)) };
        }
        self.live -= layout.size().max(1);
        Ok(moved)
    }

    fn usage(&self) -> Usage {
        let short = usize::from(self.wrong == Wrong::UsageTooSmall);
        Usage {
            block_bytes: self.live,
            administrative_bytes: self.used - self.live,
            free_page_bytes: self.bytes - self.used - short,
            ..Usage::default()
        }
    }

    fn check(&self) -> Result<(), Corruption> {
        let sound = !matches!(self.wrong, Wrong::NotSound);
        ensure(sound, "B1", "wrong on purpose", 0)
    }
}

/// Runs operations on a heap that does something wrong.
fn run(wrong: Wrong, ops: &[Op]) -> Result<crate::Tally, Fault> {
    let mut memory = JunkRegion::new(4096, 64, 1);
    let (mut heap, region) = Bump::new(&mut memory, wrong);
    run_script(&mut heap, region, ops, 1)
}

const ALLOC: Op = Op::Alloc { size: 40, align: 8 };

#[test]
fn a_correct_heap_has_no_fault() {
    let tally = run(
        Wrong::Nothing,
        &[ALLOC, ALLOC, Op::Resize(0, 90), Op::Free(1)],
    );
    let tally = tally.expect("no fault");
    assert_eq!((tally.allocated, tally.freed, tally.resized), (2, 1, 1));
    assert_eq!(
        (tally.peak_bytes, tally.in_place, tally.refused),
        (130, 0, 0)
    );
}

#[test]
fn every_fault_is_found() {
    let expected = [
        (Wrong::Overlap, "overlaps"),
        (Wrong::Contained, "overlaps"),
        (Wrong::Misaligned, "aligned"),
        (Wrong::Outside, "outside"),
        (Wrong::Before, "outside"),
        (Wrong::Scribbles, "holds 0xee at byte 3"),
        (Wrong::ResizeForgets, "holds"),
        (Wrong::ResizeRefusesAndScribbles, "holds 0xee at byte 0"),
        (Wrong::UsageTooSmall, "add up"),
        (Wrong::NotSound, "B1"),
        (Wrong::RefusalLeaks, "refusal changed"),
    ];
    let ops = [
        ALLOC,
        ALLOC,
        Op::Resize(0, 90),
        Op::Alloc {
            size: 4000,
            align: 8,
        },
    ];
    for (wrong, says) in expected {
        let fault = run(wrong, &ops).expect_err("a fault").to_string();
        assert!(fault.contains(says), "{wrong:?}: {fault}");
    }
}

#[test]
fn operations_on_nothing_are_skipped() {
    let tally = run(Wrong::Nothing, &[Op::Free(3), Op::Resize(7, 10)]);
    assert_eq!(tally, Ok(crate::Tally::default()));
}

#[test]
fn the_model_counts_bytes_and_never_reuses_an_identity() {
    let mut model = ShadowModel::new();
    let first = model.insert(10, 'a');
    model.insert(20, 'b');
    assert_eq!(model.remove(0), (first, 10, 'a'));
    assert_ne!(model.insert(5, 'c'), first);
    model.resize(0, 50);
    assert_eq!(
        (model.live_bytes(), model.peak_bytes(), model.live_objects()),
        (55, 55, 2)
    );
    assert_eq!(model.place(5), Some(1));
    assert_eq!(model.get_mut(1).1, 5);
    assert_eq!(ShadowModel::<()>::new().place(5), None);
}

#[test]
fn patterns_tell_objects_and_offsets_apart() {
    let mut model = ShadowModel::new();
    let [one, other] = [(); 2].map(|()| model.insert(64, ()));
    let mut bytes = [0; 64];
    one.fill(0, &mut bytes);
    assert_eq!(one.verify(0, &bytes), Ok(()));
    assert_eq!(one.verify(16, &bytes[16..]), Ok(()));
    assert!(one.verify(8, &bytes).is_err(), "shifted");
    assert!(other.verify(0, &bytes).is_err(), "another object's");
}

#[test]
fn regions_are_aligned_junk() {
    let mut region = JunkRegion::misaligned(1000, 256, 24, 9);
    assert_eq!(region.span().start % 256, 24);
    assert_eq!(region.span().len(), 1000);
    assert_eq!(region.memory().len(), 1000);
    assert_eq!(region.memory().as_ptr().addr(), region.span().start);
}

#[test]
fn a_shadow_heap_can_be_driven_by_hand() {
    let mut memory = JunkRegion::new(1 << 16, 64, 1);
    let (mut heap, region) = Bump::new(&mut memory, Wrong::Nothing);
    let mut shadow = ShadowHeap::new(&mut heap, region);
    for op in script(Shape::Random, 1, 100, 64) {
        shadow.run(op).expect("no fault");
    }
    assert!(shadow.live_objects() > 0);
    shadow.free_all().expect("no fault");
    shadow.verify().expect("no fault");
    assert_eq!(shadow.heap().live, 0);
}
