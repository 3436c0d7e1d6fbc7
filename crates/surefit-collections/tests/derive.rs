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
