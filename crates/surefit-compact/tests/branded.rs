//! Branded heaps do what heaps do: the same script leads both through the same states. What the
//! brand forbids does not compile (`ui`).

use core::alloc::Layout;
use core::mem::MaybeUninit;
use std::panic::{AssertUnwindSafe, catch_unwind, resume_unwind};

use surefit_compact::branded::{BrandedBytes, BrandedHandle, BrandedHeap, Scoped};
use surefit_compact::{
    Bound, Bytes, Config, Geometry, GeometrySpec, Heap, Medium, Narrow, Spacing, Tail, Wide, Width,
};
use surefit_testkit::{JunkRegion, Op, Shape, script};

static CONFIG: Config = Config::DEFAULT;

/// Miri is slow: there, scripts are short, and few objects live.
const STEPS: usize = if cfg!(miri) { 40 } else { 1200 };
const OBJECTS: u64 = if cfg!(miri) { 150 } else { 1000 };

fn region(bytes: usize) -> JunkRegion {
    JunkRegion::new(bytes, 16384, 5)
}

fn layout(size: usize, align: usize) -> Layout {
    Layout::from_size_align(size, align).expect("valid")
}

fn bytes_of(len: usize) -> Layout {
    layout(len, 8)
}

/// Pages of 1 KiB and pieces of 64 bytes, so that a short script moves much and has large spines.
fn small(width: usize, bound: Bound) -> Config {
    let spec = GeometrySpec {
        page_bytes: 1024,
        granule: 8,
        smallest: 16,
        spacing: Spacing::Fraction(8),
        tail: Tail::BackReferences { bytes: width },
    };
    let config = Config::new(Geometry::new(&spec).expect("valid"), bound).expect("valid");
    config.with_pieces(Some(64)).expect("valid")
}

// ---- beside a checked heap ---------------------------------------------------------------------

/// One object in both heaps, full of one byte.
struct Twins<'b> {
    branded: BrandedBytes<Scoped<'b>>,
    checked: Bytes,
    content: u8,
}

/// A branded heap and a checked one that live through the same script.
struct Beside<'h, 'm, 'b, W: Width> {
    branded: &'h mut BrandedHeap<'m, Scoped<'b>, W>,
    checked: Heap<'m, W>,
    twins: Vec<Twins<'b>>,
}

impl<W: Width> Beside<'_, '_, '_, W> {
    fn step(&mut self, number: usize, op: Op) {
        let content = number as u8;
        match op {
            Op::Alloc { size, align } => self.alloc(layout(size, align.min(64)), content),
            Op::Free(nth) if !self.twins.is_empty() => {
                let twins = self.twins.swap_remove(nth % self.twins.len());
                self.branded.free_bytes(twins.branded);
                self.checked.free_bytes(twins.checked);
            }
            Op::Resize(nth, size) if !self.twins.is_empty() => {
                let nth = nth % self.twins.len();
                self.resize(nth, bytes_of(size));
            }
            Op::Free(_) | Op::Resize(..) => {}
        }
        assert_eq!(self.branded.as_heap().stats(), self.checked.stats());
        assert_eq!(self.branded.as_heap().usage(), self.checked.usage());
    }

    fn alloc(&mut self, layout: Layout, content: u8) {
        let branded = self.branded.alloc_zeroed(layout);
        let checked = self.checked.alloc_zeroed(layout);
        let (mut branded, mut checked) = match (branded, checked) {
            (Ok(branded), Ok(checked)) => (branded, checked),
            (Err(branded), Err(checked)) => return assert_eq!(branded, checked),
            (branded, checked) => panic!("{branded:?} but {checked:?}"),
        };
        assert_eq!(branded.len(), layout.size());
        assert_eq!(branded.is_empty(), layout.size() == 0);
        self.branded
            .write_at(&mut branded, 0, &vec![content; layout.size()]);
        self.checked
            .write_at(&mut checked, 0, &vec![content; layout.size()]);
        self.twins.push(Twins {
            branded,
            checked,
            content,
        });
    }

    fn resize(&mut self, nth: usize, layout: Layout) {
        let twins = &mut self.twins[nth];
        let old = twins.branded.len();
        let branded = self.branded.resize(&mut twins.branded, layout);
        assert_eq!(branded, self.checked.resize(&mut twins.checked, layout));
        assert_eq!(twins.branded.len(), twins.checked.len());
        let mut at = old;
        while at < twins.branded.len() {
            let added = self.branded.chunk_mut(&mut twins.branded, at);
            assert!(added.iter().all(|&byte| byte == 0));
            added.fill(twins.content);
            let added = added.len();
            self.checked
                .write_at(&mut twins.checked, at, &vec![twins.content; added]);
            at += added;
        }
    }

    fn verify(&self) {
        self.branded.as_heap().check().expect("sound");
        self.checked.check().expect("sound");
        for twins in &self.twins {
            let mut read = vec![!twins.content; twins.branded.len()];
            self.branded.read_at(&twins.branded, 0, &mut read);
            assert!(read.iter().all(|&byte| byte == twins.content));
            let (ours, theirs) = (
                self.branded.chunk(&twins.branded, 0),
                self.checked.chunk(&twins.checked, 0),
            );
            assert_eq!(ours, theirs, "in the same pieces");
        }
    }
}

