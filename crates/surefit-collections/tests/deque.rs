//! Deques do what those of the standard library do, in every kind of heap.

mod common;

use std::collections::VecDeque;

use common::{CONTAINERS, DEFAULT, Element, NO_PIECES, Numbers, PIECES, SMALL_PIECES};
use common::{boxed, narrow, with_refusals};
use surefit_collections::{ByteHeap, Release, TryClone, VecDeque as Moving};
use surefit_compact::{BoxedHeap, Full, Handle, Heap};
use surefit_core::Refused;

/// Random calls on a deque and on one of the standard library.
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
    let (mut deque, mut model) = (Moving::<T, H::Names>::new(), VecDeque::<T>::new());
    for call in 0..calls {
        let at = numbers.below(model.len() + 1);
        let number = numbers.next();
        let value = T::of(number);
        // Long runs of pushes and of pops, at one end or at both.
        let (grows, turn) = (call / 60 % 2 == 0, call / 240 % 3);
        match numbers.below(24) {
            0..=9 if grows && model.len() < most => {
                for more in 0..number % 5 {
                    let value = T::of(number ^ more);
                    if turn == 0 || (turn == 2 && more % 2 == 0) {
                        deque.push_back(heap, value).expect("room");
                        model.push_back(value);
                    } else {
                        deque.push_front(heap, value).expect("room");
                        model.push_front(value);
                    }
                }
            }
            0..=9 => {
                for more in 0..number % 7 {
                    if turn == 1 || more % 2 == 0 {
                        assert_eq!(deque.pop_front(heap), model.pop_front());
                    } else {
                        assert_eq!(deque.pop_back(heap), model.pop_back());
                    }
                }
            }
            10 if number % 4 == 0 => {
                deque.truncate(heap, at);
                model.truncate(at);
            }
            11 if model.len() < most => {
                let more = (0..number % 90).map(|i| T::of(number ^ i));
                deque.extend(heap, more.clone()).expect("room");
                model.extend(more);
            }
            12 if number % 4 == 0 => {
                let mut turn = 0;
                deque.retain(heap, |_| {
                    turn += 1;
                    turn % 3 != number % 3
                });
                let mut turn = 0;
                model.retain(|_| {
                    turn += 1;
                    turn % 3 != number % 3
                });
            }
            13 | 14 => {
                let start = if number % 2 == 0 { 0 } else { at };
                let end = start + numbers.below((model.len() - start).min(90) + 1);
                let taken = numbers.below(end - start + 1);
                let mut drained = deque.drain(heap, start..end);
                assert_eq!(drained.len(), end - start);
                let mut expected = model.drain(start..end);
                for _ in 0..taken {
                    assert_eq!(drained.next(), expected.next());
                }
            }
            15 if at < model.len() => {
                *deque.get_mut(heap, at).expect("it is there") = value;
                model[at] = value;
                let other = numbers.below(model.len());
                deque.swap(heap, at, other);
                model.swap(at, other);
            }
            16 => deque.shrink_to_fit(heap).expect("room"),
            17 => {
                let copy = deque.try_clone(heap).expect("room");
                assert!(copy.iter(heap).eq(&model));
                std::mem::replace(&mut deque, copy).free(heap);
            }
            18 => {
                for (there, number) in deque.iter_mut(heap).zip(number..) {
                    *there = T::of(number);
                }
                for (there, number) in model.iter_mut().zip(number..) {
                    *there = T::of(number);
                }
            }
            19 => {
                if let (Some(front), Some(of_model)) = (deque.front_mut(heap), model.front_mut()) {
                    (*front, *of_model) = (value, value);
                }
                if let (Some(back), Some(of_model)) = (deque.back_mut(heap), model.back_mut()) {
                    (*back, *of_model) = (value, value);
                }
            }
            20 => {
                for more in 0..number % 4 {
                    let value = T::of(number ^ more);
                    let index = at.min(model.len());
                    deque.insert(heap, index, value).expect("room");
                    model.insert(index, value);
                    assert_eq!(deque.check(heap), Ok(()));
                    assert!(deque.iter(heap).eq(&model), "seed {seed}");
                    let other = numbers.below(model.len() + 2);
                    assert_eq!(deque.remove(heap, other), model.remove(other));
                }
                let longest = deque.slices_mut(heap).map(|slice| slice.len()).max();
                assert!(longest.is_none_or(|longest| longest > 0));
            }
            _ => {}
        }
        check(heap);
        assert_eq!(deque.check(heap), Ok(()), "seed {seed}");
        assert_eq!(
            (deque.len(), deque.is_empty()),
            (model.len(), model.is_empty())
        );
        assert!(deque.iter(heap).eq(&model), "seed {seed}");
        assert!(deque.iter(heap).rev().eq(model.iter().rev()));
        assert_eq!(deque.get(heap, at), model.get(at));
        assert_eq!(deque.front(heap), model.front());
        assert_eq!(deque.back(heap), model.back());
        assert!(deque.slices(heap).all(|slice| !slice.is_empty()));
    }
    assert_eq!(format!("{:?}", deque.debug(heap)), format!("{model:?}"));
    deque.free(heap);
}

