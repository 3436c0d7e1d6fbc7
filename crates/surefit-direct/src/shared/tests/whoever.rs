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
