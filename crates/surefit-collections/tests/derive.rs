//! `#[derive(Release)]` gives back what every field owns.

mod common;

use std::time::SystemTime;

use common::bomb::{Bomb, with_fuse};
use common::{ByDefault, DEFAULT, boxed};
use surefit_collections::{
    ByteHeap, ByteString, Checked, HashMap, Names, Release, String as Moving, Vec as MovingVec,
    VecDeque,
};
use surefit_compact::{BoxedHeap, Handle, Heap};

/// A field of each kind.
#[derive(Release)]
struct Record {
    name: Moving,
    number: u64,
    scores: MovingVec<u32>,
    by_name: HashMap<u32, ByteString, ByDefault>,
    queue: VecDeque<Handle<u64>>,
    owned: Option<Handle<u64>>,
    #[release(skip)]
    seen: SystemTime,
}

fn record(heap: &mut BoxedHeap, number: u64) -> Record {
    let name = Moving::from_text(heap, "a name").expect("room");
    let mut scores = MovingVec::new();
    scores.extend(heap, 0..20).expect("room");
    let mut by_name = HashMap::default();
    let text = ByteString::from_bytes(heap, b"text").expect("room");
    by_name.insert(heap, 7, text).expect("room");
    let mut queue = VecDeque::new();
    let handle = heap.insert(1).expect("room");
    queue.push_back(heap, handle).expect("room");
    Record {
        name,
        number,
        scores,
        by_name,
        queue,
        owned: heap.insert(2).ok(),
        seen: SystemTime::UNIX_EPOCH,
    }
}

#[test]
fn every_field_is_released() {
    let mut heap = boxed(1 << 20, &DEFAULT);
    let record = record(&mut heap, 7);
    assert!(record.name.equals(&heap, "a name") && record.number == 7);
    assert_eq!(record.seen, SystemTime::UNIX_EPOCH);
    assert!(heap.live_blocks().count() >= 8);
    record.release(&mut heap);
    assert_eq!(heap.live_blocks().count(), 0);
}

#[derive(Debug, Release)]
struct Pair<A, B>(A, B);

#[derive(Release)]
struct Unit;

#[derive(Release)]
enum Value<'a, T: Copy, N: Names = Checked>
where
    T: Send,
{
    Nothing,
    Text(Moving<N>),
    Both { bytes: ByteString<N>, more: T },
    Borrowed(&'a str),
}

/// Values of each variant.
fn values<H: ByteHeap>(heap: &H) -> [Value<'static, u8, H::Names>; 4] {
    [
        Value::Nothing,
        Value::Text(Moving::from_text(heap, "text").expect("room")),
        Value::Both {
            bytes: ByteString::from_bytes(heap, b"bytes").expect("room"),
            more: 7,
        },
        Value::Borrowed("borrowed"),
    ]
}

#[test]
fn every_variant_is_released_in_every_heap() {
    let mut heap = boxed(1 << 20, &DEFAULT);
    let all = values(&heap);
    assert_eq!(heap.live_blocks().count(), 2);
    let owned = all.iter().map(|value| match value {
        Value::Nothing => 0,
        Value::Text(text) => text.len(),
        Value::Both { bytes, more } => bytes.len() + usize::from(*more),
        Value::Borrowed(text) => text.len(),
    });
    assert_eq!(owned.sum::<usize>(), 4 + 5 + 7 + 8);
    Pair(all, Unit).release(&mut heap);
    assert_eq!(heap.live_blocks().count(), 0);

    let mut memory = vec![std::mem::MaybeUninit::uninit(); 1 << 20];
    let mut heap: Heap = Heap::new(&mut memory, &DEFAULT).expect("large enough");
    heap.branded(|heap| Pair(values(heap), Unit).release(heap));
    assert_eq!(heap.live_blocks().count(), 0);
}

#[derive(Debug, Release)]
struct Bombs {
    first: Bomb,
    second: Pair<Bomb, u8>,
    third: Bomb,
}

#[test]
fn a_release_that_panics_stops_no_other() {
    for fuse in 0..3 {
        let mut heap = boxed(1 << 20, &DEFAULT);
        let mut vec = MovingVec::new();
        for i in 0..3 {
            let bombs = Bombs {
                first: Bomb::new(&heap, i),
                second: Pair(Bomb::new(&heap, i), 7),
                third: Bomb::new(&heap, i),
            };
            vec.push(&mut heap, bombs).expect("room");
        }
        assert!(with_fuse(fuse, || vec.free(&mut heap)));
        assert_eq!(heap.live_blocks().count(), 0);
    }
}

/// Whatever a type, its parameters and its fields are called.
#[derive(Debug, Release)]
struct Named<Heap_, H, T> {
    heap: Heap_,
    field_0: H,
    __surefit: T,
}

#[derive(Debug, Release)]
enum Value_<Heap_> {
    Heap { heap: Heap_, field_1: u8 },
}

#[test]
fn names_of_a_type_meet_none_of_the_generated_code() {
    #[expect(dead_code, reason = "a pattern of the generated code could name it")]
    #[expect(non_upper_case_globals, reason = "as whoever attacks writes it")]
    const field_0: u8 = 7;
    #[derive(Release)]
    struct Inner(ByteString, u8);
    let mut heap = boxed(1 << 20, &DEFAULT);
    let text = |heap: &BoxedHeap| ByteString::from_bytes(heap, b"text").expect("room");
    let named = Named {
        heap: text(&heap),
        field_0: Inner(text(&heap), 7),
        __surefit: Value_::Heap {
            heap: text(&heap),
            field_1: 7,
        },
    };
    let Value_::Heap { field_1, .. } = &named.__surefit;
    assert_eq!(named.field_0.1, *field_1);
    assert_eq!(heap.live_blocks().count(), 3);
    named.release(&mut heap);
    assert_eq!(heap.live_blocks().count(), 0);
}

/// Whether values own nothing in a heap.
const fn owns_nothing<T: Release<BoxedHeap>>() -> bool {
    T::OWNS_NOTHING
}

#[test]
fn a_type_owns_nothing_if_no_field_does() {
    #[derive(Release)]
    struct Plain {
        _number: u64,
        _more: Option<[Pair<u8, bool>; 3]>,
    }
    #[derive(Release)]
    struct Skipped {
        #[release(skip)]
        _seen: SystemTime,
    }
    #[derive(Release)]
    struct Dropped {
        #[release(skip)]
        _counted: std::rc::Rc<()>,
    }
    assert!(const { owns_nothing::<Plain>() });
    assert!(const { owns_nothing::<Unit>() });
    assert!(const { owns_nothing::<Skipped>() });
    assert!(const { owns_nothing::<Pair<u64, ()>>() });
    assert!(const { !owns_nothing::<Pair<u64, Moving>>() });
    assert!(const { !owns_nothing::<Value<'_, u8>>() });
    assert!(const { !owns_nothing::<Dropped>() });

    // What must be dropped is.
    let mut heap = boxed(1 << 20, &DEFAULT);
    let counted = std::rc::Rc::new(());
    let dropped = Dropped {
        _counted: counted.clone(),
    };
    dropped.release(&mut heap);
    assert_eq!(std::rc::Rc::strong_count(&counted), 1);
}
