//! Turns the words of a shape into a key, with names erased.

use std::collections::HashMap;

use super::search::Key;

/// Which order of page-blocks a key keeps.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Grain {
    /// Pages with the same number of page-blocks of each kind are the same.
    Coarse,
    /// Only the names of entries and pages are erased.
    Fine,
}

/// A record of a shape: see the library's `shape.rs`.
enum Record<'a> {
    Numbers(&'a [u32]),
    NotFull(&'a [u32]),
    Full(&'a [u32]),
    /// Generations of free entries, or entries that are freed and wait.
    Entries(&'a [u32]),
}

fn records(mut words: &[u32]) -> Vec<Record<'_>> {
    let mut records = Vec::new();
    while let [head, rest @ ..] = words {
        let (record, after) = rest.split_at((head & 0xff_ffff) as usize);
        records.push(match head >> 24 {
            0 => Record::Numbers(record),
            1 => Record::NotFull(record),
            2 => Record::Full(record),
            3 => Record::Entries(record),
            kind => unreachable!("no kind {kind} of records"),
        });
        words = after;
    }
    records
}

/// The words of a shape, whatever their number.
#[must_use]
pub fn words_of(shape: impl Fn(&mut [u32]) -> usize) -> Vec<u32> {
    let mut words = vec![0; 256];
    let count = shape(&mut words);
    if count > words.len() {
        words.resize(count, 0);
        shape(&mut words);
    }
    words.truncate(count);
    words
}

/// The used page-blocks of a shape: entry → (page, page-block).
#[must_use]
pub fn places(words: &[u32]) -> HashMap<u32, (u32, u32)> {
    let mut places = HashMap::new();
    for record in records(words) {
        if let Record::NotFull(page) | Record::Full(page) = record {
            for (number, block) in (0..).zip(page[2..].chunks(2)) {
                if block[0] > 0 {
                    places.insert(block[0] - 1, (page[1], number));
                }
            }
        }
    }
    places
}

/// The key of a shape. `marks` returns what distinguishes an entry from others that are used alike,
/// or 0 if nothing does.
///
/// Generations are erased unless `ages` is set. Without it, no entry may reach its last generation
/// in the searched scripts.
///
/// # Panics
/// If there are 2³² entries in a record.
#[must_use]
pub fn key(
    words: &[u32],
    (grain, ages): (Grain, bool),
    marks: &dyn Fn(u32) -> u32,
    more: &[u32],
) -> Key {
    let mut key = Vec::with_capacity(words.len() + more.len());
    let mut full: Vec<Vec<u32>> = Vec::new();
    for record in records(words) {
        match record {
            Record::Numbers(numbers) => key.extend(numbers),
            Record::NotFull(page) => key.extend(blocks(page, (grain, ages), marks)),
            Record::Full(page) => full.push(blocks(page, (grain, ages), marks)),
            Record::Entries(entries) => {
                key.push(u32::try_from(entries.len()).expect("small"));
                key.extend(entries.iter().filter(|_| ages));
            }
        }
    }
    // No list names full pages, so their order depends only on names.
    full.sort();
    key.push(u32::MAX);
    key.extend(full.into_iter().flatten());
    key.extend(more);
    key.into()
}

fn blocks(page: &[u32], (grain, ages): (Grain, bool), marks: &dyn Fn(u32) -> u32) -> Vec<u32> {
    let code = |block: &[u32]| match block[0] {
        0 => [0, 0],
        entry => [
            1 + marks(entry - 1),
            if ages { block[1] } else { block[1] & 0xffff },
        ],
    };
    let mut codes: Vec<_> = page[2..].chunks(2).map(code).collect();
    if grain == Grain::Coarse {
        codes.sort_unstable();
    }
    std::iter::once(u32::MAX - 1 - page[0])
        .chain(codes.into_iter().flatten())
        .collect()
}
