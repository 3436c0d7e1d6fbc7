//! Vectors do what those of the standard library do, in every kind of heap.

mod common;

use common::{DEFAULT, Element, NO_PIECES, Numbers, SMALL_PIECES, boxed, narrow, with_refusals};
use surefit_collections::{ByteHeap, Release, TryClone, Vec as Moving};
use surefit_compact::{BoxedHeap, Full, Handle, Heap};
use surefit_core::Refused;

/// Random calls on a vector and on one of the standard library.
#[expect(
    clippy::cognitive_complexity,
    clippy::too_many_lines,
    reason = "an arm for each call"
)]
fn script<H, T>(heap: &mut H, check: impl Fn(&H), seed: u64, calls: usize, most: usize)
where
    H: ByteHeap,
    T: Element + Release<H> + TryClone<H, Partial: Release<H>>,
{
    let mut numbers = Numbers::new(seed);
    let (mut vec, mut model) = (Moving::<T, H::Names>::new(), Vec::<T>::new());
    for _ in 0..calls {
        let at = numbers.below(model.len() + 1);
        let number = numbers.next();
        let value = T::of(number);
        match numbers.below(24) {
            0..=6 if model.len() < most => {
                vec.push(heap, value).expect("room");
                model.push(value);
            }
            7 | 8 => assert_eq!(vec.pop(heap), model.pop()),
            9 | 10 if model.len() < most => {
                vec.insert(heap, at, value).expect("room");
                model.insert(at, value);
            }
            11 | 12 if at < model.len() => {
                assert_eq!(vec.remove(heap, at), model.remove(at));
            }
            13 if at < model.len() => {
                assert_eq!(vec.swap_remove(heap, at), model.swap_remove(at));
            }
            14 => {
                vec.truncate(heap, at);
                model.truncate(at);
            }
            15 | 16 if model.len() < most => {
                let more: Vec<T> = (0..number % 40).map(|i| T::of(number ^ i)).collect();
                vec.extend_from_slice(heap, &more).expect("room");
                model.extend_from_slice(&more);
            }
            17 if model.len() < most => {
                let more = (0..number % 9).map(|i| T::of(number ^ i));
                vec.extend(heap, more.clone()).expect("room");
                model.extend(more);
            }
            18 => {
                let mut turn = 0;
                vec.retain(heap, |_| {
                    turn += 1;
                    turn % 3 != number % 3
                });
                let mut turn = 0;
                model.retain(|_| {
                    turn += 1;
                    turn % 3 != number % 3
                });
            }
            19 => {
                let end = at + numbers.below(model.len() - at + 1);
                let taken = numbers.below(end - at + 1);
                let mut drained = vec.drain(heap, at..end);
                assert_eq!(drained.len(), end - at);
                let mut expected = model.drain(at..end);
                for _ in 0..taken {
                    assert_eq!(drained.next(), expected.next());
                }
            }
            20 if at < model.len() => {
                *vec.get_mut(heap, at).expect("it is there") = value;
                model[at] = value;
                vec.swap(heap, at, 0);
                model.swap(at, 0);
            }
            21 => {
                vec.shrink_to_fit(heap).expect("room");
                vec.reserve(heap, number as usize % 50).expect("room");
                assert!(vec.capacity(heap) >= model.len() + number as usize % 50);
            }
            22 => {
                let copy = vec.try_clone(heap).expect("room");
                assert!(copy.iter(heap).eq(&model));
                std::mem::replace(&mut vec, copy).free(heap);
            }
            23 => {
                for value in vec.iter_mut(heap) {
                    *value = T::of(number);
                }
                model.fill(T::of(number));
            }
            _ => {}
        }
        check(heap);
        assert_eq!(vec.check(heap), Ok(()));
        assert_eq!(vec.len(), model.len());
        assert!(vec.iter(heap).eq(&model), "seed {seed}");
        assert_eq!(vec.get(heap, at), model.get(at));
        assert_eq!(vec.first(heap), model.first());
        assert_eq!(vec.last(heap), model.last());
        assert_eq!(vec.slices(heap).map(<[T]>::len).sum::<usize>(), model.len());
        if let Some(slice) = vec.as_slice(heap) {
            assert_eq!(slice, model);
        }
    }
    assert_eq!(format!("{:?}", vec.debug(heap)), format!("{model:?}"));
    vec.free(heap);
}

