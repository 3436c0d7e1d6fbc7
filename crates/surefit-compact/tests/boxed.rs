//! Heaps that own their memory, and bytes that are copied into a heap.

use std::alloc::Layout;
use std::collections::HashMap;
use std::panic::{AssertUnwindSafe, catch_unwind};

use surefit_compact::{BoxedHeap, Bytes, Config, Heap, KeyHeap, Narrow, Wide, Width};
use surefit_core::Refused;

static CONFIG: Config = Config::DEFAULT;
static TINY: Config = Config::TINY;
static IN_PIECES: Config = match Config::DEFAULT.with_pieces(Some(512)) {
    Ok(config) => config,
    Err(_) => panic!("a power of two"),
};

/// A struct without a lifetime that owns its heap.
struct Names {
    heap: BoxedHeap<Narrow>,
    names: HashMap<u32, Bytes>,
}

impl Names {
    fn new() -> Result<Self, Refused> {
        let heap = Heap::boxed(1 << 16, &TINY)?;
        let names = HashMap::new();
        Ok(Self { heap, names })
    }

    fn set(&mut self, id: u32, name: &str) -> Result<(), Refused> {
        let name = self.heap.insert_bytes(name.as_bytes())?;
        if let Some(old) = self.names.insert(id, name) {
            self.heap.free_bytes(old);
        }
        Ok(())
    }

    fn get(&self, id: u32) -> Option<String> {
        let bytes = self.names.get(&id)?;
        let mut name = vec![0; bytes.len()];
        self.heap.read_at(bytes, 0, &mut name);
        String::from_utf8(name).ok()
    }
}

#[test]
fn a_struct_owns_its_heap() {
    let mut names = Names::new().expect("large enough");
    for round in 0..100 {
        for id in 0..50 {
            names
                .set(id, &format!("name {id} of round {round}"))
                .expect("room");
        }
    }
    // It moves with its memory, and goes to other threads.
    let names = std::thread::spawn(move || {
        assert_eq!(names.heap.check(), Ok(()));
        names
    });
    let names = Box::new(names.join().expect("no panic"));
    assert_eq!(names.get(7).as_deref(), Some("name 7 of round 99"));
}

#[test]
fn a_boxed_heap_does_what_a_heap_does() {
    let mut heap: BoxedHeap = Heap::boxed(1 << 20, &CONFIG).expect("large enough");
    let mut number = heap.insert(7_u64).expect("room");
    *heap.get_mut(&mut number) += 1;
    assert_eq!(heap.remove(number), 8);
    let object = heap.insert(vec![1, 2, 3]).expect("room");
    heap.free(object);
    let mut bytes = heap.insert_bytes(b"pieces").expect("room");
    heap.resize(&mut bytes, Layout::new::<[u8; 9000]>())
        .expect("room");
    assert_eq!(
        (heap.chunk(&bytes, 0)[..7].to_vec(), bytes.len()),
        (b"pieces\0".to_vec(), 9000)
    );
    assert_eq!(
        (heap.compact(10), heap.with(|heap| heap.compact(10))),
        (0, 0)
    );
    heap.free_bytes(bytes);
    let frame = heap.with(|heap| heap.alloc_contiguous_zeroed(Layout::new::<[u8; 40_000]>()));
    let frame = frame.expect("room");
    assert_eq!(heap.contiguous(&frame), [0; 40_000]);
    heap.with(|heap| heap.free_contiguous(frame));
    assert_eq!((heap.check(), heap.usage().block_bytes), (Ok(()), 0));
    // Another box's objects are refused.
    let other: BoxedHeap = Heap::boxed(1 << 20, &CONFIG).expect("large enough");
    let foreign = other.insert(1_u8).expect("room");
    assert!(catch_unwind(AssertUnwindSafe(|| heap.free(foreign))).is_err());
    // What lives is not dropped with its heap; its memory is given back.
    let counted = std::sync::Arc::new(());
    let left = other.insert(counted.clone()).expect("room");
    drop((other, left));
    assert_eq!(std::sync::Arc::strong_count(&counted), 2);
}

#[test]
fn a_box_of_any_bytes_is_a_heap_or_says_what_would_be() {
    let needed = match Heap::<Narrow>::boxed(0, &TINY) {
        Err(Refused::Region { needed }) => needed,
        other => unreachable!("{other:?}"),
    };
    for bytes in (0..needed).step_by(7).chain([needed]) {
        match Heap::<Narrow>::boxed(bytes, &TINY) {
            // All of it is the heap's: it is aligned to a page.
            Ok(heap) => assert_eq!((heap.usage().total(), heap.check()), (bytes, Ok(()))),
            Err(refused) => assert!(bytes < needed, "{refused}"),
        }
    }
    let too_large = Heap::<Narrow>::boxed(4 << 20, &TINY);
    assert!(matches!(too_large, Err(Refused::TooLarge { .. })));
}

