//! The block table heap as its users see it: nothing moves, nothing is lost, everything is counted.

mod scripts;

use std::alloc::Layout;

use surefit_compact::automaton::pages_bound;
use surefit_compact::{Bound, Fraction, Full, Narrow, Wide, Width};
use surefit_core::Refused;
use surefit_papers::block_table::certify::{FrameDemand, certify, heap_bytes};
use surefit_papers::block_table::{BlockTableConfig, BlockTableConfigError, BlockTableHeap, Bytes};
use surefit_testkit::{JunkRegion, Op, Shape, script};

fn layout(size: usize, align: usize) -> Layout {
    Layout::from_size_align(size, align).expect("a layout")
}

fn holes(base: u32, numerator: u32, denominator: u32) -> Bound {
    let fraction = Fraction::new(numerator, denominator).expect("at most one half");
    Bound::Holes { base, fraction }
}

fn config<W: Width<Generation = ()>>(frame: usize, bound: Bound, page: usize) -> BlockTableConfig {
    BlockTableConfig::with_pages::<W>(frame, bound, page).expect("valid")
}

fn wide<'m>(region: &'m mut JunkRegion, config: &'m BlockTableConfig) -> BlockTableHeap<'m> {
    BlockTableHeap::new(region.memory(), config).expect("large enough")
}

fn bounds() -> [Bound; 5] {
    [
        Bound::Pages(1),
        Bound::Pages(3),
        Bound::DEFAULT,
        holes(0, 0, 1),
        Bound::Unbounded,
    ]
}

fn places<W: Width<Generation = ()>>(
    heap: &BlockTableHeap<'_, W>,
    bytes: &Bytes<u8>,
) -> Vec<usize> {
    let chunks = heap.chunks(bytes);
    chunks.map(|chunk| chunk.as_ptr().addr()).collect()
}

// ---- nothing moves ------------------------------------------------------------------------------

/// Objects of 100 bytes, of which all but every `kept`th one are freed.
fn holed(heap: &BlockTableHeap<'_>, count: usize, kept: usize) -> Vec<Bytes<u8>> {
    let fresh = |n: usize| {
        let mut bytes = heap.alloc_zeroed(layout(100, 8)).expect("room");
        heap.write_at(&mut bytes, 0, &[n as u8; 100]);
        bytes
    };
    let all: Vec<_> = (0..count).map(fresh).collect();
    let mut left = Vec::new();
    for (n, bytes) in all.into_iter().enumerate() {
        if n % kept == 0 {
            left.push(bytes);
        } else {
            heap.free_bytes(bytes);
        }
    }
    left
}

#[test]
fn compaction_moves_entries_and_leaves_every_frame_where_it_is() {
    let config = config::<Wide>(32, Bound::Unbounded, 4096);
    let mut region = JunkRegion::new(1 << 20, 4096, 1);
    let heap = wide(&mut region, &config);
    let left = holed(&heap, 2000, 10);
    let (before, entries) = (heap.stats(), heap.stats().moved_entries_total);
    let places: Vec<_> = left.iter().map(|bytes| places(&heap, bytes)).collect();
    let raw = heap.address(&left[7], 33);
    assert!(before.not_full_pages > 5 && entries == 0);
    let moves = heap.compact(u64::MAX);
    heap.check().expect("sound");
    let after = heap.stats();
    assert!(moves > 100, "{moves}");
    assert_eq!(
        after.moved_entries_total,
        4 * moves,
        "a row of 100 bytes has four"
    );
    assert_eq!(after.not_full_pages, 1);
    assert!(after.table_pages < before.table_pages);
    assert_eq!(
        (after.live_frames, after.frame_pages),
        (before.live_frames, before.frame_pages)
    );
    for (n, bytes) in left.iter().enumerate() {
        let now: Vec<_> = heap.chunks(bytes).map(|c| c.as_ptr().addr()).collect();
        assert_eq!(now, places[n], "no frame moved");
        assert!(heap.chunks(bytes).flatten().all(|&b| b == (10 * n) as u8));
    }
    // SAFETY: the object is live, so its byte 33 is where it was.
    assert_eq!(unsafe { raw.read() }, 70);
}

