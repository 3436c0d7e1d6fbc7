//! A view reaches what its heap reaches, however the heap grows meanwhile. What the borrow of the
//! heap forbids does not compile (`ui`).

use core::alloc::Layout;
use core::mem::MaybeUninit;
use core::ptr;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::time::Duration;

use surefit_compact::branded::{BrandedBytes, BrandedView, Scoped};
use surefit_compact::os::{Limits, OsHeap};
use surefit_compact::{
    Bound, Bytes, Config, Geometry, GeometrySpec, Handle, Heap, Keyed, Medium, Narrow, Spacing,
    Tail, View, Wide, Width,
};
use surefit_core::Refused;
use surefit_testkit::{JunkRegion, Op, Shape, script};

static CONFIG: Config = Config::DEFAULT;

/// Miri is slow: there, scripts are short, and few objects live.
const STEPS: usize = if cfg!(miri) { 40 } else { 1200 };

fn region(bytes: usize) -> JunkRegion {
    JunkRegion::new(bytes, 16384, 5)
}

fn layout(size: usize, align: usize) -> Layout {
    Layout::from_size_align(size, align).expect("valid")
}

/// Pages of 1 KiB and pieces of 64 bytes, so that a short script moves much and has large spines.
fn small(width: usize) -> Config {
    let spec = GeometrySpec {
        page_bytes: 1024,
        granule: 8,
        smallest: 16,
        spacing: Spacing::Fraction(8),
        tail: Tail::BackReferences { bytes: width },
    };
    let geometry = Geometry::new(&spec).expect("valid");
    let config = Config::new(geometry, Bound::Pages(1)).expect("valid");
    config.with_pieces(Some(64)).expect("valid")
}

// ---- beside the heap ---------------------------------------------------------------------------

/// What a view says of an object, with an access of every byte.
fn agrees<W: Width>(heap: &Heap<'_, W>, view: View<'_, W>, bytes: &mut Bytes) {
    let len = bytes.len();
    for offset in [0, len / 3, len.saturating_sub(1), len] {
        let (ours, theirs) = (view.chunk(bytes, offset), heap.chunk(bytes, offset));
        assert!(ours.is_empty() && theirs.is_empty() || ptr::eq(ours, theirs));
        let (chunk, at) = (ptr::from_ref(ours), view.chunk_mut(bytes, offset));
        assert!(at.is_empty() || ptr::eq(chunk, ptr::from_mut(at)));
    }
    assert_eq!(view.bytes(bytes).is_none(), len > 64, "in pieces");
    assert_eq!(view.bytes(bytes).map_or(len, <[u8]>::len), len);
    if let Some(all) = view.bytes_mut(bytes) {
        all.iter_mut().for_each(|byte| *byte ^= 1);
        all.iter_mut().for_each(|byte| *byte ^= 1);
    }
}

fn sees_what_its_heap_sees<W: Width>(seed: u64) {
    let config = small(W::WORD_BYTES);
    let mut memory = region(96 << 10);
    let mut heap: Heap<W> = Heap::new(memory.memory(), &config).expect("large enough");
    let mut live: Vec<(Bytes, Handle<u64>)> = Vec::new();
    for (number, op) in (0..).zip(script(Shape::Drift, seed, STEPS, 900)) {
        match op {
            Op::Alloc { size, align } => {
                let value = heap.insert(number);
                let bytes = heap.alloc_zeroed(layout(size, align.min(64)));
                match (bytes, value) {
                    (Ok(bytes), Ok(value)) => live.push((bytes, value)),
                    (bytes, value) => {
                        bytes.into_iter().for_each(|bytes| heap.free_bytes(bytes));
                        value.into_iter().for_each(|value| heap.free(value));
                    }
                }
            }
            Op::Free(nth) if !live.is_empty() => {
                let (bytes, value) = live.swap_remove(nth % live.len());
                heap.free_bytes(bytes);
                heap.free(value);
            }
            Op::Free(_) | Op::Resize(..) => {}
        }
        let view = heap.view();
        for (bytes, value) in &mut live {
            agrees(&heap, view, bytes);
            assert!(ptr::eq(view.get(value), heap.get(value)));
            *view.get_mut(value) += 1;
            *view.try_get_mut(value).expect("its own") -= 1;
            assert_eq!(view.try_get(value), heap.try_get(value));
        }
    }
    assert!(heap.stats().moves_total > 0 || cfg!(miri));
    heap.check().expect("sound");
}

