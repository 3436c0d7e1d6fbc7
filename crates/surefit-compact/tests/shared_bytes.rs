//! Byte objects of the shared heap, contiguous and in pieces, against vectors.

use std::alloc::Layout;
use std::mem::MaybeUninit;

use rand::{Rng, SeedableRng};
use rand_chacha::ChaCha8Rng;
use surefit_compact::shared::{Local, PerClass, SharedConfig, SharedHeap};
use surefit_compact::{Bound, Bytes, Config, Geometry};
use surefit_core::Refused;
use surefit_testkit::layout;

type Lock = parking_lot::RawMutex;
type Heap<'m> = SharedHeap<'m, Lock>;

fn config(pieces: Option<usize>, bound: Bound, increment: u32) -> SharedConfig {
    let config = Config::new(Geometry::DEFAULT, bound).unwrap();
    let config = config.with_pieces(pieces).unwrap();
    SharedConfig::new(config).with_increment(increment).unwrap()
}

fn assert_bytes(heap: &Heap<'_>, bytes: &Bytes<u8>, model: &[u8]) {
    assert_eq!(bytes.len(), model.len());
    let mut read = vec![0; model.len()];
    heap.read_at(bytes, 0, &mut read).unwrap();
    assert_eq!(read, model);
    assert!(heap.chunk(bytes, bytes.len()).unwrap().is_empty());
}

fn step(
    heap: &Heap<'_>,
    local: &Local<'_, '_, Lock, PerClass>,
    live: &mut Vec<(Bytes<u8>, Vec<u8>)>,
    random: &mut ChaCha8Rng,
) {
    let len =
        |random: &mut ChaCha8Rng| [0, 1, 60, 64, 65, 700, 5000, 20_000][random.random_range(0..8)];
    match random.random_range(0..5) {
        0 | 1 => {
            let len = len(random);
            live.push((local.alloc_zeroed(layout(len)).unwrap(), vec![0; len]));
        }
        2 if !live.is_empty() => {
            let (bytes, model) = live.swap_remove(random.random_range(0..live.len()));
            assert_bytes(heap, &bytes, &model);
            local.free_bytes(bytes).unwrap();
        }
        3 if !live.is_empty() => {
            let at = random.random_range(0..live.len());
            let (bytes, model) = &mut live[at];
            let len = len(random);
            local.resize(bytes, layout(len)).unwrap();
            model.resize(len, 0);
            assert_bytes(heap, bytes, model);
        }
        4 if !live.is_empty() => {
            let at = random.random_range(0..live.len());
            let (bytes, model) = &mut live[at];
            let from = random.random_range(0..=model.len());
            let fill = vec![random.random(); (model.len() - from).min(300)];
            heap.write_at(bytes, from, &fill).unwrap();
            model[from..from + fill.len()].copy_from_slice(&fill);
        }
        _ => {}
    }
}

#[test]
fn objects_keep_their_bytes_in_pieces_or_not() {
    let shapes = [
        (Some(64), Bound::Pages(1), 16),
        (Some(4096), Bound::DEFAULT, 256),
        (Some(16384), Bound::Unbounded, 64),
    ];
    for (seed, (pieces, bound, increment)) in (0..).zip(shapes) {
        let config = config(pieces, bound, increment);
        let mut memory = vec![MaybeUninit::uninit(); 8 << 20];
        let heap = Heap::new(&mut memory, &config).unwrap();
        let local = heap.register().unwrap();
        let (mut live, mut random) = (Vec::new(), ChaCha8Rng::seed_from_u64(seed));
        for round in 0..600 {
            step(&heap, &local, &mut live, &mut random);
            if round % 50 == 0 {
                heap.check(false).unwrap();
            }
        }
        for (bytes, model) in live {
            assert_bytes(&heap, &bytes, &model);
            local.free_bytes(bytes).unwrap();
        }
        heap.check(false).unwrap();
        assert_eq!(heap.stats().live_blocks, 0);
    }
}