#[test]
fn references_outlive_the_frees_of_others() {
    let config = config::<Wide>(64, Bound::Pages(1), 1024);
    let mut region = JunkRegion::new(200_000, 1024, 2);
    let heap = wide(&mut region, &config);
    let values: Vec<_> = (0..600_u64)
        .map(|n| heap.insert([n; 4]).expect("room"))
        .collect();
    let (mut odd, mut even) = (Vec::new(), Vec::new());
    for (n, handle) in values.into_iter().enumerate() {
        if n % 2 == 0 {
            even.push(handle);
        } else {
            odd.push(handle);
        }
    }
    let kept: Vec<&[u64; 4]> = odd.iter().map(|handle| heap.get(handle)).collect();
    even.into_iter().for_each(|handle| heap.free(handle));
    assert!(heap.stats().moves_total > 50, "frees compact");
    for (n, value) in kept.into_iter().enumerate() {
        assert_eq!(*value, [2 * n as u64 + 1; 4]);
    }
    heap.check().expect("sound");
}

// ---- bounds -------------------------------------------------------------------------------------

#[test]
fn abstract_pages_keep_the_bound_of_compact_fit() {
    for bound in bounds() {
        let config = config::<Wide>(32, bound, 1024);
        let mut region = JunkRegion::new(1 << 20, 1024, 3);
        let heap = wide(&mut region, &config);
        let (mut live, mut peak) = (Vec::<Bytes<_>>::new(), 0);
        for op in script(Shape::Sawtooth, 9, 3000, 100) {
            match op {
                Op::Alloc { .. } => live.push(heap.alloc(layout(100, 8)).expect("room")),
                Op::Free(nth) if !live.is_empty() => {
                    heap.free_bytes(live.swap_remove(nth % live.len()));
                }
                _ => {}
            }
            peak = peak.max(live.len() as u32);
            let class = heap.row_class_stats(100).expect("one piece");
            assert_eq!((class.live as usize, class.entries), (live.len(), 4));
            let most = pages_bound(bound, class.blocks, class.live, peak);
            assert!(class.pages <= most, "{bound:?}: {class:?}");
            let frames = 4 * peak;
            assert_eq!(heap.stats().frame_pages, frames.div_ceil(1024 / 32));
        }
        live.into_iter().for_each(|bytes| heap.free_bytes(bytes));
    }
}

#[test]
fn frames_serve_every_size_class() {
    let config = config::<Wide>(32, Bound::Pages(1), 1024);
    let mut region = JunkRegion::new(300_000, 1024, 4);
    let heap = wide(&mut region, &config);
    let small: Vec<_> = (0..2000)
        .map(|_| heap.alloc(layout(32, 8)).expect("room"))
        .collect();
    let pages = heap.stats().frame_pages;
    small.into_iter().for_each(|bytes| heap.free_bytes(bytes));
    for size in [64, 700, 5000] {
        let count = 2000 * 32 / usize::next_multiple_of(size, 32);
        let live: Vec<_> = (0..count)
            .map(|_| heap.alloc(layout(size, 8)).expect("room"))
            .collect();
        assert_eq!(heap.stats().frame_pages, pages, "no frame more");
        live.into_iter().for_each(|bytes| heap.free_bytes(bytes));
    }
    heap.check().expect("sound");
}

/// Runs random operations that stay inside a demand in a region of its certificate; nothing is
/// refused.
fn keep_to<W: Width<Generation = ()>>(
    config: &BlockTableConfig,
    seed: u64,
    demand: &FrameDemand,
    sizes: usize,
) {
    let certificate = certify::<W>(config, demand).expect("certifiable");
    let mut region = JunkRegion::misaligned(certificate.heap_bytes, config.page_bytes(), 1, seed);
    let heap = BlockTableHeap::<W>::new(region.memory(), config).expect("large enough");
    let frames = |bytes: usize| config.frames_of(bytes) as u64;
    let (mut live, mut held): (Vec<Bytes<_>>, u64) = (Vec::new(), 0);
    for shape in Shape::ALL {
        for op in script(shape, seed, 1500, sizes) {
            match op {
                Op::Alloc { size, .. } => {
                    let fits = held + frames(size) <= demand.frames;
                    if fits && (live.len() as u64) < demand.objects {
                        held += frames(size);
                        live.push(heap.alloc(layout(size, 1)).expect("certified"));
                    }
                }
                Op::Free(nth) if !live.is_empty() => {
                    let bytes = live.swap_remove(nth % live.len());
                    held -= frames(bytes.len());
                    heap.free_bytes(bytes);
                }
                Op::Resize(nth, size) if !live.is_empty() => {
                    let which = nth % live.len();
                    let bytes = &mut live[which];
                    let after = held - frames(bytes.len()) + frames(size);
                    if after <= demand.frames {
                        heap.resize(bytes, layout(size, 1)).expect("certified");
                        held = after;
                    }
                }
                _ => {}
            }
        }
    }
    heap.check().expect("sound");
    live.into_iter().for_each(|bytes| heap.free_bytes(bytes));
}