/// Scripts of all elements in one heap, which is empty afterwards.
macro_rules! scripts {
    ($heap:expr, $check:expr, $calls:expr, $most:expr) => {
        for seed in 0..4 {
            script::<_, u8>($heap, $check, seed, $calls, $most);
            script::<_, u32>($heap, $check, seed, $calls, $most);
            script::<_, u64>($heap, $check, seed, $calls, $most);
            script::<_, ()>($heap, $check, seed, $calls, $most);
            script::<_, ((u64, u64), u64)>($heap, $check, seed, $calls, $most);
            script::<_, ((u64, u64), (u64, (u64, u64)))>($heap, $check, seed, $calls, $most);
            script::<_, (u16, u8)>($heap, $check, seed, $calls, $most);
        }
    };
}

#[test]
fn a_vector_does_what_one_of_the_standard_library_does() {
    for config in [&DEFAULT, &SMALL_PIECES] {
        let mut heap = boxed(1 << 20, config);
        scripts!(&mut heap, |heap| assert_eq!(heap.check(), Ok(())), 400, 600);
        assert_eq!(heap.live_blocks().count(), 0);
    }
}

#[test]
fn a_vector_without_pieces_does_so_up_to_a_page() {
    let mut heap = boxed(1 << 20, &NO_PIECES);
    scripts!(&mut heap, |heap| assert_eq!(heap.check(), Ok(())), 300, 200);
    assert_eq!(heap.live_blocks().count(), 0);
}

#[test]
fn a_vector_in_a_small_heap_does_so() {
    let mut heap = narrow(60 << 10);
    scripts!(&mut heap, |heap| assert_eq!(heap.check(), Ok(())), 200, 20);
    assert_eq!(heap.live_blocks().count(), 0);
}

#[test]
fn a_branded_vector_does_so() {
    let mut memory = vec![std::mem::MaybeUninit::uninit(); 1 << 20];
    let mut heap: Heap = Heap::new(&mut memory, &SMALL_PIECES).expect("large enough");
    heap.branded(|heap| {
        scripts!(
            heap,
            |heap| assert_eq!(heap.as_heap().check(), Ok(())),
            300,
            300
        );
    });
    assert_eq!(heap.live_blocks().count(), 0);
}

#[test]
fn elements_of_a_whole_vector_are_contiguous_up_to_a_piece() {
    let mut heap = boxed(1 << 20, &DEFAULT);
    let mut vec = Moving::new();
    for i in 0..512_u64 {
        vec.push(&mut heap, 511 - i).expect("room");
    }
    vec.as_slice_mut(&heap).expect("4 KiB").sort_unstable();
    assert!(vec.iter(&heap).copied().eq(0..512));
    vec.push(&mut heap, 512).expect("room");
    assert!(vec.as_slice(&heap).is_none());
    assert_eq!(
        vec.slices(&heap).map(<[u64]>::len).collect::<Vec<_>>(),
        [512, 1]
    );
    vec.free(&mut heap);
}

#[test]
fn a_refused_call_changes_nothing() {
    for config in [&DEFAULT, &SMALL_PIECES] {
        let mut heap = boxed(256 << 10, config);
        let mut refusals = 0;
        for len in [0, 1, 4, 7, 64, 200, 600, 1500] {
            let model: Vec<u64> = (0..len).collect();
            let mut vec = Moving::new();
            vec.extend_from_slice(&mut heap, &model).expect("room");
            vec.shrink_to_fit(&mut heap).expect("room");
            let is_whole =
                |vec: &Moving<u64>, heap: &BoxedHeap| assert!(vec.iter(heap).copied().eq(0..len));

            let (count, ()) = with_refusals(&mut heap, |heap| {
                let pushed = vec.push(heap, 7).map_err(|full| assert_eq!(full.value, 7));
                if pushed.is_err() {
                    is_whole(&vec, heap);
                }
                pushed
            });
            refusals += count;
            assert_eq!(vec.pop(&heap), Some(7));
            vec.shrink_to_fit(&mut heap).expect("room");

            let (count, ()) = with_refusals(&mut heap, |heap| {
                let inserted = vec.insert(heap, 0, 7);
                if inserted.is_err() {
                    is_whole(&vec, heap);
                }
                inserted
            });
            refusals += count;
            assert_eq!(vec.remove(&heap, 0), 7);

            let (count, copy) = with_refusals(&mut heap, |heap| {
                let before = heap.live_blocks().count();
                let copy = vec.try_clone(heap);
                is_whole(&vec, heap);
                assert!(copy.is_ok() || heap.live_blocks().count() == before);
                copy
            });
            refusals += count;
            is_whole(&copy, &heap);
            copy.free(&mut heap);
            vec.free(&mut heap);
            assert_eq!(heap.live_blocks().count(), 0);
        }
        assert!(refusals > 20, "{refusals}");
    }
}