fn copied<W: Width<Generation = ()>>(config: &'static Config) {
    let heap = Heap::<W>::boxed(3 << 16, config).expect("large enough");
    let source: Vec<u8> = (0..1 << 18).map(|nth| (nth % 251) as u8).collect();
    for len in [0, 1, 7, 100, 1024, 5000, 20_000] {
        let bytes = heap.insert_bytes(&source[..len]).expect("room");
        let mut read = vec![0; len];
        heap.read_at(&bytes, 0, &mut read);
        assert_eq!((&read[..], bytes.len()), (&source[..len], len));
    }
    let before = heap.usage();
    assert!(heap.insert_bytes(&source).is_err());
    assert_eq!((heap.usage(), heap.check()), (before, Ok(())));
}

#[test]
fn bytes_are_copied_whole_or_refused() {
    copied::<Narrow>(&TINY);
    copied::<Wide>(&IN_PIECES);
}

#[test]
fn bytes_are_copied_into_a_heap_with_keys() {
    let mut memory = vec![core::mem::MaybeUninit::uninit(); 1 << 20];
    let mut heap: KeyHeap = KeyHeap::new(&mut memory, &CONFIG).expect("large enough");
    let key = heap.insert_bytes(b"a name").expect("room");
    assert_eq!(heap.chunk(key, 0), Ok(&b"a name"[..]));
    heap.free_bytes(key).expect("it lives");
    assert_eq!(heap.chunk(key, 0), Err(Refused::StaleHandle));
}

/// How many of the newest values a cache of 1 MiB keeps.
fn kept<W: Width<Generation = ()>>(config: &'static Config) -> usize {
    let mut heap = Heap::<W>::boxed(1 << 20, config).expect("large enough");
    let mut values = std::collections::VecDeque::new();
    for number in 0..20_000 {
        let value = vec![7; 1 + number * 31 % 3000];
        let new = loop {
            match heap.insert_bytes(&value) {
                Ok(new) => break new,
                Err(_) => heap.free_bytes(values.pop_front().expect("it has a value")),
            }
        };
        values.push_back(new);
    }
    assert_eq!(heap.check(), Ok(()));
    values.len()
}

#[test]
fn a_heap_of_a_megabyte_takes_the_tiny_configuration() {
    let (tiny, default) = (kept::<Narrow>(&TINY), kept::<Wide>(&CONFIG));
    assert!(tiny >= 2 * default, "{tiny} and {default}");
}

#[test]
#[should_panic(expected = "2 is Narrow, 3 Medium, 4 Wide")]
fn a_heap_of_another_width_names_the_type_to_take() {
    let _ = Heap::<Wide>::boxed(1 << 16, &TINY);
}

/// What is longer than the region is refused as such, whatever is live; what is shorter is not.
fn what_never_fits_is_told_from_what_does_not_fit_now<W: Width>(config: &'static Config) {
    let mut heap: BoxedHeap<W> = Heap::boxed(1 << 18, config).expect("large enough");
    let request = |len| Layout::array::<u8>(len).expect("no overflow");
    let never =
        |limit, refused| matches!(refused, Some(Refused::TooLarge { limit: l }) if l == limit);
    let refused = heap.alloc_zeroed(request(1 << 19)).expect_err("too large");
    let Refused::TooLarge { limit } = refused else {
        panic!("{refused}");
    };
    assert!((1 << 18) - (1 << 15) < limit && limit <= 1 << 18, "{limit}");
    let mut half = heap.alloc_zeroed(request(1 << 17)).expect("half of it");
    for len in [limit + 1, 1 << 19, 1 << 30, isize::MAX as usize] {
        assert!(never(limit, heap.alloc(request(len)).err()), "{len}");
        let larger = heap.resize(&mut half, request(len));
        assert!(never(limit, larger.err()), "{len}");
    }
    for len in [1 << 17, limit] {
        let full = heap.alloc(request(len)).expect_err("full");
        assert!(
            matches!(full, Refused::NoPage | Refused::NoHandle),
            "{full}"
        );
    }
    heap.free_bytes(half);
    assert_eq!(heap.check(), Ok(()));
}

#[test]
fn a_value_larger_than_the_heap_is_too_large() {
    what_never_fits_is_told_from_what_does_not_fit_now::<Wide>(&CONFIG);
    what_never_fits_is_told_from_what_does_not_fit_now::<Wide>(&IN_PIECES);
    what_never_fits_is_told_from_what_does_not_fit_now::<Narrow>(&TINY);
}