#[test]
fn a_demand_within_the_certificate_is_never_refused() {
    for (seed, bound) in (0..).zip(bounds()) {
        for (frame, page) in [(16, 1024), (32, 4096), (128, 2048)] {
            let wide = config::<Wide>(frame, bound, page);
            for (bytes, largest) in [(3000, 200), (40_000, 900), (60_000, 9000)] {
                let demand = FrameDemand::of_bytes(&wide, 150, bytes, largest);
                keep_to::<Wide>(&wide, seed, &demand, largest);
            }
        }
        let narrow = config::<Narrow>(32, bound, 1024);
        let demand = FrameDemand::of_bytes(&narrow, 100, 20_000, 700);
        keep_to::<Narrow>(&narrow, seed, &demand, 700);
    }
}

/// Where there is one way to fill the demand, a region two pages smaller than the certificate does
/// not serve it.
#[test]
fn a_certificate_is_tight_for_objects_of_one_frame() {
    for (bound, page) in bounds().into_iter().flat_map(|b| [(b, 1024), (b, 4096)]) {
        let config = config::<Wide>(32, bound, page);
        // As many frames as fill their pages, as many rows as fill theirs.
        for objects in [64, 1280, 3840] {
            let demand = FrameDemand {
                objects,
                frames: objects,
                largest: 1,
                largest_resized: 0,
            };
            let certificate = certify::<Wide>(&config, &demand).expect("certifiable");
            let served = |bytes: usize| {
                let mut region = JunkRegion::misaligned(bytes, page, 1, 3);
                let Ok(heap) = BlockTableHeap::<Wide>::new(region.memory(), &config) else {
                    return 0;
                };
                let fits = |_: &u64| heap.alloc(layout(20, 8)).is_ok();
                (0..objects).take_while(fits).count() as u64
            };
            assert_eq!(served(certificate.heap_bytes), objects);
            assert!(served(certificate.heap_bytes - 2 * page) < objects);
        }
    }
}

/// One object that takes all frames, and grows and shrinks by one: its old row and its new one are
/// live at once.
#[test]
fn a_certificate_counts_the_resize_in_flight() {
    for largest in [200_u64, 3001, 40_001] {
        let config = config::<Wide>(16, Bound::DEFAULT, 1024);
        let demand = FrameDemand {
            objects: 1,
            frames: largest,
            largest,
            largest_resized: largest,
        };
        let certificate = certify::<Wide>(&config, &demand).expect("certifiable");
        let mut region = JunkRegion::misaligned(certificate.heap_bytes, 1024, 1, 3);
        let heap = wide(&mut region, &config);
        let bytes = |frames: u64| layout(16 * frames as usize, 1);
        let mut object = heap.alloc(bytes(largest)).expect("certified");
        for frames in [largest - 1, largest, largest - 9, largest, 1, largest] {
            heap.resize(&mut object, bytes(frames)).expect("certified");
            heap.check().expect("sound");
        }
        let unresized = FrameDemand {
            largest_resized: 0,
            ..demand
        };
        let without = certify::<Wide>(&config, &unresized).expect("certifiable");
        assert!(without.heap_bytes < certificate.heap_bytes);
        heap.free_bytes(object);
    }
}