#[test]
fn a_refused_extension_keeps_what_it_has_and_what_it_did_not_take() {
    let mut heap = boxed(64 << 10, &DEFAULT);
    let mut vec = Moving::new();
    let mut values = 0_u64..;
    let Err(Full { value, refused }) = vec.extend(&mut heap, values.by_ref()) else {
        panic!("a heap holds every number")
    };
    assert_eq!(refused, Refused::NoPage);
    assert_eq!(value, vec.len() as u64);
    assert_eq!(values.next(), Some(value + 1));
    assert!(vec.iter(&heap).copied().eq(0..value));
    vec.free(&mut heap);
    assert_eq!(heap.live_blocks().count(), 0);
}

#[test]
fn what_a_vector_discards_is_released() {
    let mut heap = boxed(1 << 20, &SMALL_PIECES);
    let mut vec = Moving::<Handle<u64>>::new();
    for i in 0..300 {
        let handle = heap.insert(i).expect("room");
        vec.push(&mut heap, handle).expect("room");
    }
    vec.truncate(&mut heap, 250);
    assert_eq!(heap.get(vec.last(&heap).expect("it is there")), &249);
    // Elements are read in `retain` by what they are, not by what they own.
    let mut turn = 0;
    vec.retain(&mut heap, |_| {
        turn += 1;
        turn % 2 == 1
    });
    let mut drained = vec.drain(&mut heap, 10..20);
    let taken = drained.next().expect("ten");
    drop(drained);
    assert_eq!(heap.remove(taken), 20);
    let values: Vec<u64> = vec.iter(&heap).map(|handle| *heap.get(handle)).collect();
    let expected: Vec<u64> = (0..10).chain(20..125).map(|i| 2 * i).collect();
    assert_eq!(values, expected);

    // What owns nothing is discarded without a call.
    const {
        assert!(<(u8, Option<[u16; 3]>) as Release<BoxedHeap>>::OWNS_NOTHING);
        assert!(!<(u8, Moving<u8>) as Release<BoxedHeap>>::OWNS_NOTHING);
        assert!(!<[Option<Handle<u8>>; 2] as Release<BoxedHeap>>::OWNS_NOTHING);
    }

    // Vectors in vectors.
    let mut outer = Moving::new();
    outer.push(&mut heap, vec).expect("room");
    outer.push(&mut heap, Moving::new()).expect("room");
    outer.free(&mut heap);
    assert_eq!(heap.live_blocks().count(), 0);
    assert_eq!(heap.check(), Ok(()));
}

#[test]
fn copies_of_vectors_in_vectors_are_whole_or_nothing() {
    let mut heap = boxed(128 << 10, &SMALL_PIECES);
    let mut outer = Moving::new();
    for len in [0_u64, 3, 40, 1] {
        let mut inner = Moving::new();
        inner.extend(&mut heap, 0..len).expect("room");
        outer.push(&mut heap, (inner, len)).expect("room");
    }
    let before = heap.live_blocks().count();
    let (refusals, copy) = with_refusals(&mut heap, |heap| {
        let live = heap.live_blocks().count();
        let copy = outer.try_clone(heap);
        assert!(copy.is_ok() || heap.live_blocks().count() == live);
        copy
    });
    assert!(refusals > 5, "{refusals}");
    for ((inner, len), (copied, same)) in outer.iter(&heap).zip(copy.iter(&heap)) {
        assert!(len == same && inner.iter(&heap).eq(copied.iter(&heap)));
    }
    copy.free(&mut heap);
    assert_eq!(heap.live_blocks().count(), before);
    outer.free(&mut heap);
    assert_eq!(heap.live_blocks().count(), 0);
}
