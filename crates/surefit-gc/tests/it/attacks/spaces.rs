//! A space that the caller wrote, which queries any marks, and collectors over unsuitable words.

use std::ops::Range;
use std::ptr::NonNull;

use super::*;
use surefit_core::{Corruption, Usage};
use surefit_gc::{Marks, Place, Swept};

/// A free list whose sweep queries the marks of all numbers, and whose merging and growing claim
/// success without making room.
struct Wrapped<'m> {
    inner: FreeList<'m, Lists>,
    promises: u32,
}

// SAFETY: I1 to I3 are those of the space within; what else it says, it may.
unsafe impl Space for Wrapped<'_> {
    fn places(&self) -> u32 {
        self.inner.places()
    }

    fn unused(&self) -> Range<u32> {
        let unused = self.inner.unused();
        assert!(unused.start <= unused.end && unused.end <= self.places());
        // None of them has a number, nor has any of none.
        unused.end..unused.start
    }

    fn allocate(&mut self, bytes: usize) -> Result<Object, Refused> {
        self.inner.allocate(bytes)
    }

    fn relieve(&mut self) -> bool {
        true
    }

    fn merge(&mut self) -> bool {
        true
    }

    fn grow(&mut self, _bytes: usize) -> bool {
        self.promises = self.promises.saturating_sub(1);
        self.promises > 0
    }

    unsafe fn place(&self, object: Object) -> Place {
        // SAFETY: the caller's.
        let place = unsafe { self.inner.place(object) };
        assert!(place.words() >= 3 && Place::in_pieces(u32::MAX).words() == u32::MAX);
        assert_eq!(Place::whole(NonNull::dangling(), 0).words(), 0);
        place
    }

    unsafe fn word_in_pieces(&self, object: Object, word: u32) -> NonNull<u32> {
        // SAFETY: the caller's.
        unsafe { self.inner.word_in_pieces(object, word) }
    }

    unsafe fn sweep(&mut self, marks: &Marks<'_>) -> Swept {
        for number in [1, 2, self.places() - 1, self.places(), 1 << 31, u32::MAX] {
            let object = Object::of(number).expect("not 0");
            let lives = self.inner.objects().any(|live| live == object);
            assert!(lives || !marks.contains(object), "{number}");
            assert!(
                marks
                    .next(number)
                    .is_none_or(|next| next.number() >= number)
            );
        }
        // SAFETY: the caller's.
        unsafe { self.inner.sweep(marks) }
    }

    fn objects(&self) -> impl Iterator<Item = Object> {
        self.inner.objects()
    }

    fn usage(&self) -> Usage {
        self.inner.usage()
    }

    fn check(&self) -> Result<(), Corruption> {
        self.inner.check()
    }
}

#[test]
fn a_space_may_promise_room_and_ask_for_marks_of_any_number() {
    let mut region = JunkRegion::new(1 << 13, 8, 1);
    let inner = FreeList::new(region.memory(), Sweep::Leap).expect("large enough");
    let (mut bits, mut stack, mut list) = (vec![u64::MAX; 99], [0; 1], List::default());
    let space = Wrapped { inner, promises: 9 };
    let mut gc = Collector::over(space, &mut bits, &mut stack);
    linked(&mut gc, &mut list, 30);
    for bytes in NUMBERS {
        let _ = gc.alloc(&mut list, bytes);
        assert_eq!(gc.check(), Ok(()), "{bytes}");
        let collected = gc.collect(&mut list);
        assert_eq!(gc.last(), Some(&collected));
        assert_eq!(gc.objects().count(), 30);
    }
    let first = gc.objects().next().expect("objects");
    assert_eq!(gc.reference(first, 0), None);
    assert!(gc.words(first) >= 6 && gc.space().places() < 1 << 13);
    assert!(gc.usage().total() >= 1 << 13);
    assert!(gc.totals().refusals > 5);
}

#[test]
fn words_that_do_not_do_are_told() {
    for (bits, stack) in [
        (0, 0),
        (0, 1),
        (1, 1),
        (2, 1),
        (31, 1),
        (32, 1),
        (33, 0),
        (34, 0),
    ] {
        let mut region = JunkRegion::new(8 << 10, 8, 1);
        let space = FreeList::<Lists>::new(region.memory(), Sweep::Walk).expect("large enough");
        let (mut bits, mut stack) = (vec![0; bits], vec![0; stack]);
        let made = AssertUnwindSafe(|| Collector::over(space, &mut bits, &mut stack).check());
        assert!(catch_unwind(made).is_err(), "too few");
    }
    let (mut region, config) = (JunkRegion::new(1 << 14, 1024, 1), config());
    for words in [0, 1, CompactFit::piece_words(1 << 14, &config) - 1] {
        let mut pieces = vec![0; words];
        let made =
            AssertUnwindSafe(|| CompactFit::new(region.memory(), &config, &mut pieces).is_ok());
        assert!(catch_unwind(made).is_err(), "{words}");
    }
    let mut pieces = vec![u64::MAX; CompactFit::piece_words(1 << 14, &config) + 9];
    let space = CompactFit::new(region.memory(), &config, &mut pieces).expect("room");
    let used = space
        .config()
        .geometry()
        .classes()
        .map(|class| space.class_usage(class));
    assert!(used.into_iter().all(|usage| usage == (0, 0)));
    assert_eq!((space.stats().live_blocks, space.relief().requests), (0, 0));
}