#[test]
fn a_certificate_is_constant_and_covers_objects_without_bytes() {
    static CONFIG: BlockTableConfig = BlockTableConfig::DEFAULT;
    const DEMAND: FrameDemand = FrameDemand::of_bytes(&CONFIG, 500, 0, 0);
    const BYTES: usize = heap_bytes::<Wide>(&CONFIG, &DEMAND);
    assert_eq!((DEMAND.frames, DEMAND.largest), (500, 1));
    let mut region = JunkRegion::new(BYTES, 8, 1);
    let heap = wide(&mut region, &CONFIG);
    let objects: Vec<_> = (0..500)
        .map(|_| heap.alloc(layout(0, 1)).expect("certified"))
        .collect();
    assert_eq!(heap.stats().live_frames, 500);
    objects.into_iter().for_each(|bytes| heap.free_bytes(bytes));
}

#[test]
fn a_demand_beyond_the_width_has_no_certificate() {
    let narrow = config::<Narrow>(32, Bound::DEFAULT, 1024);
    let demand = FrameDemand::of_bytes(&narrow, 100_000, 100 << 20, 100);
    assert!(certify::<Narrow>(&narrow, &demand).is_err());
    let wide = config::<Wide>(32, Bound::DEFAULT, 1024);
    let demand = FrameDemand::of_bytes(&wide, 1 << 20, 64 << 30, 1 << 20);
    assert!(certify::<Wide>(&wide, &demand).is_err());
}

// ---- refusals -----------------------------------------------------------------------------------

#[test]
fn an_exhausted_heap_refuses_and_is_unchanged() {
    let config = config::<Wide>(32, Bound::DEFAULT, 1024);
    for size in [1, 33, 100, 3000, 20_000] {
        let mut region = JunkRegion::new(100_000, 1024, 5);
        let heap = wide(&mut region, &config);
        let mut live = Vec::new();
        while let Ok(bytes) = heap.alloc(layout(size, 8)) {
            live.push(bytes);
        }
        let full = (heap.stats(), heap.usage());
        for _ in 0..3 {
            let refused = heap.alloc(layout(size, 8)).expect_err("full");
            assert!(
                matches!(refused, Refused::NoPage | Refused::NoHandle),
                "{refused}"
            );
        }
        let grown = heap.resize(&mut live[0], layout(90_000, 8));
        assert!(grown.is_err() && live[0].len() == size);
        assert_eq!(full, (heap.stats(), heap.usage()));
        heap.check().expect("sound");
        let count = live.len();
        live.drain(..).for_each(|bytes| heap.free_bytes(bytes));
        live.extend((0..count).map(|_| heap.alloc(layout(size, 8)).expect("as before")));
        live.into_iter().for_each(|bytes| heap.free_bytes(bytes));
    }
}

#[test]
fn what_is_called_free_can_be_allocated() {
    let config = config::<Wide>(64, Bound::DEFAULT, 1024);
    let mut region = JunkRegion::new(80_000, 1024, 6);
    let heap = wide(&mut region, &config);
    let mut live = holed(&heap, 300, 3);
    while heap.largest_free() > 0 {
        let largest = heap.largest_free();
        live.push(heap.alloc_zeroed(layout(largest, 1)).expect("promised"));
        heap.check().expect("sound");
    }
    assert_eq!(heap.stats().free_frames, 0);
    live.into_iter().for_each(|bytes| heap.free_bytes(bytes));
}

#[test]
fn what_no_heap_can_serve_is_refused_with_its_limit() {
    let config = config::<Wide>(32, Bound::DEFAULT, 1024);
    let mut region = JunkRegion::new(100_000, 1024, 7);
    let heap = wide(&mut region, &config);
    let Err(Full { value, refused }) = heap.insert([1_u8; 33]) else {
        panic!("larger than a frame");
    };
    assert_eq!((value, refused), ([1; 33], Refused::TooLarge { limit: 32 }));
    let aligned = heap.alloc(layout(8, 64)).expect_err("beyond a frame");
    assert_eq!(aligned, Refused::TooAligned { limit: 32 });
    let far = usize::try_from(1_u64 << 40).unwrap_or(1 << 30);
    for size in [200_000, far, isize::MAX as usize] {
        assert!(heap.alloc(layout(size, 1)).is_err() && !heap.can_allocate(size, 1));
    }
    assert_eq!(heap.stats().live_objects, 0);
    heap.check().expect("sound");
}