/// Scripts of all elements in one heap, which is empty afterwards.
macro_rules! scripts {
    ($heap:expr, $check:expr, $calls:expr, $most:expr) => {
        for seed in 0..4 {
            script::<_, u8>($heap, $check, seed, $calls, $most);
            script::<_, u64>($heap, $check, seed, $calls, $most);
            script::<_, ()>($heap, $check, seed, $calls, $most);
            script::<_, ((u64, u64), u64)>($heap, $check, seed, $calls, $most);
            script::<_, ((u64, u64), (u64, (u64, u64)))>($heap, $check, seed, $calls, $most);
            script::<_, (u16, u8)>($heap, $check, seed, $calls, $most);
        }
    };
}

#[test]
fn a_deque_does_what_one_of_the_standard_library_does() {
    for config in [&DEFAULT, &SMALL_PIECES, &CONTAINERS] {
        let mut heap = boxed(1 << 20, config);
        scripts!(&mut heap, |heap| assert_eq!(heap.check(), Ok(())), 720, 900);
        assert_eq!(heap.live_blocks().count(), 0);
    }
}

#[test]
fn a_deque_without_pieces_does_so() {
    let mut heap = boxed(1 << 20, &NO_PIECES);
    scripts!(&mut heap, |heap| assert_eq!(heap.check(), Ok(())), 720, 900);
    assert_eq!(heap.live_blocks().count(), 0);
}

#[test]
fn a_deque_in_a_small_heap_does_so() {
    let mut heap = narrow(60 << 10);
    scripts!(&mut heap, |heap| assert_eq!(heap.check(), Ok(())), 480, 60);
    assert_eq!(heap.live_blocks().count(), 0);
}

#[test]
fn a_branded_deque_does_so() {
    let mut memory = vec![std::mem::MaybeUninit::uninit(); 1 << 20];
    let mut heap: Heap = Heap::new(&mut memory, &SMALL_PIECES).expect("large enough");
    heap.branded(|heap| {
        scripts!(
            heap,
            |heap| assert_eq!(heap.as_heap().check(), Ok(())),
            480,
            300
        );
    });
    assert_eq!(heap.live_blocks().count(), 0);
}

/// Where all elements are.
fn places(deque: &Moving<u64>, heap: &BoxedHeap) -> Vec<(u64, usize)> {
    let place = |number: &u64| (*number, std::ptr::from_ref(number).addr());
    deque.iter(heap).map(place).collect()
}

#[test]
fn no_push_moves_more_than_two_pieces() {
    for (config, per, most) in [(&SMALL_PIECES, 8, 2500), (&DEFAULT, 512, 2500)] {
        for at_front in [false, true] {
            let mut heap = boxed(1 << 20, config);
            let mut deque = Moving::new();
            let mut moved_most = 0;
            for number in 0..most {
                let mut before = places(&deque, &heap);
                match at_front {
                    true => deque.push_front(&mut heap, number).expect("room"),
                    false => deque.push_back(&mut heap, number).expect("room"),
                }
                let mut after = places(&deque, &heap);
                before.sort_unstable();
                after.sort_unstable();
                let stayed = before.iter().zip(&after).filter(|(a, b)| a == b).count();
                moved_most = moved_most.max(before.len() - stayed);
                assert_eq!(deque.check(&heap), Ok(()));
            }
            assert!(moved_most <= 2 * per, "{moved_most}");
            assert!(moved_most >= per / 2, "what is moved is seen: {moved_most}");
            deque.free(&mut heap);
        }
    }
}

