//! What holds whichever thread calls, and however small the call is.

use parking_lot::RawMutex;

use super::source::Counted;
use super::*;

#[test]
fn a_second_free_is_found_at_once_whoever_frees() {
    let mut memory = region(2 << 20);
    let settings = Settings {
        checks: true,
        ..SETTINGS
    };
    let heap: SharedDirect<'_, RawMutex> = SharedDirect::new(&mut memory, settings).unwrap();
    let (local, other) = (heap.join().unwrap(), heap.join().unwrap());
    for bytes in [1, 100, 1000, 9000, 32_000, 33_000, 200_000] {
        for (first, second) in [(&local, &other), (&other, &local), (&other, &other)] {
            let object = local.allocate(bytes, 16).unwrap();
            assert_eq!(free(first, object), Ok(()));
            let again = free(second, object);
            assert!(
                matches!(again, Err(Misuse::Double(_) | Misuse::NoObject)),
                "{bytes}"
            );
            check(&heap);
        }
    }
    // Also what belongs to an instance that nobody has.
    let objects: Vec<_> = (0..300)
        .map(|_| local.allocate(1000, 16).unwrap())
        .collect();
    drop(local);
    for object in objects {
        assert_eq!(free(&other, object), Ok(()));
        assert!(free(&other, object).is_err());
        check(&heap);
    }
    drop(other);
    assert_eq!(heap.stats().active, 0);
}

#[test]
fn small_calls_too_give_back_what_is_due() {
    let source = Counted::new(64 << 20);
    let settings = Settings {
        delay: 100,
        ..SETTINGS
    };
    let heap = source.heap(settings);
    let (local, other) = (heap.join().unwrap(), heap.join().unwrap());
    let small: Vec<_> = (0..300).map(|_| local.allocate(100, 16).unwrap()).collect();
    let large: Vec<_> = (0..40)
        .map(|_| local.allocate(1 << 20, 16).unwrap())
        .collect();
    for object in large {
        free(&local, object).unwrap();
    }
    let dirty = || heap.stats().dirty;
    assert!(dirty() >= 40 << 20);
    let pass = |local: &Local<'_, RawMutex, _>| {
        for _ in 0..4000 {
            let object = local.allocate(100, 16).unwrap();
            free(local, object).unwrap();
        }
    };
    pass(&local);
    assert!(dirty() >= 40 << 20, "it is not due");
    source.pass(200);
    pass(&other);
    assert!(dirty() < 1 << 20, "{}", dirty());
    for object in small {
        free(&other, object).unwrap();
    }
    check(&heap);
}

#[test]
fn an_instance_for_which_there_is_no_memory_is_refused_until_there_is() {
    let source = Counted::new(16 << 20);
    let heap = source.heap(SETTINGS);
    let first = heap.join().unwrap();
    source.fail_at(source.commits() + 1);
    assert_eq!(heap.join().err(), Some(surefit_core::Refused::NoLocal));
    // One that was left is there.
    drop(first);
    let again = heap.join().unwrap();
    assert!(heap.join().is_err());
    source.fail_at(0);
    assert!(heap.join().is_ok());
    drop(again);
    check(&heap);
}

#[test]
fn memory_that_the_source_cannot_take_back_counts_for_the_limit() {
    let source = Counted::new(64 << 20);
    let heap = source.heap(SETTINGS);
    let local = heap.join().unwrap();
    source.set_pinned(1);
    heap.set_limit(5 << 20);
    let first = local.allocate(3 << 20, 16).unwrap();
    let between = local.allocate(100_000, 16).unwrap();
    free(&local, first).unwrap();
    assert_eq!(local.allocate(4 << 20, 16), None);
    let held = |heap: &SharedDirect<'_, RawMutex, _>| heap.stats().active + heap.stats().dirty;
    assert!(held(&heap) <= 5 << 20);
    // What is there already serves.
    let again = local.allocate(3 << 20, 16).unwrap();
    free(&local, again).unwrap();
    // So does what is behind an object that grows.
    let other = local.allocate(1 << 20, 16).unwrap();
    // SAFETY: it is live.
    let grown = unsafe { local.resize(other, 2 << 20, 16) };
    assert_eq!(grown, Ok(Some(other)));
    free(&local, other).unwrap();
    source.set_pinned(0);
    let longer = local.allocate(4 << 20, 16).unwrap();
    assert!(held(&heap) <= 5 << 20);
    for object in [between, longer] {
        free(&local, object).unwrap();
    }
    check(&heap);
}

#[test]
fn what_the_source_cannot_take_back_keeps_nothing_else() {
    let source = Counted::new(64 << 20);
    let heap = source.heap(SETTINGS);
    let local = heap.join().unwrap();
    let sizes = [
        2 << 20,
        100_000,
        3 << 20,
        100_000,
        1 << 20,
        100_000,
        500_000,
    ];
    let objects = sizes.map(|bytes| local.allocate(bytes, 16).unwrap());
    for object in objects.into_iter().step_by(2) {
        free(&local, object).unwrap();
    }
    source.set_pinned(2 << 20);
    heap.purge();
    let dirty = heap.stats().dirty;
    assert!((5 << 20..6 << 20).contains(&dirty), "{dirty}");
    check(&heap);
    source.set_pinned(0);
    heap.purge();
    assert_eq!(heap.stats().dirty, 0);
    check(&heap);
}

#[test]
fn without_a_delay_nothing_free_stays() {
    let source = Counted::new(64 << 20);
    let settings = Settings {
        delay: 0,
        ..SETTINGS
    };
    let heap = source.heap(settings);
    let local = heap.join().unwrap();
    let most = local.allocate(8 << 20, 16).unwrap();
    free(&local, most).unwrap();
    for _ in 0..3 {
        let object = local.allocate(1 << 20, 16).unwrap();
        free(&local, object).unwrap();
        assert_eq!(heap.stats().dirty, 0);
    }
    check(&heap);
}

#[test]
fn clocks_that_differ_and_long_pauses_forget_nothing_and_keep_nothing() {
    let source = Counted::new(64 << 20);
    let settings = Settings {
        delay: 100,
        ..SETTINGS
    };
    let heap = source.heap(settings);
    let local = heap.join().unwrap();
    let free_one = |bytes| free(&local, local.allocate(bytes, 16).unwrap()).unwrap();
    free_one(8 << 20);
    source.pass(1000);
    free_one(100_000);
    assert!(heap.stats().dirty < 1 << 20, "{}", heap.stats().dirty);
    // Wanted again.
    free_one(4 << 20);
    // A clock that was read three milliseconds before another thread looked.
    source.pass(u32::MAX - 2);
    free_one(100_000);
    source.pass(203);
    free_one(100_000);
    assert!(heap.stats().dirty >= 3 << 20, "{}", heap.stats().dirty);
    // More than 25 days.
    source.pass((1 << 31) + 1000);
    free_one(100_000);
    assert!(heap.stats().dirty < 1 << 20, "{}", heap.stats().dirty);
    check(&heap);
}
