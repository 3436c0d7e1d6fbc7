//! White-box tests of the blocks: shapes that grow and shrink, and every piece of metadata
//! corrupted.

extern crate alloc;
use alloc::vec::Vec;

use surefit_testkit::JunkRegion;

use super::blocks::Blocks;
use super::shape::{Array, Count, Object, Shape};
use super::{Bytes, Jamaica};

/// Leaves and inner nodes of an array, computed by building its levels.
fn naive_array<const B: usize>(len: usize) -> Count {
    let leaves = len.div_ceil(B).max(1);
    let (mut level, mut inner) = (leaves, 0);
    while level > 1 {
        level = level.div_ceil(B / 4);
        inner += level;
    }
    Count {
        listed: 0,
        leaves,
        inner,
    }
}

#[test]
fn blocks_are_counted_as_their_shapes_say() {
    for len in (0..5000).chain((1..200).map(|n| n * 7919)) {
        assert_eq!(Array::count::<16>(len), naive_array::<16>(len), "{len}");
        assert_eq!(Array::count::<32>(len), naive_array::<32>(len), "{len}");
        assert_eq!(Array::count::<128>(len), naive_array::<128>(len), "{len}");
        let listed = Object::count::<32>(len).listed;
        assert!(
            listed * 28 >= len && (listed - 1) * 28 < len.max(1),
            "{len}"
        );
    }
    assert!(Array::count::<16>(usize::MAX).total() > usize::MAX / 16);
}

/// Grows and shrinks one shape directly, and walks over it after each change.
fn check_shape<S: Shape, const B: usize>() {
    let mut region = JunkRegion::new(1 << 16, 128, 1);
    let mut blocks = Blocks::<B>::new(region.memory()).expect("large enough");
    let all = blocks.total();
    let mut first = blocks.take();
    let lengths = (0..300).map(|n| [n * 61, 19_000 - n * 61, n, B * B / 4 + n][n % 4]);
    let mut old = 0;
    for new in lengths.chain([0]) {
        first = if new < old {
            S::shrink(&mut blocks, first, old, new)
        } else {
            S::grow(&mut blocks, first, old, new)
        };
        let used = S::count::<B>(new).total();
        assert_eq!(blocks.available(), all - used, "{old} -> {new}");
        let mut visited = 0;
        let is_sound = S::walk(&blocks, first, new, &mut |block| {
            visited += 1;
            blocks.is_marked(block)
        });
        assert!(is_sound && visited == used, "{old} -> {new}");
        old = new;
    }
    blocks.give(first);
    assert_eq!(blocks.available(), all);
}

#[test]
fn shapes_grow_and_shrink_at_their_end() {
    check_shape::<Object, 16>();
    check_shape::<Object, 32>();
    check_shape::<Array, 16>();
    check_shape::<Array, 32>();
    check_shape::<Array, 128>();
}

/// A heap with live objects, freed ones, and blocks never opened.
fn filled<'m>(region: &'m mut JunkRegion) -> (Jamaica<'m>, Vec<Bytes<Object>>, Vec<Bytes<Array>>) {
    let mut heap = Jamaica::new(region.memory()).expect("large enough");
    let (mut objects, mut arrays, mut passing) = (Vec::new(), Vec::new(), Vec::new());
    for n in 0..12 {
        objects.push(heap.alloc(n * 23).expect("room"));
        arrays.push(heap.alloc(n * 31).expect("room"));
        passing.push(heap.alloc::<Object>(40).expect("room"));
        if n % 3 == 0 {
            heap.free(objects.swap_remove(n / 2));
            heap.free(arrays.swap_remove(n / 3));
        }
    }
    passing.into_iter().for_each(|bytes| heap.free(bytes));
    (heap, objects, arrays)
}

#[test]
fn the_checker_objects_to_a_wrong_free_list_mark_or_count() {
    let mut region = JunkRegion::new(8192, 64, 1);
    let (mut heap, ..) = filled(&mut region);
    assert_eq!(heap.check(), Ok(()));
    assert!(heap.blocks.free_count > 5);
    let opened = heap.blocks.opened;
    let mut link = heap.blocks.free;
    while link != 0 {
        let (block, sound) = (link - 1, heap.blocks.link(link - 1, 0));
        for wrong in (0..=opened + 1).chain([u32::MAX]) {
            heap.blocks.set_link(block, 0, wrong);
            assert_eq!(heap.check().is_err(), wrong != sound, "{wrong} in {block}");
        }
        heap.blocks.set_link(block, 0, sound);
        link = sound;
    }
    for bit in 0..heap.blocks.marks.len() * 8 {
        heap.blocks.marks[bit / 8] ^= 1 << (bit % 8);
        assert!(heap.check().is_err(), "mark {bit}");
        heap.blocks.marks[bit / 8] ^= 1 << (bit % 8);
    }
    for wrong in [opened - 1, opened + 1] {
        heap.blocks.opened = wrong;
        assert!(heap.check().is_err());
        heap.blocks.opened = opened;
    }
    heap.count.leaves += 1;
    assert_eq!(heap.check().expect_err("J3").invariant, "J3");
    heap.count.leaves -= 1;
    heap.blocks.free_count -= 1;
    assert_eq!(heap.check().expect_err("J1").invariant, "J1");
    heap.blocks.free_count += 1;
    assert_eq!(heap.check(), Ok(()));
}

/// The blocks of an object that hold links, and how many links: all blocks of an Object, the root
/// of an Array that has more blocks.
fn with_links<S: Shape>(heap: &Jamaica<'_>, bytes: &Bytes<S>) -> (Vec<u32>, usize) {
    let mut own = Vec::new();
    S::walk(&heap.blocks, bytes.first, bytes.len(), &mut |block| {
        own.push(block);
        true
    });
    if S::LEAD > 0 {
        return (own, 1);
    }
    own.truncate(S::count::<32>(bytes.len()).inner.min(1));
    (own, 8)
}

#[test]
fn the_checker_objects_to_every_wrong_link_of_an_object() {
    let mut region = JunkRegion::new(8192, 64, 1);
    let (mut heap, objects, arrays) = filled(&mut region);
    assert_eq!(heap.check_objects(objects.iter(), arrays.iter()), Ok(()));
    let marks = heap.blocks.marks.to_vec();
    let mut holders: Vec<_> = objects
        .iter()
        .map(|bytes| with_links(&heap, bytes))
        .collect();
    holders.extend(arrays.iter().map(|bytes| with_links(&heap, bytes)));
    let mut tried = 0;
    for (blocks, links) in holders {
        for (block, nth) in blocks
            .iter()
            .flat_map(|&block| (0..links).map(move |n| (block, n)))
        {
            let sound = heap.blocks.link(block, nth);
            for wrong in (0..=heap.blocks.opened + 1).chain([u32::MAX]) {
                heap.blocks.set_link(block, nth, wrong);
                let found = heap.check_objects(objects.iter(), arrays.iter());
                assert_eq!(found.is_err(), wrong != sound, "{wrong} in {block}");
                assert_eq!(heap.blocks.marks, &marks[..], "the marks are as before");
                tried += 1;
            }
            heap.blocks.set_link(block, nth, sound);
        }
    }
    assert!(tried > 10_000, "{tried}");
    assert_eq!(heap.check(), Ok(()));
}