#[test]
fn elements_without_bytes_take_no_object() {
    let mut heap = boxed(1 << 20, &DEFAULT);
    let mut deque = Moving::new();
    for number in 0..10_000 {
        match number % 3 {
            0 => deque.push_front(&mut heap, ()).expect("room"),
            _ => deque.push_back(&mut heap, ()).expect("room"),
        }
    }
    assert_eq!((deque.len(), deque.check(&heap)), (10_000, Ok(())));
    assert_eq!(heap.live_blocks().count(), 0);
    assert_eq!(deque.get(&heap, 9999), Some(&()));
    let mut popped = 0;
    while deque
        .pop_back(&mut heap)
        .or_else(|| deque.pop_front(&mut heap))
        .is_some()
    {
        popped += 1;
    }
    assert_eq!(popped, 10_000);
}

#[test]
fn a_queue_takes_as_much_room_as_what_is_in_it() {
    let mut heap = boxed(1 << 20, &SMALL_PIECES);
    let mut queue = Moving::new();
    let bytes = |heap: &BoxedHeap| {
        let blocks = heap.live_blocks();
        blocks
            .map(|block| u64::from(block.block_bytes))
            .sum::<u64>()
    };
    queue.extend(&mut heap, 0..1000_u64).expect("room");
    let first = bytes(&heap);
    assert!(first < 1000 * 8 * 7 / 2, "{first}");
    let mut most = 0;
    for number in 1000..20_000 {
        queue.push_back(&mut heap, number).expect("room");
        assert_eq!(queue.pop_front(&mut heap), Some(number - 1000));
        most = most.max(bytes(&heap));
    }
    assert!(most <= first + first / 2, "{most} of {first}");
    assert_eq!(queue.check(&heap), Ok(()));
    queue.truncate(&mut heap, 16);
    queue.shrink_to_fit(&mut heap).expect("room");
    let few = bytes(&heap);
    assert!(few < 16 * 8 * 6, "{few}");
    queue.free(&mut heap);
    assert_eq!(heap.live_blocks().count(), 0);
}

#[test]
fn a_refused_push_changes_nothing() {
    for config in [&DEFAULT, &SMALL_PIECES] {
        let mut heap = boxed(256 << 10, config);
        let mut refusals = 0;
        for len in [0_u64, 4, 8, 33, 512, 1024] {
            for at_front in [false, true] {
                let mut deque = Moving::new();
                deque.extend(&mut heap, 0..len).expect("room");
                let (count, ()) = with_refusals(&mut heap, |heap| {
                    let pushed = match at_front {
                        true => deque.push_front(heap, 7),
                        false => deque.push_back(heap, 7),
                    };
                    assert_eq!(deque.check(heap), Ok(()));
                    pushed.map_err(|full| {
                        assert_eq!(full.value, 7);
                        assert!(deque.iter(heap).copied().eq(0..len));
                    })
                });
                refusals += count;
                let (inserted, ()) = with_refusals(&mut heap, |heap| {
                    let inserted = deque.insert(heap, deque.len() / 2, 8);
                    assert_eq!(deque.check(heap), Ok(()));
                    inserted.map_err(|full| assert_eq!(full.value, 8))
                });
                refusals += inserted;
                let middle = (deque.len() - 1) / 2;
                assert_eq!(deque.remove(&mut heap, middle), Some(8));
                let taken = match at_front {
                    true => deque.pop_front(&mut heap),
                    false => deque.pop_back(&mut heap),
                };
                assert_eq!(taken, Some(7));
                let (count, copy) = with_refusals(&mut heap, |heap| {
                    let before = heap.live_blocks().count();
                    let copy = deque.try_clone(heap);
                    assert!(copy.is_ok() || heap.live_blocks().count() == before);
                    copy
                });
                refusals += count;
                assert!(copy.iter(&heap).copied().eq(0..len));
                let (count, ()) = with_refusals(&mut heap, |heap| {
                    let shrunk = deque.shrink_to_fit(heap);
                    assert!(deque.iter(heap).copied().eq(0..len));
                    assert_eq!(deque.check(heap), Ok(()));
                    shrunk
                });
                refusals += count;
                copy.free(&mut heap);
                deque.free(&mut heap);
                assert_eq!(heap.live_blocks().count(), 0);
            }
        }
        assert!(refusals > 20, "{refusals}");
    }
}

