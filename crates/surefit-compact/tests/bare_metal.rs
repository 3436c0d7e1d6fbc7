//! A shared heap whose locks are critical sections, as on a microcontroller. Threads stand for
//! interrupt handlers.

use lock_api::{Mutex, RawMutex};
use surefit_compact::shared::{CriticalSection, PerHeap, ShardedHeap, SharedConfig, SharedHeap};
use surefit_compact::{Bound, Config, Geometry, Handle};
use surefit_core::{Page16K, Region};

static CONFIG: SharedConfig<PerHeap> = SharedConfig::new(Config::DEFAULT);
static MEMORY: Region<{ 1 << 19 }, Page16K> = Region::new();

#[test]
fn a_heap_in_static_memory_is_shared_with_interrupt_handlers() {
    let memory = MEMORY.take().unwrap();
    let bytes = memory.len();
    let heap: SharedHeap<'_, CriticalSection, PerHeap> = SharedHeap::new(memory, &CONFIG).unwrap();
    let samples: std::sync::Mutex<Vec<Handle<[u16; 8]>>> = std::sync::Mutex::default();
    std::thread::scope(|scope| {
        for handler in 0..2_u16 {
            let (heap, samples) = (&heap, &samples);
            scope.spawn(move || {
                let local = heap.register().unwrap();
                for n in 0..500 {
                    let sample = local.insert([handler * 1000 + n; 8]).unwrap();
                    samples.lock().unwrap().push(sample);
                }
            });
        }
        let main = heap.register().unwrap();
        let (mut seen, mut sum) = (0, 0);
        while seen < 1000 {
            for sample in core::mem::take(&mut *samples.lock().unwrap()) {
                let pinned = heap.pin(&sample).unwrap();
                assert!(pinned.iter().all(|&word| word == pinned[0]));
                sum += u32::from(pinned[0]);
                drop(pinned);
                main.free(sample).unwrap();
                seen += 1;
            }
        }
        assert_eq!(sum, 500 * 1000 + 2 * (0..500).sum::<u32>());
    });
    heap.check(false).unwrap();
    assert_eq!(heap.stats().live_blocks, 0);
    assert_eq!(heap.usage().total(), bytes);
}

#[test]
fn the_configuration_for_boards_serves_small_objects() {
    static TINY: SharedConfig<PerHeap> = SharedConfig::TINY;
    let mut memory = vec![core::mem::MaybeUninit::uninit(); 16 << 10];
    let heap: SharedHeap<'_, CriticalSection, PerHeap> =
        SharedHeap::new(&mut memory, &TINY).unwrap();
    let (main, handler) = (heap.register().unwrap(), heap.register().unwrap());
    let samples: Vec<_> = (0..40_u16)
        .map(|n| handler.insert([n; 8]).unwrap())
        .collect();
    for (sample, n) in samples.into_iter().zip(0..) {
        assert_eq!(main.remove(sample).unwrap(), [n; 8]);
        heap.check(false).unwrap();
    }
}

#[test]
#[should_panic = "a shared heap needs back-references of four bytes"]
fn words_of_two_bytes_are_no_configuration_of_a_shared_heap() {
    let _ = SharedConfig::<PerHeap>::new(Config::TINY);
}

#[test]
fn instances_move_objects_in_steps_under_critical_sections() {
    let config = Config::new(Geometry::DEFAULT, Bound::Pages(1)).unwrap();
    let config = SharedConfig::<PerHeap>::new(config)
        .with_increment(64)
        .unwrap();
    let mut memory = vec![core::mem::MaybeUninit::uninit(); 1 << 19];
    let heap: ShardedHeap<'_, CriticalSection, PerHeap> =
        ShardedHeap::new(&mut memory, &config, 2).unwrap();
    let (main, handler) = (heap.register().unwrap(), heap.register().unwrap());
    let mut handles: Vec<_> = (0..40_u64).map(|n| main.insert([n; 60]).unwrap()).collect();
    while handles.len() > 1 {
        handler
            .free(handles.swap_remove(handles.len() / 3))
            .unwrap();
        heap.check(false).unwrap();
    }
    let stats = heap.stats();
    assert!(stats.moves_total > 0 && stats.copied_in_section_max <= 64);
    handler.free(handles.pop().unwrap()).unwrap();
    assert_eq!(heap.stats().pages, 0);
}

#[test]
fn locks_may_be_given_back_in_any_order() {
    let (first, second): (Mutex<CriticalSection, u32>, Mutex<CriticalSection, u32>) =
        (Mutex::new(1), Mutex::new(2));
    for _ in 0..3 {
        let one = first.lock();
        let two = second.lock();
        drop(one);
        assert!(second.try_lock().is_none());
        let again = first.try_lock().expect("it was given back");
        drop(two);
        drop(again);
    }
    // The critical section was left: another thread can enter one.
    std::thread::scope(|scope| {
        scope.spawn(|| *second.lock() += 1);
    });
    assert_eq!(*second.lock(), 3);
}

#[test]
fn a_lock_that_is_held_is_not_taken_again() {
    let lock = CriticalSection::INIT;
    lock.lock();
    assert!(!lock.try_lock());
    let again = std::panic::catch_unwind(std::panic::AssertUnwindSafe(|| lock.lock()));
    assert!(again.is_err());
    // SAFETY: taken above.
    unsafe { lock.unlock() };
    assert!(lock.try_lock());
    // SAFETY: taken above.
    unsafe { lock.unlock() };
    critical_section::with(|_| ());
}