fn lives_as_a_checked_heap<W: Width>(bound: Bound, seed: u64) {
    let config = small(W::WORD_BYTES, bound);
    let (mut one, mut two) = (region(96 << 10), region(96 << 10));
    let mut heap: Heap<W> = Heap::new(one.memory(), &config).expect("large enough");
    let checked: Heap<W> = Heap::new(two.memory(), &config).expect("large enough");
    let moves = heap.branded(|branded| {
        let mut beside = Beside {
            branded,
            checked,
            twins: Vec::new(),
        };
        for (number, op) in script(Shape::Drift, seed, STEPS, 900)
            .into_iter()
            .enumerate()
        {
            beside.step(number, op);
            if number % 32 == 0 {
                beside.verify();
            }
        }
        beside.verify();
        assert_eq!(beside.branded.compact(5), beside.checked.compact(5));
        beside.verify();
        for twins in beside.twins.drain(..) {
            beside.branded.free_bytes(twins.branded);
        }
        beside.branded.as_heap().stats().moves_total
    });
    let moves_enough = moves > 10 || cfg!(miri) || bound == Bound::Unbounded;
    assert!(moves_enough, "{moves} moves");
    heap.check().expect("sound");
    assert_eq!(heap.stats().live_blocks, 0);
}

#[test]
fn a_branded_heap_lives_as_a_checked_one() {
    for bound in [Bound::DEFAULT, Bound::Pages(1), Bound::Unbounded] {
        lives_as_a_checked_heap::<Wide>(bound, 1);
        lives_as_a_checked_heap::<Medium>(bound, 3);
        lives_as_a_checked_heap::<Narrow>(bound, 2);
    }
}

// ---- values ------------------------------------------------------------------------------------

#[test]
fn values_keep_their_contents_while_others_are_freed() {
    let config = small(4, Bound::Pages(1));
    let mut memory = region(96 << 10);
    let mut heap: Heap = Heap::new(memory.memory(), &config).expect("large enough");
    heap.branded(|heap| {
        let mut kept = Vec::new();
        let mut others = Vec::new();
        for number in 0..OBJECTS {
            kept.push(heap.insert([number; 3]).expect("room"));
            others.push(heap.insert([!number; 3]).expect("room"));
        }
        for other in others {
            assert_eq!(heap.remove(other)[0] >> 32, u64::from(u32::MAX));
        }
        assert!(heap.as_heap().stats().moves_total > OBJECTS / 10);
        for (number, handle) in (0..).zip(&mut kept) {
            assert_eq!(*heap.get(handle), [number; 3]);
            heap.get_mut(handle)[1] += 1;
        }
        for (number, handle) in (0..).zip(kept) {
            assert_eq!(heap.remove(handle), [number, number + 1, number]);
        }
        heap.as_heap().check().expect("sound");
    });
}

/// Every number that an entry can have: the last ones included.
#[test]
fn the_last_entry_that_a_word_numbers_has_a_handle() {
    let config = small(2, Bound::DEFAULT);
    let mut memory = region(1 << 20);
    let mut heap: Heap<Narrow> = Heap::new(memory.memory(), &config).expect("large enough");
    heap.branded(|heap| {
        let mut handles = Vec::new();
        let full = loop {
            match heap.insert(handles.len() as u32) {
                Ok(handle) => handles.push(handle),
                Err(full) => break full,
            }
        };
        assert_eq!(full.value as usize, handles.len());
        assert!(handles.len() > 30_000, "{}", handles.len());
        for (number, handle) in (0..).zip(&handles) {
            assert_eq!(*heap.get(handle), number);
        }
        while let Some(handle) = handles.pop() {
            heap.free(handle);
        }
        assert_eq!(heap.as_heap().stats().live_blocks, 0);
    });
}

