//! Byte objects named by keys, beside a naive model: current keys see exactly their bytes, and all
//! former ones see nothing, for ever.

use std::alloc::Layout;
use std::mem::MaybeUninit;

use rand::{Rng, SeedableRng};
use rand_chacha::ChaCha8Rng;
use surefit_compact::{ByteKey, Config, Counted, KeyHeap, Medium, Narrow, Wide, Width};
use surefit_core::Refused;
use surefit_testkit::{JunkRegion, layout};

/// An object as the model sees it.
struct Object {
    key: ByteKey,
    bytes: Vec<u8>,
}

/// A heap, what lives in it, and the keys that are stale.
struct World<'m, W: Width<Generation = ()>, G: Counted> {
    heap: KeyHeap<'m, W, G>,
    live: Vec<Object>,
    stale: Vec<ByteKey>,
    random: ChaCha8Rng,
}

impl<W: Width<Generation = ()>, G: Counted> World<'_, W, G> {
    fn len(&mut self) -> usize {
        match self.random.random_range(0..4) {
            0 => self.random.random_range(0..40),
            1 => self.random.random_range(0..300),
            2 => self.random.random_range(0..3000),
            _ => self.random.random_range(0..20_000),
        }
    }

    fn allocate(&mut self) {
        let len = self.len();
        let is_promised = self.heap.can_allocate_bytes(len, 8);
        let allocated = self.heap.alloc_zeroed(layout(len));
        assert_eq!(allocated.is_ok(), is_promised);
        if let Ok(key) = allocated {
            self.live.push(Object {
                key,
                bytes: vec![0; len],
            });
        }
    }

    fn write(&mut self) {
        let Some(at) = self.any() else { return };
        let Object { key, bytes } = &mut self.live[at];
        let from = self.random.random_range(0..=bytes.len());
        self.random.fill(&mut bytes[from..]);
        self.heap
            .write_at(*key, from, &bytes[from..])
            .expect("live");
    }

    fn resize(&mut self) {
        let len = self.len();
        let Some(at) = self.any() else { return };
        let Object { key, bytes } = &mut self.live[at];
        match self.heap.resize(*key, layout(len)) {
            Ok(fresh) => {
                assert_ne!(fresh, *key);
                self.stale.push(std::mem::replace(key, fresh));
                bytes.resize(len, 0);
            }
            Err(refused) => assert!(!matches!(refused, Refused::StaleHandle), "{refused}"),
        }
    }

    fn free(&mut self) {
        let Some(at) = self.any() else { return };
        let Object { key, .. } = self.live.swap_remove(at);
        self.heap.free_bytes(key).expect("live");
        self.stale.push(key);
    }

    fn any(&mut self) -> Option<usize> {
        (!self.live.is_empty()).then(|| self.random.random_range(0..self.live.len()))
    }

    /// Every live object has its bytes, read in two ways; every stale key has none.
    fn verify(&self) {
        self.heap.check().expect("sound");
        for Object { key, bytes } in &self.live {
            assert_eq!(key.len(), bytes.len());
            let mut read = vec![0xee; bytes.len()];
            self.heap.read_at(*key, 0, &mut read).expect("live");
            assert_eq!(read, *bytes);
            let mut at = 0;
            while at < bytes.len() {
                let chunk = self.heap.chunk(*key, at).expect("live");
                assert_eq!(chunk, &bytes[at..at + chunk.len()]);
                at += chunk.len();
            }
        }
        for key in &self.stale {
            assert!(!self.heap.contains_bytes(*key), "{key:?}");
            assert_eq!(self.heap.chunk(*key, 0), Err(Refused::StaleHandle));
        }
    }
}

/// A script of `steps` random calls in a region of `bytes` bytes.
fn run<W: Width<Generation = ()>, G: Counted>(
    config: &Config,
    bytes: usize,
    seed: u64,
    steps: u32,
) {
    let mut memory = JunkRegion::misaligned(bytes, 64 << 10, 8 * seed as usize, seed);
    let mut world = World::<W, G> {
        heap: KeyHeap::new(memory.memory(), config).expect("enough"),
        live: Vec::new(),
        stale: Vec::new(),
        random: ChaCha8Rng::seed_from_u64(seed),
    };
    for step in 0..steps {
        match world.random.random_range(0..8) {
            0..=2 => world.allocate(),
            3 => world.write(),
            4..=5 => world.resize(),
            _ => world.free(),
        }
        if step % 16 == 0 {
            world.verify();
        }
    }
    world.verify();
    let largest = world.heap.largest_free_bytes();
    if largest > 0 {
        let layout = Layout::from_size_align(largest, 1).expect("valid");
        let key = world.heap.alloc(layout).expect("promised");
        world.heap.free_bytes(key).expect("live");
    }
    for Object { key, .. } in std::mem::take(&mut world.live) {
        world.heap.free_bytes(key).expect("live");
        assert_eq!(world.heap.free_bytes(key), Err(Refused::StaleHandle));
    }
    world.verify();
}

#[test]
fn keys_see_their_bytes_and_stale_ones_see_nothing() {
    for seed in 0..6 {
        run::<Wide, u32>(&Config::DEFAULT, 1 << 19, seed, 600);
        run::<Narrow, u16>(&Config::TINY, 1 << 16, seed, 600);
    }
}

