//! `#[derive(Release)]` gives back what every field owns; what is of another heap is not released
//! while a panic unwinds.

mod common;

use std::hash::Hasher;
use std::time::SystemTime;

use common::bomb::{Bomb, panics, with_fuse};
use common::{ByDefault, DEFAULT, boxed};
use surefit_collections::{
    BTreeMap, ByteHeap, ByteString, Checked, HashMap, Lookup, LruCache, Names, Release,
    String as Moving, Vec as MovingVec, VecDeque,
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

/// A type of more fields than types may nest.
macro_rules! wide {
    ($($field:ident)*) => {
        #[derive(Release)]
        struct Wide { $($field: Moving),* }

        fn wide(heap: &BoxedHeap) -> Wide {
            Wide { $($field: Moving::from_text(heap, stringify!($field)).expect("room")),* }
        }
    };
}

wide! {
    f000 f001 f002 f003 f004 f005 f006 f007 f008 f009 f010 f011 f012 f013 f014 f015
    f016 f017 f018 f019 f020 f021 f022 f023 f024 f025 f026 f027 f028 f029 f030 f031
    f032 f033 f034 f035 f036 f037 f038 f039 f040 f041 f042 f043 f044 f045 f046 f047
    f048 f049 f050 f051 f052 f053 f054 f055 f056 f057 f058 f059 f060 f061 f062 f063
    f064 f065 f066 f067 f068 f069 f070 f071 f072 f073 f074 f075 f076 f077 f078 f079
    f080 f081 f082 f083 f084 f085 f086 f087 f088 f089 f090 f091 f092 f093 f094 f095
    f096 f097 f098 f099 f100 f101 f102 f103 f104 f105 f106 f107 f108 f109 f110 f111
    f112 f113 f114 f115 f116 f117 f118 f119 f120 f121 f122 f123 f124 f125 f126 f127
    f128 f129 f130 f131 f132 f133 f134 f135 f136 f137 f138 f139 f140 f141 f142 f143
    f144 f145 f146 f147 f148 f149 f150 f151 f152 f153 f154 f155 f156 f157 f158 f159
}

#[test]
fn many_fields_are_released() {
    let mut heap = boxed(1 << 20, &DEFAULT);
    let value = wide(&heap);
    assert_eq!(heap.live_blocks().count(), 160);
    assert!(value.belongs_to(&heap));
    assert!(!value.belongs_to(&boxed(1 << 20, &DEFAULT)));
    value.release(&mut heap);
    assert_eq!(heap.live_blocks().count(), 0);
}

/// What a call with the heap `two` leaves of a panic: the process, and the text of heap `one`.
fn panics_once(of: impl Fn(&mut BoxedHeap, &mut BoxedHeap)) {
    let (mut one, mut two) = (boxed(1 << 20, &DEFAULT), boxed(1 << 20, &DEFAULT));
    assert!(panics(|| of(&mut one, &mut two)), "it does not panic");
    for heap in [one, two] {
        heap.check().expect("whole");
    }
}

/// The release of a key of another heap panics too: it must not be tried while a panic unwinds,
/// which would end the process.
#[test]
fn a_key_of_another_heap_panics_once() {
    let key = |heap: &BoxedHeap, text| Moving::from_text(heap, text).expect("room");
    panics_once(|one, two| {
        let mut map = BTreeMap::<Moving, u32>::new();
        map.insert(one, key(one, "x"), 1).expect("room");
        let _ = map.entry(two, key(one, "y"));
    });
    panics_once(|one, two| {
        let mut map = BTreeMap::<Moving, u32>::new();
        map.insert(two, key(two, "x"), 1).expect("room");
        let _ = map.insert(two, key(one, "y"), 3);
    });
    panics_once(|one, two| {
        let mut map = HashMap::<Moving, u32, ByDefault>::default();
        map.insert(one, key(one, "x"), 1).expect("room");
        let _ = map.entry(two, key(one, "y"));
    });
    panics_once(|one, two| {
        let mut map = HashMap::<Moving, u32, ByDefault>::default();
        let _ = map.insert(two, key(one, "y"), 3);
    });
    panics_once(|one, two| {
        let mut map = HashMap::<Key, (u8, Option<[Moving; 1]>), ByDefault>::default();
        let value = (1, Some([key(two, "x")]));
        let _ = map.insert(two, Key(2, key(one, "y")), value);
    });
    panics_once(|one, two| {
        let mut cache = LruCache::unbounded_with_hasher(ByDefault::default());
        let _ = cache.put(two, key(one, "y"), 3_u32);
    });
}

/// A key with a derived release.
#[derive(Release)]
struct Key(u8, Moving);

impl Lookup<BoxedHeap, Self> for Key {
    fn hash_of<S: Hasher>(query: &Self, heap: &BoxedHeap, state: &mut S) {
        Moving::hash_of(&query.1, heap, state);
    }

    fn is(&self, query: &Self, heap: &BoxedHeap) -> bool {
        self.0 == query.0 && self.1.is(&query.1, heap)
    }
}

#[test]
fn an_element_that_is_refused_is_given_back_or_released() {
    let (mut one, two) = (boxed(1 << 20, &DEFAULT), boxed(1 << 20, &DEFAULT));
    let text = |heap: &BoxedHeap| Moving::from_text(heap, "a text").expect("room");
    let mut vec = MovingVec::with_capacity(&one, 4).expect("room");
    let refused = vec.push_within_capacity(&two, text(&one));
    refused.expect_err("another heap").free(&mut one);
    let value = text(&one);
    assert!(panics(|| vec.insert(&mut one, 1, value).is_ok()));
    let mut deque = VecDeque::<Moving>::new();
    let value = text(&one);
    assert!(panics(|| deque.insert(&mut one, 1, value).is_ok()));
    vec.free(&mut one);
    deque.free(&mut one);
    assert_eq!(one.live_blocks().count(), 0);
}

/// References to its fields do not compile.
#[derive(Release)]
#[repr(C, packed(2))]
struct Packed {
    number: u64,
    name: Moving,
}

#[test]
fn a_second_part_of_another_heap_panics_as_the_first_one_does() {
    let (mut one, mut two) = (boxed(1 << 20, &DEFAULT), boxed(1 << 20, &DEFAULT));
    for (first, second) in [(true, false), (false, true)] {
        let of = |is_one| Moving::from_text(if is_one { &one } else { &two }, "x").expect("room");
        let pair = Pair(of(first), of(second));
        assert!(panics(|| pair.release(&mut one)), "{first}, {second}");
    }
    let mut map = HashMap::<u32, Moving, ByDefault>::default();
    let foreign = Moving::from_text(&two, "x").expect("room");
    map.insert(&mut one, 1, foreign).expect("room");
    assert!(panics(|| map.free(&mut one)));
    let name = Moving::from_text(&two, "x").expect("room");
    let packed = Packed { number: 1, name };
    assert_eq!({ packed.number }, 1);
    packed.release(&mut two);
    // Those of `two` above leaked, each in a panic.
    assert_eq!(two.live_blocks().count(), 3);
}