#[test]
fn a_view_sees_what_its_heap_sees() {
    sees_what_its_heap_sees::<Wide>(1);
    sees_what_its_heap_sees::<Medium>(2);
    sees_what_its_heap_sees::<Narrow>(3);
    sees_what_its_heap_sees::<Keyed<Wide>>(4);
}

#[test]
fn a_view_of_a_branded_heap_sees_what_the_heap_sees() {
    let config = small(4);
    let mut memory = region(256 << 10);
    let mut heap: Heap = Heap::new(memory.memory(), &config).expect("large enough");
    heap.branded(|heap| {
        let count = if cfg!(miri) { 20 } else { 200_usize };
        let made = (0..count).map(|number| {
            let bytes = heap.alloc_zeroed(layout(number * 7, 8)).expect("room");
            (bytes, heap.insert(number).expect("room"))
        });
        let mut live: Vec<(BrandedBytes<Scoped<'_>>, _)> = made.collect();
        // Every second one goes, so that others move.
        for number in (0..count / 2).rev() {
            let (bytes, value) = live.remove(2 * number);
            heap.free_bytes(bytes);
            heap.free(value);
        }
        let view = heap.view();
        for (bytes, value) in &mut live {
            let len = bytes.len();
            assert!(ptr::eq(view.get(value), heap.get(value)));
            *view.get_mut(value) += len;
            assert_eq!(*heap.get(value), 8 * (len / 7));
            for offset in [0, len / 2, len] {
                let (ours, theirs) = (view.chunk(bytes, offset), heap.chunk(bytes, offset));
                assert!(ours.is_empty() && theirs.is_empty() || ptr::eq(ours, theirs));
                view.chunk_mut(bytes, offset).fill(3);
            }
            assert_eq!(view.bytes(bytes).is_none(), len > 64, "in pieces");
            if let Some(all) = view.bytes_mut(bytes) {
                all.fill(5);
            }
            let content = if len > 64 { 3 } else { 5 };
            assert!(heap.chunk(bytes, 0).iter().all(|&byte| byte == content));
        }
        let offset = live[0].0.len() + 1;
        let beyond = catch_unwind(AssertUnwindSafe(|| view.chunk(&live[0].0, offset)));
        assert!(beyond.is_err(), "an offset beyond the object");
        heap.as_heap().check().expect("sound");
    });
}

// ---- while the heap grows ----------------------------------------------------------------------

/// V1: the table grows by pages, and pages of objects are opened, while one view lives.
#[test]
fn a_view_stays_right_while_the_heap_fills() {
    let config = small(4);
    let mut memory = region(if cfg!(miri) { 32 << 10 } else { 1 << 20 });
    let heap: Heap = Heap::new(memory.memory(), &config).expect("large enough");
    let view = heap.view();
    let mut handles = Vec::new();
    while let Ok(handle) = heap.insert(handles.len()) {
        assert_eq!(*view.get(&handle), handles.len());
        handles.push(handle);
    }
    assert!(handles.len() > 500, "more than a page of entries");
    for (number, handle) in handles.iter().enumerate() {
        assert_eq!(*view.get(handle), number);
        assert!(ptr::eq(view.get(handle), heap.view().get(handle)));
    }
}

/// V1: memory that a heap takes from the system lies behind what it has.
#[test]
#[cfg_attr(miri, ignore = "Miri has no system that reserves memory")]
fn a_view_stays_right_while_the_heap_takes_memory() {
    let limits = Limits {
        delay: Duration::ZERO,
        ..Limits::new(64 << 20, 64 << 20)
    };
    let mut os: OsHeap<'_> = OsHeap::new(&CONFIG, limits).expect("a system that reserves");
    let before = os.measure_resident().expect("counted");
    let mut handles = Vec::new();
    {
        let heap = os.heap();
        let view = heap.view();
        for number in 0..100_000_u64 {
            handles.push(heap.insert([number; 20]).expect("room"));
            assert_eq!(view.get(&handles[number as usize / 2])[7], number / 2);
        }
        for (number, handle) in (0..).zip(&mut handles) {
            view.get_mut(handle)[7] += 1;
            assert_eq!(heap.get(handle)[7], number + 1);
        }
    }
    assert!(os.measure_resident().expect("counted") > before);
    handles.into_iter().for_each(|handle| os.free(handle));
    os.check().expect("sound");
}

// ---- what is refused ---------------------------------------------------------------------------

#[test]
fn handles_of_another_heap_are_refused_by_every_call() {
    let mut memory = [region(1 << 18), region(1 << 18)];
    let [ours, theirs] = memory
        .each_mut()
        .map(|region| Heap::<Wide>::new(region.memory(), &CONFIG).expect("large enough"));
    let mut value = theirs.insert(7_u64).expect("room");
    let mut bytes = theirs.alloc_zeroed(layout(9, 8)).expect("room");
    let view = ours.view();
    assert_eq!(view.try_get(&value), Err(Refused::ForeignHandle));
    assert_eq!(view.try_get_mut(&mut value), Err(Refused::ForeignHandle));
    let panics = |call: &mut dyn FnMut()| catch_unwind(AssertUnwindSafe(call)).is_err();
    assert!(panics(&mut || _ = view.get(&value)));
    assert!(panics(&mut || _ = view.get_mut(&mut value)));
    assert!(panics(&mut || _ = view.bytes(&bytes)));
    assert!(panics(&mut || _ = view.bytes_mut(&mut bytes)));
    assert!(panics(&mut || _ = view.chunk(&bytes, 0)));
    assert!(panics(&mut || _ = view.chunk_mut(&mut bytes, 0)));
    assert_eq!(*theirs.get(&value), 7);
    assert!(theirs.view().chunk(&bytes, 9).is_empty());
    assert!(panics(&mut || _ = theirs.view().chunk(&bytes, 10)));
    assert!(format!("{view:?}").starts_with("View(heap "));
}

/// Two implementations fit a type that threads may send: then the call below is ambiguous, and does
/// not compile.
trait StaysOnItsThread<A> {
    fn stays() {}
}
impl<T> StaysOnItsThread<()> for T {}
impl<T: Send> StaysOnItsThread<u8> for T {}

#[test]
fn a_view_stays_on_its_thread() {
    <View<'_> as StaysOnItsThread<_>>::stays();
    <BrandedView<'_, Scoped<'_>> as StaysOnItsThread<_>>::stays();
    <&View<'_> as StaysOnItsThread<_>>::stays();
}

#[test]
fn different_objects_are_borrowed_mutably_at_once() {
    let mut memory = vec![MaybeUninit::uninit(); 1 << 18];
    let heap: Heap = Heap::new(&mut memory, &CONFIG).expect("large enough");
    let (mut one, mut two) = (heap.insert(1).expect("room"), heap.insert(2).expect("room"));
    let (view, copy) = (heap.view(), heap.view());
    let (first, second) = (view.get_mut(&mut one), copy.get_mut(&mut two));
    core::mem::swap(first, second);
    *second += heap.view().get(&heap.insert(5).expect("room"));
    assert_eq!([*first, *second], [2, 6]);
}
