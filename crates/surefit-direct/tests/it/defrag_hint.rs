//! What [`DirectHeap::defrag_hint`] promises to a program that moves its objects itself.

use std::alloc::Layout;
use std::ptr::NonNull;

use proptest::prelude::*;
use surefit_core::RawHeap;
use surefit_direct::{DirectHeap, Partitioning, Small, Standard, Tiny};
use surefit_testkit::JunkRegion;

/// A live object, every byte of which is `mark`.
#[derive(Clone, Copy)]
struct Object {
    place: NonNull<u8>,
    layout: Layout,
    mark: u8,
}

/// A program that knows all its objects.
struct Program<'m, S> {
    heap: DirectHeap<'m, S>,
    objects: Vec<Object>,
}

impl<S: Partitioning> Program<'_, S> {
    fn allocate(&mut self, bytes: usize, mark: u8) {
        let layout = Layout::from_size_align(bytes, 8).expect("a layout");
        if let Ok(place) = self.heap.allocate(layout) {
            // SAFETY: the object is live and that long.
            unsafe { place.write_bytes(mark, bytes) };
            self.objects.push(Object {
                place,
                layout,
                mark,
            });
        }
    }

    fn free(&mut self, number: usize) {
        let object = self.objects.swap_remove(number % self.objects.len());
        // SAFETY: S1, S2: the program frees an object of its own, once.
        unsafe { self.heap.free(object.place, object.layout) };
    }

    /// Asks about each object once, and moves those for which the hint says so. Returns how many.
    fn pass(&mut self, most: u32) -> usize {
        let mut moves = 0;
        for object in &mut self.objects {
            if !self.heap.defrag_hint(object.place, most) {
                continue;
            }
            let place = self.heap.allocate(object.layout);
            let place = place.expect("a move opens no page");
            // SAFETY: both are live, different objects of that many bytes.
            unsafe {
                object
                    .place
                    .copy_to_nonoverlapping(place, object.layout.size())
            };
            // SAFETY: S1, S2: an object of the program's own, freed once.
            unsafe { self.heap.free(object.place, object.layout) };
            object.place = place;
            moves += 1;
        }
        moves
    }

    /// The most pages of a class that are not full.
    fn most_not_full(&self) -> usize {
        let requests = (1..=S::PAGE_BYTES).step_by(8);
        let classes = requests.filter_map(|bytes| self.heap.class_stats(bytes, 8));
        classes.map(|class| class.not_full_pages).max().unwrap_or(0)
    }

    fn check(&self) {
        self.heap.check().expect("sound");
        for object in &self.objects {
            // SAFETY: the object is live; the program wrote all its bytes.
            let bytes =
                unsafe { std::slice::from_raw_parts(object.place.as_ptr(), object.layout.size()) };
            assert!(bytes.iter().all(|&byte| byte == object.mark));
        }
    }
}

fn run<S: Partitioning>(region: usize, calls: &[(u16, u8)], largest: usize, most: u32) {
    let mut region = JunkRegion::new(region, 1024, 3);
    let heap = DirectHeap::<S>::with(region.memory()).expect("a heap");
    let mut program = Program {
        heap,
        objects: Vec::new(),
    };
    for &(number, mark) in calls {
        if mark % 8 < 5 || program.objects.is_empty() {
            program.allocate(usize::from(number) % largest, mark);
        } else {
            program.free(usize::from(number));
        }
    }
    let pages = program.heap.stats().pages;
    let moves = program.pass(most);
    program.check();
    assert!(program.most_not_full() <= most.max(1) as usize, "the bound");
    assert!(program.heap.stats().pages <= pages, "no page was opened");
    assert!(moves <= program.objects.len());
    assert_eq!(program.pass(most), 0, "nothing is left to do");
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 64, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn one_pass_restores_the_bound(
        calls in prop::collection::vec(any::<(u16, u8)>(), 0..1500),
        largest in 1_usize..3000,
        most in 0_u32..5,
    ) {
        run::<Standard>(256 << 10, &calls, largest, most);
        run::<Small>(128 << 10, &calls, largest, most);
        run::<Tiny>(16 << 10, &calls, largest.min(300), most);
    }
}

#[test]
fn a_drift_of_sizes_is_undone() {
    let mut region = JunkRegion::new(1 << 20, 1024, 3);
    let heap = DirectHeap::<Standard>::with(region.memory()).expect("a heap");
    let mut program = Program {
        heap,
        objects: Vec::new(),
    };
    for number in 0..6400_u32 {
        program.allocate(128, number as u8);
    }
    // One object of each page stays.
    let mut number = 0;
    let heap = &mut program.heap;
    program.objects.retain(|object| {
        number += 1;
        let stays = number % 64 == 0;
        if !stays {
            // SAFETY: S1, S2: an object of the program's own, which it forgets.
            unsafe { heap.free(object.place, object.layout) };
        }
        stays
    });
    assert_eq!(
        (program.objects.len(), program.heap.stats().pages),
        (100, 100)
    );
    assert_eq!(
        program.pass(1),
        98,
        "all but those of the two pages that were filled"
    );
    program.check();
    assert_eq!(program.heap.stats().pages, 2);
}

#[test]
fn any_address_may_be_asked_about() {
    let mut region = JunkRegion::new(64 << 10, 1024, 3);
    let start = region.memory().as_mut_ptr().addr();
    let mut heap = DirectHeap::new(region.memory()).expect("a heap");
    let layout = Layout::from_size_align(3000, 8).expect("a layout");
    let large = heap.allocate(layout).expect("room");
    assert!(
        !heap.defrag_hint(large, 1),
        "a run is in no page of a class"
    );
    let around = (start - 64)..(start + (64 << 10) + 64);
    let addresses = || around.clone().chain([1, 8, usize::MAX, usize::MAX & !7]);
    let asked = |heap: &DirectHeap<'_>, address: &usize| {
        heap.defrag_hint(
            NonNull::without_provenance((*address).try_into().expect("not zero")),
            1,
        )
    };
    assert!(
        addresses().all(|address| !asked(&heap, &address)),
        "no page-blocks"
    );
    // One object in each of two pages: those of the older page alone should move.
    let layout = Layout::from_size_align(512, 8).expect("a layout");
    let objects: Vec<_> = (0..32)
        .map(|_| heap.allocate(layout).expect("room"))
        .collect();
    for (_, object) in objects
        .iter()
        .enumerate()
        .filter(|(number, _)| number % 16 != 0)
    {
        // SAFETY: S1, S2: an object of the test's own, freed once.
        unsafe { heap.free(*object, layout) };
    }
    let worth: Vec<_> = addresses()
        .filter(|address| asked(&heap, address))
        .collect();
    assert_eq!(worth.len(), 8192 / 8, "each place of one page");
    assert!(worth[worth.len() - 1] - worth[0] < 8192);
}
