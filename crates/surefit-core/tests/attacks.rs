//! Hostile callers: parts that no region has, regions of one byte, taken by many threads at once.

use core::alloc::Layout;
use core::mem::MaybeUninit;
use core::ptr::NonNull;
use std::collections::BTreeSet;
use std::sync::Mutex;
use std::sync::atomic::{AtomicUsize, Ordering};

use surefit_core::{Corruption, Numbers, Page1K, Page64K, RawHeap, Refused, Region, Usage, ensure};

#[test]
fn parts_of_any_number_do_not_wrap() {
    let most = usize::MAX;
    let all = Usage {
        block_bytes: most,
        page_internal_bytes: most,
        size_class_bytes: most,
        transient_bytes: most,
        large_tail_bytes: most,
        administrative_bytes: most,
        free_chunk_bytes: most,
        free_page_bytes: most,
    };
    assert_eq!(all.total(), most);
    let one = Usage {
        free_page_bytes: most,
        ..Usage::default()
    };
    assert_eq!((one.total(), Usage::default().total()), (most, 0));
}

#[test]
fn a_region_is_taken_once_by_whoever_comes_first() {
    static SMALLEST: Region<1, Page64K> = Region::new();
    static ODD: Region<4097, Page1K> = Region::new();
    let (empty, full) = (AtomicUsize::new(0), AtomicUsize::new(0));
    std::thread::scope(|threads| {
        for _ in 0..8 {
            threads.spawn(|| {
                if let Some(bytes) = SMALLEST.take() {
                    assert!(bytes.is_empty() && bytes.as_ptr().addr() % 65536 == 0);
                    empty.fetch_add(1, Ordering::Relaxed);
                }
                if let Some(bytes) = ODD.take() {
                    assert!(bytes.len() == 4096 && bytes.as_ptr().addr() % 1024 == 0);
                    bytes.fill(MaybeUninit::new(0xff));
                    full.fetch_add(1, Ordering::Relaxed);
                }
            });
        }
    });
    assert_eq!((empty.into_inner(), full.into_inner()), (1, 1));
    assert!(ODD.take().is_none(), "the bytes do not reach the flag");
}

/// A heap that serves nothing and uses only what the trait provides.
struct Nothing;

// SAFETY: it returns no memory.
unsafe impl RawHeap for Nothing {
    fn allocate(&mut self, _: Layout) -> Result<NonNull<u8>, Refused> {
        Err(Refused::NoChunk)
    }

    unsafe fn free(&mut self, _: NonNull<u8>, _: Layout) {}

    fn usage(&self) -> Usage {
        Usage::default()
    }

    fn check(&self) -> Result<(), Corruption> {
        ensure(false, "X1", "nothing holds", usize::MAX)
    }
}

#[test]
fn what_is_refused_or_corrupt_reads_as_one_line_whatever_its_numbers() {
    let corrupt = Nothing.check().expect_err("nothing holds");
    assert_eq!(corrupt, Corruption::new("X1", "nothing holds", usize::MAX));
    assert_eq!(ensure(true, "X1", "nothing holds", usize::MAX), Ok(()));
    let corrupt = corrupt.to_string();
    assert_eq!(
        corrupt,
        format!("invariant X1 violated at {}: nothing holds", usize::MAX)
    );
    let limit = usize::MAX;
    for refused in [
        Refused::TooLarge { limit },
        Refused::TooAligned { limit },
        Refused::Region { needed: limit },
    ] {
        let line = refused.to_string();
        assert!(
            line.contains(&limit.to_string()) && !line.contains('\n'),
            "{line}"
        );
    }
    assert_eq!(Nothing.usage().total(), 0);
    let none = Nothing.allocate(Layout::new::<u8>());
    assert_eq!(none, Err(Refused::NoChunk));
}

#[test]
fn numbers_are_given_out_once_to_whoever_asks() {
    static NUMBERS: Numbers = Numbers::new();
    let taken = Mutex::new(BTreeSet::new());
    std::thread::scope(|threads| {
        for _ in 0..8 {
            threads.spawn(|| {
                let own: Vec<_> = (0..1000).filter_map(|_| NUMBERS.next()).collect();
                let mut taken = taken.lock().expect("no test unwinds");
                assert!(own.into_iter().all(|number| taken.insert(number)));
            });
        }
    });
    assert_eq!(taken.into_inner().expect("no test unwinds").len(), 8000);
}