/// Generations of one byte are used up many times: entries retire, and objects whose entry has no
/// generation left get another one.
#[test]
fn generations_that_are_used_up_make_no_stale_key_valid() {
    run::<Narrow, u8>(&Config::TINY, 1 << 15, 1, 6000);
    let mut memory = vec![MaybeUninit::uninit(); 1 << 19];
    let mut heap: KeyHeap<Wide, u8> = KeyHeap::new(&mut memory, &Config::DEFAULT).expect("enough");
    let mut key = heap.alloc_zeroed(layout(9000)).expect("room");
    heap.write_at(key, 8990, b"the end").expect("live");
    let mut former = Vec::new();
    for i in 0..2000 {
        former.push(key);
        key = heap.resize(key, layout(9000 + i % 3)).expect("room");
        let mut read = [0; 7];
        heap.read_at(key, 8990, &mut read).expect("live");
        assert_eq!(&read, b"the end");
    }
    assert!(former.iter().all(|key| !heap.contains_bytes(*key)));
    assert!(heap.stats().retired_keys >= 7, "{:?}", heap.stats());
    heap.check().expect("sound");
}

#[test]
fn a_refused_resize_leaves_the_key_as_it_was() {
    let mut memory = vec![MaybeUninit::uninit(); 1 << 15];
    let mut heap: KeyHeap<Narrow> = KeyHeap::new(&mut memory, &Config::TINY).expect("enough");
    let key = heap.alloc_zeroed(layout(100)).expect("room");
    heap.write_at(key, 0, &[7; 100]).expect("live");
    for len in [1 << 15, 1 << 20, isize::MAX as usize - 7] {
        assert!(heap.resize(key, layout(len)).is_err());
        assert_eq!(heap.chunk(key, 0).expect("live"), [7; 100]);
    }
    heap.check().expect("sound");
}

/// The entry that would replace one with its last generation goes back.
#[test]
fn a_refused_resize_in_the_last_generation_leaves_the_key_as_it_was() {
    let mut memory = vec![MaybeUninit::uninit(); 1 << 15];
    let mut heap: KeyHeap<Narrow, u8> = KeyHeap::new(&mut memory, &Config::TINY).expect("enough");
    let mut key = heap.alloc_zeroed(layout(100)).expect("room");
    for _ in 0..254 {
        key = heap.resize(key, layout(100)).expect("room");
    }
    heap.write_at(key, 0, &[7; 100]).expect("live");
    for len in [1 << 15, 1 << 20, isize::MAX as usize - 7] {
        assert!(heap.resize(key, layout(len)).is_err());
        assert_eq!(heap.chunk(key, 0).expect("live"), [7; 100]);
        heap.check().expect("sound");
    }
    assert_eq!(heap.stats().retired_keys, 0);
    let former = key;
    key = heap.resize(key, layout(100)).expect("room");
    assert_eq!(heap.stats().retired_keys, 1);
    assert_eq!(heap.chunk(key, 0).expect("live"), [7; 100]);
    assert!(!heap.contains_bytes(former));
    heap.check().expect("sound");
}

#[test]
fn keys_of_another_heap_are_refused_by_every_call() {
    let mut memory = [
        vec![MaybeUninit::uninit(); 1 << 17],
        vec![MaybeUninit::uninit(); 1 << 17],
    ];
    let [first, second] = &mut memory;
    let one: KeyHeap<Wide> = KeyHeap::new(first, &Config::DEFAULT).expect("enough");
    let mut other: KeyHeap<Wide> = KeyHeap::new(second, &Config::DEFAULT).expect("enough");
    let key = one.alloc_zeroed(layout(50)).expect("room");
    let own = other.alloc_zeroed(layout(50)).expect("room");
    let foreign = Refused::ForeignHandle;
    assert_eq!(other.chunk(key, 0), Err(foreign));
    assert_eq!(other.chunk_mut(key, 0), Err(foreign));
    assert_eq!(other.read_at(key, 0, &mut [0]), Err(foreign));
    assert_eq!(other.write_at(key, 0, &[0]), Err(foreign));
    assert_eq!(other.resize(key, layout(60)), Err(foreign));
    assert_eq!(other.free_bytes(key), Err(foreign));
    assert!(!other.contains_bytes(key) && other.contains_bytes(own) && one.contains_bytes(key));
    assert!(!own.is_empty() && own.len() == 50);
    other.check().expect("sound");
}

#[test]
fn a_key_is_the_key_of_its_parts() {
    let mut memory = vec![MaybeUninit::uninit(); 1 << 17];
    let mut heap: KeyHeap<Wide> = KeyHeap::new(&mut memory, &Config::DEFAULT).expect("enough");
    let key = heap.alloc(layout(24)).expect("room");
    let (name, generation, len) = key.to_parts();
    // SAFETY: the parts of one key.
    let same = unsafe { ByteKey::<MaybeUninit<u8>>::from_parts(name, generation, len) };
    assert_eq!(same, key);
    heap.chunk_mut(same, 0)
        .expect("live")
        .fill(MaybeUninit::new(1));
    heap.free_bytes(same).expect("live");
    assert!(!heap.contains_bytes(key));
    // An object at the same place has another generation.
    let next = heap.alloc(layout(24)).expect("room");
    assert_ne!(next, key);
    assert!(heap.contains_bytes(next) && !heap.contains_bytes(same));
}

#[test]
#[should_panic(expected = "beyond the object")]
fn offsets_beyond_the_object_panic() {
    let mut memory = vec![MaybeUninit::uninit(); 1 << 17];
    let heap: KeyHeap<Medium> = KeyHeap::new(&mut memory, const { &medium() }).expect("enough");
    let key = heap.alloc_zeroed(layout(24)).expect("room");
    let _ = heap.chunk(key, 25);
}

const fn medium() -> Config {
    use surefit_compact::{Bound, Geometry, GeometrySpec, Tail};
    let spec = GeometrySpec {
        tail: Tail::BackReferences { bytes: 3 },
        ..GeometrySpec::DEFAULT
    };
    let Ok(geometry) = Geometry::new(&spec) else {
        panic!("valid")
    };
    let Ok(config) = Config::new(geometry, Bound::DEFAULT) else {
        panic!("valid")
    };
    config
}