#[test]
fn values_of_any_size_and_alignment_come_back_or_live() {
    #[derive(Debug, PartialEq)]
    #[repr(align(4096))]
    struct Aligned(u8);
    let mut memory = region(1 << 20);
    let mut heap: Heap = Heap::new(memory.memory(), &CONFIG).expect("large enough");
    heap.branded(|heap| {
        let nothing = heap.insert(()).expect("room");
        let aligned = heap.insert(Aligned(3)).expect("room");
        assert_eq!(core::ptr::from_ref(heap.get(&aligned)).addr() % 4096, 0);
        assert_eq!(
            heap.insert([0_u8; 1 << 15])
                .expect_err("no page")
                .value
                .len(),
            1 << 15
        );
        assert_eq!(
            (heap.remove(nothing), heap.remove(aligned)),
            ((), Aligned(3))
        );
        assert!(heap.alloc(bytes_of(1 << 40)).is_err());
        assert!(heap.alloc_zeroed(bytes_of(2 << 20)).is_err());
        let mut bytes = heap.alloc_zeroed(bytes_of(10)).expect("room");
        assert!(heap.resize(&mut bytes, bytes_of(1 << 40)).is_err());
        assert_eq!(heap.chunk(&bytes, 0), [0; 10]);
        heap.free_bytes(bytes);
        let bytes = heap.insert_bytes(b"copied").expect("room");
        assert_eq!((heap.chunk(&bytes, 0), bytes.len()), (&b"copied"[..], 6));
        heap.free_bytes(bytes);
        assert!(heap.insert_bytes(&vec![7; 2 << 20]).is_err());
    });
    assert_eq!(heap.stats().live_blocks, 0);
}

#[test]
fn offsets_beyond_an_object_panic_before_anything_is_read() {
    let config = small(4, Bound::DEFAULT);
    let mut memory = region(96 << 10);
    let mut heap: Heap = Heap::new(memory.memory(), &config).expect("large enough");
    heap.branded(|heap| {
        for len in [0, 1, 40, 64, 65, 3000] {
            let mut bytes = heap.alloc_zeroed(bytes_of(len)).expect("room");
            assert!(heap.chunk(&bytes, len).is_empty());
            assert!(heap.owns(&bytes) && heap.is_whole(&bytes, 1));
            assert_eq!(heap.block_start(&bytes).is_some(), len <= 64);
            assert_eq!(heap.division(), heap.as_heap().division());
            for offset in [len + 1, len + 64, 1 << 31, 1 << 32, usize::MAX] {
                panics(|| heap.chunk(&bytes, offset).len());
                panics(|| heap.chunk_start(&bytes, offset).1);
                panics(|| heap.chunk_mut(&mut bytes, offset).len());
                panics(|| heap.read_at(&bytes, offset, &mut [0]));
                panics(|| heap.write_at(&mut bytes, offset, &[0]));
            }
            panics(|| heap.read_at(&bytes, 0, &mut vec![0; len + 1]));
            panics(|| heap.write_at(&mut bytes, len, &[0]));
            heap.free_bytes(bytes);
        }
        heap.as_heap().check().expect("sound");
    });
}

fn panics<T>(call: impl FnOnce() -> T) {
    let answer = catch_unwind(AssertUnwindSafe(|| drop(call())));
    answer.expect_err("it panics");
}

#[test]
fn a_drop_that_panics_frees_its_memory_all_the_same() {
    struct Bomb;
    impl Drop for Bomb {
        fn drop(&mut self) {
            resume_unwind(Box::new(()));
        }
    }
    let mut memory = region(1 << 20);
    let mut heap: Heap = Heap::new(memory.memory(), &CONFIG).expect("large enough");
    heap.branded(|heap| {
        for _ in 0..100 {
            let bomb = heap.insert(Bomb).ok().expect("room");
            panics(|| heap.free(bomb));
            let bomb = heap.insert(Bomb).ok().expect("room");
            panics(|| heap.remove(bomb));
        }
        heap.as_heap().check().expect("sound");
        assert_eq!(heap.as_heap().stats().live_blocks, 0);
    });
}

// ---- brands ------------------------------------------------------------------------------------

