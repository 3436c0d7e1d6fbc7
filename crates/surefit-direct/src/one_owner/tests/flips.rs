//! Every word of a heap's tables is changed, and of the links in what is free: `check` tells it, or
//! a drive finds it harmless.

use alloc::string::ToString;
use core::ops::Range;

use surefit_testkit::flips::{Change, Object, Verdict, campaign, drive};

use super::super::partition::Partitioning;
use super::super::space::Space;
use super::*;

/// What of the heap is no region: the words of its lists, or of its pools.
#[expect(unsafe_code, reason = "the words of a value")]
fn words_of<R>(space: &mut R) -> &mut [u8] {
    // SAFETY: both kinds consist of integers, without padding.
    unsafe { core::slice::from_raw_parts_mut(core::ptr::from_mut(space).cast(), size_of::<R>()) }
}

fn snapshot<S: Partitioning, R: Space<S>>(heap: &mut DirectHeap<'_, S, R>) -> Vec<u8> {
    let mut all = heap.memory.bytes().0.to_vec();
    all.extend_from_slice(words_of(&mut heap.space));
    all
}

fn put<S: Partitioning, R: Space<S>>(heap: &mut DirectHeap<'_, S, R>, all: &[u8]) {
    let (region, rest) = all.split_at(heap.memory.bytes().0.len());
    heap.memory.bytes().0.copy_from_slice(region);
    words_of(&mut heap.space).copy_from_slice(rest);
}

/// The words of a heap as ranges of its snapshot. `word` is the length of those that are in no
/// region.
fn words<S: Partitioning, R: Space<S>>(
    heap: &mut DirectHeap<'_, S, R>,
    word: usize,
) -> Vec<Range<usize>> {
    let (region, [records, tags, lists, end]) = heap.memory.bytes();
    let (region, heads) = (region.len(), records);
    let each =
        |range: Range<usize>, bytes: usize| range.step_by(bytes).map(move |at| at..at + bytes);
    let mut words: Vec<_> = each(0..records, 4).collect();
    for record in (records..tags).step_by(size_of::<PageRecord>()) {
        words.extend(
            [0..2, 2..4, 4..6, 6..7, 7..8, 8..12, 12..16]
                .map(|field: Range<usize>| record + field.start..record + field.end),
        );
    }
    words.extend(each(tags..lists, 4).chain(each(lists..end, 4)));
    for run in heap.space.runs(&heap.memory).filter(|run| run.free) {
        let at = heads + run.start.number() as usize * S::UNIT_BYTES;
        words.extend(each(at..at + 8, 4));
    }
    for page in heap.memory.pages() {
        let record = *heap.memory.record(page);
        let mut offset = record.free;
        while record.holds_blocks() && offset != record.frontier {
            let at = heads + page.number() * S::PAGE_BYTES + usize::from(offset);
            words.push(at..at + 2);
            offset = heap.memory.link(Block { page, offset });
        }
    }
    words.extend(each(region..region + size_of::<R>(), word));
    words
}

/// Fills a heap: full pages, not-full ones, an empty one that was given back, large objects, and
/// free runs between them. Sizes are those of tiny pages.
fn fill<S: Partitioning, R: Space<S>>(heap: &mut DirectHeap<'_, S, R>) -> Vec<Object> {
    let mut key = 0_u8;
    let mut take = |heap: &mut DirectHeap<'_, S, R>, bytes: usize| {
        key = key.wrapping_add(37);
        let layout = Layout::from_size_align(bytes * (S::PAGE_BYTES / 512), 8).expect("a layout");
        Object::new(heap, layout, key).expect("room")
    };
    let mut objects: Vec<_> = (0..66).map(|_| take(heap, 24)).collect();
    objects.extend((0..10).map(|_| take(heap, 112)));
    let emptied = take(heap, 64);
    objects.extend([190, 500, 190, 500, 190, 500].map(|bytes| take(heap, bytes)));
    // Of runs three; of pages of 112 bytes none of the first one; of those of 24 bytes few of the
    // first one, one of the last one.
    for place in [81, 78, 77, 74, 72, 71, 65, 43, 25, 4, 2] {
        give(heap, objects.remove(place));
    }
    give(heap, emptied);
    heap.check().expect("sound");
    objects
}

#[expect(unsafe_code, reason = "RawHeap::free")]
fn give<S: Partitioning, R: Space<S>>(heap: &mut DirectHeap<'_, S, R>, object: Object) {
    // SAFETY: S1, S2: a live object with its layout.
    unsafe { heap.free(object.pointer, object.layout) };
}

fn flip_all<S: Partitioning, R: Space<S>>(
    name: &str,
    heap: &mut DirectHeap<'_, S, R>,
    word: usize,
    slice: usize,
) {
    let empty = heap.usage();
    let objects = fill(heap);
    let whole = snapshot(heap);
    let words = words(heap, word);
    let bytes = heap.memory.bytes().0.as_ptr_range();
    let region = bytes.start.addr()..bytes.end.addr();
    let mut judge = |changed: &[u8], _: &[Change]| {
        put(heap, changed);
        if heap.check().is_err() {
            return Verdict::Told;
        }
        for seed in 0..2 {
            put(heap, changed);
            if let Err(why) = drive(heap, &region, &objects, S::PAGE_BYTES + 8, seed) {
                return Verdict::Silent(why);
            }
            if heap.usage() != empty {
                return Verdict::Silent("something is lost".to_string());
            }
        }
        Verdict::Harmless
    };
    assert_eq!(judge(&whole, &[]), Verdict::Harmless);
    campaign(name, &whole, &words, slice, &mut judge);
}

#[test]
fn each_change_of_a_word_is_told_or_harmless() {
    let mut memory = vec![MaybeUninit::new(0xA5); 116 << 10];
    let mut heap = DirectHeap::new(&mut memory).expect("a heap");
    flip_all("DirectHeap", &mut heap, 8, 53);
}

#[test]
fn each_change_of_a_word_of_pools_is_told_or_harmless() {
    let demand = [(24, 90), (112, 14), (64, 8), (190, 5), (500, 5)]
        .map(|(bytes, objects)| DirectDemand::new(bytes, objects));
    let mut memory = vec![MaybeUninit::new(0xA5); 16 << 10];
    let mut heap = PooledHeap::<Tiny>::certified(&mut memory, &demand).expect("enough");
    flip_all("PooledHeap", &mut heap, 4, 53);
}