#[test]
fn what_does_not_fit_is_refused_and_leaves_nothing_behind() {
    let config = config(Some(4096), Bound::Pages(1), 64);
    let mut memory = vec![MaybeUninit::uninit(); 256 << 10];
    let heap = Heap::new(&mut memory, &config).unwrap();
    let local = heap.register().unwrap();
    let Err(Refused::TooLarge { limit }) = local.alloc_zeroed(layout((256 << 10) + 1)) else {
        panic!("the region is shorter");
    };
    assert!((240 << 10) < limit && limit <= 256 << 10, "{limit}");
    for len in [limit + 1, 1 << 20, 1 << 40] {
        let refused = local.alloc_zeroed(layout(len)).unwrap_err();
        assert_eq!(refused, Refused::TooLarge { limit }, "{len}");
    }
    let refused = local.alloc_zeroed(layout(limit)).unwrap_err();
    assert!(
        matches!(refused, Refused::NoPage | Refused::NoHandle),
        "{refused}"
    );
    assert_eq!(heap.stats().live_blocks, 0);
    heap.check(false).unwrap();
    let mut bytes = local.alloc_zeroed(layout(100_000)).unwrap();
    heap.write_at(&mut bytes, 0, &[7; 100_000]).unwrap();
    let refused = local.resize(&mut bytes, layout(1 << 20)).unwrap_err();
    assert_eq!(refused, Refused::TooLarge { limit });
    let refused = local.resize(&mut bytes, layout(limit)).unwrap_err();
    assert!(
        matches!(refused, Refused::NoPage | Refused::NoHandle),
        "{refused}"
    );
    assert_bytes(&heap, &bytes, &[7; 100_000]);
    assert_eq!(
        heap.pin_bytes(&bytes).unwrap_err(),
        Refused::TooLarge { limit: 4096 }
    );
    local.free_bytes(bytes).unwrap();
    assert_eq!(heap.stats().pages, 0);
}

#[test]
fn what_another_heap_refuses_to_resize_is_unchanged() {
    let config = config(Some(4096), Bound::Pages(1), 64);
    let mut memory = [(); 2].map(|()| vec![MaybeUninit::new(0xAB); 512 << 10]);
    let [ours, theirs] = &mut memory;
    let (ours, theirs) = (
        Heap::new(ours, &config).unwrap(),
        Heap::new(theirs, &config).unwrap(),
    );
    let (our_local, their_local) = (ours.register().unwrap(), theirs.register().unwrap());
    for len in [0, 40, 5000] {
        let mut bytes = our_local.alloc_zeroed(layout(len)).unwrap();
        for new in [0, 48, 100_000] {
            let refused = their_local.resize(&mut bytes, layout(new));
            assert_eq!(refused, Err(Refused::ForeignHandle), "{len} to {new}");
            assert_bytes(&ours, &bytes, &vec![0; len]);
        }
        our_local.free_bytes(bytes).unwrap();
    }
    assert_eq!(theirs.stats().live_blocks, 0);
}

#[test]
fn a_resized_object_keeps_the_alignment_that_is_asked_for() {
    let config = config(Some(4096), Bound::Pages(1), 64);
    let mut memory = vec![MaybeUninit::uninit(); 512 << 10];
    let heap = Heap::new(&mut memory, &config).unwrap();
    let local = heap.register().unwrap();
    let aligned = |len| Layout::from_size_align(len, 256).unwrap();
    let mut bytes = local.alloc_zeroed(aligned(200)).unwrap();
    for len in [300, 2000, 100] {
        local.resize(&mut bytes, aligned(len)).unwrap();
        assert_eq!(
            heap.pin_bytes(&bytes).unwrap().as_ptr().align_offset(256),
            0
        );
        assert_bytes(&heap, &bytes, &vec![0; len]);
    }
    local.free_bytes(bytes).unwrap();
}