#[test]
fn objects_go_in_and_out_of_a_scope() {
    let (mut one, mut two) = (region(1 << 20), region(1 << 20));
    let mut heap: Heap = Heap::new(one.memory(), &CONFIG).expect("large enough");
    let other: Heap = Heap::new(two.memory(), &CONFIG).expect("large enough");
    let value = heap.insert(7_u64).expect("room");
    let bytes = heap.alloc_zeroed(bytes_of(10_000)).expect("room");
    let foreign = other.insert(8_u64).expect("room");
    let foreign_bytes = other.alloc_zeroed(bytes_of(10)).expect("room");
    let (value, bytes) = heap.branded(|heap| {
        let mut value = heap.brand(value).expect("its own");
        *heap.get_mut(&mut value) += 1;
        let mut bytes = heap.brand_bytes(bytes).expect("its own");
        heap.write_at(&mut bytes, 9_999, &[6]);
        let foreign = heap.brand(foreign).expect_err("the other heap's");
        assert_eq!(*other.get(&foreign), 8);
        let foreign = heap.brand_bytes(foreign_bytes).expect_err("the other's");
        assert_eq!(other.chunk(&foreign, 0).len(), 10);
        (heap.unbrand(value), heap.unbrand_bytes(bytes))
    });
    assert_eq!(heap.remove(value), 8);
    let mut last = [0];
    heap.read_at(&bytes, 9_999, &mut last);
    assert_eq!((last, bytes.len()), ([6], 10_000));
    heap.free_bytes(bytes);
    assert_eq!(heap.stats().live_blocks, 0);
}

#[test]
fn a_closure_that_panics_leaves_a_sound_heap() {
    let mut memory = region(1 << 20);
    let mut heap: Heap = Heap::new(memory.memory(), &CONFIG).expect("large enough");
    panics(|| {
        heap.branded(|heap| {
            let _leaked = heap.insert(1_u64).expect("room");
            resume_unwind(Box::new(()));
        })
    });
    heap.check().expect("sound");
    assert_eq!(heap.stats().live_blocks, 1, "it leaks, no more");
    assert_eq!(heap.branded(|heap| heap.as_heap().stats().live_blocks), 1);
}

#[test]
fn names_get_their_lengths_back() {
    let mut memory = region(1 << 20);
    let mut heap: Heap = Heap::new(memory.memory(), &CONFIG).expect("large enough");
    let name = heap.alloc_zeroed(bytes_of(5000)).expect("room").into_name();
    assert!(format!("{name:?}").starts_with("BytesName(object 0 of heap "));
    // SAFETY: the object has 5000 bytes.
    let bytes = unsafe { name.with_len(5000) };
    assert_eq!(heap.chunks(&bytes).map(<[u8]>::len).sum::<usize>(), 5000);
    heap.free_bytes(bytes);
    heap.branded(|heap| {
        let name = heap.alloc(bytes_of(5000)).expect("room").into_name();
        assert_eq!(size_of_val(&name), 4);
        assert_eq!(
            format!("{name:?}"),
            format!("BrandedName(object {})", object(&name))
        );
        // SAFETY: the object has 5000 bytes.
        let mut bytes = unsafe { name.with_len(5000) };
        for at in [0, 4096] {
            heap.chunk_mut(&mut bytes, at).fill(MaybeUninit::new(4));
        }
        // SAFETY: all bytes were written.
        let bytes = unsafe { bytes.assume_init() };
        assert!(heap.chunk(&bytes, 4096).iter().all(|&byte| byte == 4));
        heap.free_bytes(bytes.into_uninit());
    });
    assert_eq!(heap.stats().live_blocks, 0);
}

/// The number in what a name prints.
fn object(name: &impl core::fmt::Debug) -> u32 {
    let text = format!("{name:?}");
    let digits: String = text.chars().filter(char::is_ascii_digit).collect();
    digits.parse().expect("a number")
}

surefit_compact::brand! {
    /// The brand of one test.
    struct Once;
}

surefit_compact::brand! {
    struct Another;
}

struct Node {
    value: u64,
    next: Option<BrandedHandle<Once, Self>>,
}

#[test]
fn a_declared_brand_has_one_heap_for_ever() {
    let (mut one, mut two) = (region(1 << 20), region(1 << 20));
    let heap: Heap = Heap::new(one.memory(), &CONFIG).expect("large enough");
    let mut heap: BrandedHeap<'_, Once> = heap.into_branded().expect("the first");
    let second: Heap = Heap::new(two.memory(), &CONFIG).expect("large enough");
    let second = second.into_branded::<Once>().expect_err("the second");
    let second: BrandedHeap<'_, Another> = second.into_branded().expect("another brand");
    assert_eq!(*second.get(&second.insert(3_u8).expect("room")), 3);

    let mut list = None;
    for value in 0..OBJECTS {
        let node = Node { value, next: list };
        list = Some(heap.insert(node).ok().expect("room"));
    }
    let mut sum = 0;
    while let Some(first) = list {
        let node = heap.remove(first);
        sum += node.value;
        list = node.next;
    }
    let expected = OBJECTS * (OBJECTS - 1) / 2;
    assert_eq!((sum, heap.as_heap().stats().live_blocks), (expected, 0));

    let third: Heap = Heap::new(one.memory(), &CONFIG).expect("large enough");
    let third = third
        .into_branded::<Once>()
        .expect_err("handles of the first may be left");
    third.check().expect("sound");
}
