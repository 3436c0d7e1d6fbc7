//! A heap that grows while free neighbours are merged in steps: the place of the merge must not end
//! up inside a chunk.

use super::*;
use surefit_gc::{Incremental, Phase};

type Deferring<'m> = FreeList<'m, Segregated<Bitmap, Deferred, Tree, 256>>;

#[derive(Default)]
struct Roots(Vec<Object>);

impl<S: Space> Client<S> for Roots {
    fn roots(&mut self, edges: &mut Edges<'_>) {
        self.0.iter().for_each(|&object| edges.report(object));
    }

    fn scan(&mut self, _object: &Scanned<'_, S>, _from: u32, _edges: &mut Edges<'_>) {}
}

/// A crowded heap with a free chunk at its end, so many steps after its merge has begun; `None` if
/// the merge has ended by then.
fn merging(
    region: &mut [MaybeUninit<u8>],
    steps: u32,
) -> Option<(Incremental<'_, Deferring<'_>>, Roots)> {
    let settings = Settings {
        limit: 4096,
        ..Settings::default()
    };
    let gc = Collector::<Deferring<'_>>::new(region, settings).expect("room");
    let mut gc = Incremental::over(gc);
    let mut roots = Roots::default();
    while gc.space().heap().free_sizes().max().unwrap_or(0) > 300 {
        roots.0.push(gc.alloc_as_is(60).expect("room"));
    }
    gc.collect(&mut roots);
    gc.start(&mut roots);
    while gc.phase() != Phase::Merge {
        gc.step(&mut roots, 1);
    }
    for _ in 0..steps {
        gc.step(&mut roots, 1);
        if gc.phase() != Phase::Merge {
            return None;
        }
    }
    Some((gc, roots))
}

/// Grows the heap after every number of steps of its merge; `write` gets the object that lies over
/// the old end, and the word of it there. The merge ends, and the heap is sound.
fn grow_and_end(write: impl Fn(&mut Incremental<'_, Deferring<'_>>, Object, u32)) {
    let mut grown = 0;
    for steps in 0.. {
        let mut region = vec![MaybeUninit::new(0xA5); 1 << 17];
        let (region, others) = region.split_at_mut(1 << 16);
        let Some((mut gc, mut roots)) = merging(region, steps) else {
            break;
        };
        let end = gc.space().heap().unused().start;
        let object = gc.alloc(&mut roots, 800).expect("the heap grows");
        roots.0.push(object);
        assert_eq!(gc.check(), Ok(()));
        assert!(gc.space().heap().unused().start > end);
        let header = 2 * (end - object.number()) - 1;
        assert!(header + 5 < gc.words(object), "it lies over the old end");
        write(&mut gc, object, header);
        for _ in 0..1000 {
            gc.step(&mut roots, 1);
        }
        assert_eq!((gc.phase(), gc.check()), (Phase::Idle, Ok(())));
        // SAFETY: all of them were written above.
        let written = others
            .iter()
            .filter(|byte| unsafe { byte.assume_init() } != 0xA5);
        assert_eq!(written.count(), 0, "bytes of somebody else");
        grown += 1;
    }
    assert!(grown > 2);
}

#[test]
fn a_merge_ends_although_the_heap_grows() {
    grow_and_end(|_, _, _| {});
}

#[test]
fn words_of_an_object_over_the_old_end_are_no_header() {
    grow_and_end(|gc, object, header| {
        // A free chunk of two granules with a link far away, and another free one behind it.
        gc.store_data(object, header, 2 << 2 | 1);
        gc.store_data(object, header + 1, 0);
        gc.store_data(object, header + 2, ((1 << 16) + 4096) / 4);
        gc.store_data(object, header + 4, 2 << 2 | 1);
    });
}