#[test]
fn a_ring_whose_slots_were_refused_grows_when_there_is_room() {
    let mut heap = boxed(512 << 10, &SMALL_PIECES);
    let mut deque = Moving::new();
    deque.extend(&mut heap, 0..50_u64).expect("room");
    let mut fillers = common::Fillers::fill(&heap);
    let mut next = 50;
    // There is room for the runs now and then, and seldom for more slots.
    while next < 4000 {
        match deque.push_back(&mut heap, next) {
            Ok(()) => next += 1,
            Err(_) => assert!(fillers.free_one(&mut heap)),
        }
        assert_eq!(deque.check(&heap), Ok(()));
    }
    assert!(deque.iter(&heap).copied().eq(0..4000));
    fillers.free(&mut heap);
    deque.free(&mut heap);
    assert_eq!(heap.live_blocks().count(), 0);
}

#[test]
fn pops_in_a_full_heap_are_never_refused() {
    let mut heap = boxed(256 << 10, &SMALL_PIECES);
    let mut deque = Moving::new();
    deque.extend(&mut heap, 0..3000_u64).expect("room");
    let fillers = common::Fillers::fill(&heap);
    for number in 0..1500 {
        assert_eq!(deque.pop_front(&mut heap), Some(number));
        assert_eq!(deque.pop_back(&mut heap), Some(2999 - number));
        assert_eq!(deque.check(&heap), Ok(()));
    }
    assert_eq!(deque.pop_back(&mut heap), None);
    deque.free(&mut heap);
    fillers.free(&mut heap);
    assert_eq!(heap.live_blocks().count(), 0);
}

#[test]
fn a_refused_extension_keeps_what_it_has_and_what_it_did_not_take() {
    let mut heap = boxed(64 << 10, &DEFAULT);
    let mut deque = Moving::new();
    let mut values = 0_u64..;
    let Err(Full { value, refused }) = deque.extend(&mut heap, values.by_ref()) else {
        panic!("a heap holds every number")
    };
    assert_eq!(refused, Refused::NoPage);
    assert_eq!(value, deque.len() as u64);
    assert_eq!(values.next(), Some(value + 1));
    assert!(deque.iter(&heap).copied().eq(0..value));
    deque.free(&mut heap);
    assert_eq!(heap.live_blocks().count(), 0);
}

#[test]
fn what_a_deque_discards_is_released() {
    let mut heap = boxed(1 << 20, &PIECES);
    let mut deque = Moving::<Handle<u64>>::new();
    for i in 0..300 {
        let handle = heap.insert(i).expect("room");
        deque.push_back(&mut heap, handle).expect("room");
    }
    deque.truncate(&mut heap, 250);
    assert_eq!(heap.get(deque.back(&heap).expect("it is there")), &249);
    let mut turn = 0;
    deque.retain(&mut heap, |_| {
        turn += 1;
        turn % 2 == 1
    });
    for (range, first) in [(10..20, 20), (0..5, 0)] {
        let mut drained = deque.drain(&mut heap, range);
        let taken = drained.next().expect("some");
        drop(drained);
        assert_eq!(heap.remove(taken), first);
    }
    let values: Vec<u64> = deque.iter(&heap).map(|handle| *heap.get(handle)).collect();
    let expected: Vec<u64> = (5..10).chain(20..125).map(|i| 2 * i).collect();
    assert_eq!(values, expected);

    // Deques in deques.
    let mut outer = Moving::new();
    outer.push_front(&mut heap, deque).expect("room");
    outer.push_front(&mut heap, Moving::new()).expect("room");
    outer.free(&mut heap);
    assert_eq!(heap.live_blocks().count(), 0);
    assert_eq!(heap.check(), Ok(()));
}

#[test]
fn copies_of_deques_in_deques_are_whole_or_nothing() {
    let mut heap = boxed(512 << 10, &DEFAULT);
    let mut outer = Moving::new();
    for len in [0_u64, 3, 40, 1, 1100] {
        let mut inner = Moving::new();
        inner.extend(&mut heap, 0..len).expect("room");
        outer.push_back(&mut heap, (inner, len)).expect("room");
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
        assert_eq!(copied.check(&heap), Ok(()));
    }
    copy.free(&mut heap);
    assert_eq!(heap.live_blocks().count(), before);
    outer.free(&mut heap);
    assert_eq!(heap.live_blocks().count(), 0);
}