#[test]
fn handles_of_another_heap_are_refused() {
    let config = config::<Wide>(32, Bound::DEFAULT, 1024);
    let [mut one, mut other] = [1, 2].map(|seed| JunkRegion::new(50_000, 1024, seed));
    let (one, other) = (wide(&mut one, &config), wide(&mut other, &config));
    let mut value = one.insert(5_u32).expect("room");
    assert_eq!(other.try_get(&value), Err(Refused::ForeignHandle));
    assert_eq!(other.try_get_mut(&mut value), Err(Refused::ForeignHandle));
    let mut bytes = one.alloc_zeroed(layout(50, 1)).expect("room");
    let resized = other.resize(&mut bytes, layout(60, 1));
    assert_eq!(resized, Err(Refused::ForeignHandle));
    assert_eq!((one.remove(value), bytes.len()), (5, 50));
    one.free_bytes(bytes);
}

#[test]
#[should_panic(expected = "the handle belongs to another heap")]
fn a_foreign_free_panics() {
    let config = config::<Wide>(32, Bound::DEFAULT, 1024);
    let [mut one, mut other] = [1, 2].map(|seed| JunkRegion::new(50_000, 1024, seed));
    let value = wide(&mut one, &config).insert(5_u32).expect("room");
    wide(&mut other, &config).free(value);
}

#[test]
fn wrong_configurations_and_regions_are_refused() {
    let new = |frame, page| BlockTableConfig::with_pages::<Wide>(frame, Bound::DEFAULT, page);
    for (frame, page) in [
        (8, 4096),
        (48, 4096),
        (8192, 16384),
        (2048, 1024),
        (0, 1024),
    ] {
        let expected = BlockTableConfigError::FrameBytes { frame_bytes: frame };
        assert_eq!(new(frame, page).expect_err("no such frame"), expected);
    }
    assert!(matches!(
        new(32, 3000).expect_err("no such page"),
        BlockTableConfigError::Geometry(_)
    ));
    let none = BlockTableConfig::new(32, Bound::Pages(0)).expect_err("no such bound");
    assert!(matches!(none, BlockTableConfigError::Bound(_)));
    let config = BlockTableConfig::DEFAULT;
    let refused = BlockTableHeap::<Wide>::new(&mut [], &config).expect_err("no region");
    assert!(matches!(refused, Refused::Region { .. }));
}

#[test]
fn a_region_that_words_cannot_name_is_refused() {
    for (frame, page) in [(16, 1024), (32, 1024), (256, 16384)] {
        let config = config::<Narrow>(frame, Bound::DEFAULT, page);
        let limit = config.region_max::<Narrow>();
        let mut region = JunkRegion::new(limit + page, page, 1);
        let memory = region.memory();
        let heap = BlockTableHeap::<Narrow>::new(&mut memory[..limit], &config);
        heap.expect("named").check().expect("sound");
        let refused = BlockTableHeap::<Narrow>::new(memory, &config).expect_err("beyond words");
        assert_eq!(refused, Refused::TooLarge { limit });
    }
    assert!(BlockTableConfig::DEFAULT.region_max::<Wide>() > 1 << 30);
}

// ---- values -------------------------------------------------------------------------------------

#[test]
fn values_are_used_in_place_and_dropped_once() {
    let config = config::<Wide>(64, Bound::Pages(1), 1024);
    let mut region = JunkRegion::new(100_000, 1024, 8);
    let heap = wide(&mut region, &config);
    let counted = std::sync::Arc::new(());
    let mut handles: Vec<_> = (0..500)
        .map(|n| {
            heap.insert((counted.clone(), format!("{n}")))
                .map_err(|full| full.refused)
                .expect("room")
        })
        .collect();
    heap.get_mut(&mut handles[3]).1.push('!');
    for handle in handles.drain(..).skip(3).step_by(2).collect::<Vec<_>>() {
        heap.check().expect("sound");
        if heap.get(&handle).1 == "3!" {
            assert_eq!(heap.remove(handle).1, "3!");
        } else {
            heap.free(handle);
        }
    }
    let left = heap.stats().live_objects as usize;
    assert_eq!(std::sync::Arc::strong_count(&counted), 1 + left);
    #[repr(align(64))]
    #[derive(Debug, PartialEq)]
    struct Aligned(u8);
    let aligned = heap.insert(Aligned(9)).expect("as aligned as a frame");
    assert_eq!(std::ptr::from_ref(heap.get(&aligned)).addr() % 64, 0);
    heap.free(aligned);
}

#[test]
fn bytes_are_read_and_written_by_position() {
    let config = config::<Wide>(16, Bound::DEFAULT, 1024);
    let mut region = JunkRegion::new(100_000, 1024, 9);
    let heap = wide(&mut region, &config);
    let mut bytes = heap.alloc_zeroed(layout(3000, 1)).expect("room");
    let written: Vec<u8> = (0..100).collect();
    heap.write_at(&mut bytes, 1111, &written);
    let mut read = [0; 102];
    heap.read_at(&bytes, 1110, &mut read);
    assert_eq!((read[0], &read[1..101], read[101]), (0, &written[..], 0));
    assert_eq!(heap.chunk(&bytes, 1111), &written[..1120 - 1111]);
    assert!(heap.chunk(&bytes, 3000).is_empty());
    heap.chunk_mut(&mut bytes, 2999)[0] = 7;
    assert_eq!(
        heap.chunks(&bytes).last(),
        Some(&[0, 0, 0, 0, 0, 0, 0, 7][..])
    );
    heap.free_bytes(bytes);
    let empty = heap.alloc_zeroed(layout(0, 1)).expect("room");
    assert!(empty.is_empty() && heap.chunks(&empty).count() == 0);
    assert_eq!(heap.stats().live_frames, 1, "an object without bytes");
    heap.free_bytes(empty);
}

#[test]
#[should_panic(expected = "the range goes beyond the object")]
fn reading_beyond_an_object_panics() {
    let config = config::<Wide>(16, Bound::DEFAULT, 1024);
    let mut region = JunkRegion::new(100_000, 1024, 9);
    let heap = wide(&mut region, &config);
    let bytes = heap.alloc_zeroed(layout(30, 1)).expect("room");
    heap.read_at(&bytes, 20, &mut [0; 11]);
}

#[test]
fn the_parts_say_what_the_frames_and_the_table_hold() {
    let config = config::<Wide>(32, Bound::DEFAULT, 1024);
    let mut region = JunkRegion::misaligned(100_000, 1024, 40, 10);
    let heap = wide(&mut region, &config);
    let empty = heap.usage();
    assert_eq!((empty.block_bytes, empty.total()), (0, 100_000));
    let object = heap.alloc(layout(100, 8)).expect("room");
    let usage = heap.usage();
    let row = heap.row_class_stats(100).expect("one piece");
    assert_eq!((row.live, row.pages, row.entries), (1, 1, 4));
    assert_eq!(
        (usage.block_bytes, usage.free_chunk_bytes),
        (128, 1024 - 128)
    );
    assert_eq!(usage.size_class_bytes, (row.blocks as usize - 1) * 16);
    assert_eq!(usage.total(), 100_000);
    heap.free_bytes(object);
    let freed = heap.usage();
    assert_eq!(freed.free_chunk_bytes, 1024, "frames stay frames");
    assert_eq!(freed.free_page_bytes, empty.free_page_bytes - 1024);
}

#[test]
fn a_certificate_near_the_most_frames_is_of_a_region_that_a_heap_can_have() {
    let config = BlockTableConfig::with_pages::<Narrow>(16, Bound::DEFAULT, 1024).expect("valid");
    let mut certified = 0;
    for frames in (20_000..33_000).step_by(7) {
        let demand = FrameDemand {
            objects: 10,
            frames,
            largest: frames,
            largest_resized: 0,
        };
        let Ok(certificate) = certify::<Narrow>(&config, &demand) else {
            continue;
        };
        certified += 1;
        if frames % 49 == 0 || certificate.heap_bytes > 500_000 {
            let mut memory = vec![core::mem::MaybeUninit::new(0xa5); certificate.heap_bytes];
            let heap = BlockTableHeap::<Narrow>::new(&mut memory, &config);
            assert!(heap.is_ok(), "{frames} frames: {heap:?}");
        }
    }
    assert!(certified > 700, "{certified} of 1,858");
}
