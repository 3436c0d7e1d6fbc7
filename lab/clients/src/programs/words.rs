//! Words, counted in a hash table of interned strings. The size is the number of words.
//!
//! Words are generated at random; some are more frequent. Each becomes a string, is looked up, and
//! is dropped if the table has it already. The table is an array of lists that doubles when it has
//! more words than lists. Four times, or more often if there are few words, rare words are removed.

use std::cell::Cell;
use std::mem::MaybeUninit;

use surefit_freelist::Index;
use surefit_gc::{Arena, Full, Gc, GcArray, GcStr, Mutation, Rootable, Trace};

use super::between::{Between, Stopped};
use super::numbers::{Chance, Checksum};

#[derive(Trace)]
struct Entry<'gc> {
    word: GcStr<'gc>,
    count: Cell<u64>,
    next: Cell<Option<Gc<'gc, Entry<'gc>>>>,
}

/// The lists of a table.
type Lists<'gc> = GcArray<'gc, Cell<Option<Gc<'gc, Entry<'gc>>>>>;

#[derive(Trace)]
struct Table<'gc> {
    lists: Cell<Lists<'gc>>,
    words: Cell<usize>,
}

/// Lists in the first table.
const FIRST: usize = 16;
/// Words between two removals: a part of all, and a minimum.
const OFTEN: (u32, u32) = (4, 20_000);
/// More bytes than a word takes with its entry and alignment.
const ROOM: usize = 256;

/// Counts words.
pub(super) fn run<I: Index>(
    region: &mut [MaybeUninit<u8>],
    size: u32,
    between: &mut impl Between,
) -> Result<u64, Stopped> {
    let mut chance = Chance(1_066);
    let mut table = Arena::<Rootable!['gc => Table<'gc>], I>::new(region, |mc| {
        let (lists, words) = (Cell::new(lists(mc, FIRST)?), Cell::new(0));
        Ok(Table { lists, words })
    })?;
    let often = (size / OFTEN.0).max(OFTEN.1);
    for number in 1..=size {
        let words = table.mutate(|_, table| table.words.get());
        between.step(&mut table, ROOM + 3 * words * size_of::<usize>())?;
        table.mutate(|mc, table| count(mc, table, &mut chance))?;
        if number % often == 0 {
            table.mutate(|_, table| throw_out(table));
        }
    }
    Ok(table.mutate(|_, table| checksum(table)))
}

fn lists<'gc>(mc: &Mutation<'gc>, count: usize) -> Result<Lists<'gc>, Full> {
    mc.alloc_array(count, |_| Cell::new(None))
}

/// Generates a word of one to nine syllables; short ones are more frequent.
fn word(chance: &mut Chance) -> String {
    const SYLLABLES: [&str; 8] = ["ka", "lo", "min", "ter", "su", "re", "fit", "an"];
    let mut word = String::new();
    loop {
        word.push_str(SYLLABLES[chance.below(8) as usize]);
        if word.len() > 24 || chance.below(3) == 0 {
            return word;
        }
    }
}

/// Counts the next word.
fn count<'gc>(mc: &Mutation<'gc>, table: &Table<'gc>, chance: &mut Chance) -> Result<(), Full> {
    let word = mc.alloc_str(&word(chance))?;
    let list = list(table.lists.get(), &word);
    let mut entry = list.get();
    while let Some(found) = entry {
        if *found.word == *word {
            found.count.set(found.count.get() + 1);
            return Ok(());
        }
        entry = found.next.get();
    }
    let (count, next) = (Cell::new(1), Cell::new(list.get()));
    list.set(Some(mc.alloc(Entry { word, count, next })?));
    table.words.set(table.words.get() + 1);
    match table.words.get() > table.lists.get().len() {
        true => double(mc, table),
        false => Ok(()),
    }
}

/// The list of a word.
fn list<'gc>(lists: Lists<'gc>, word: &str) -> &'gc Cell<Option<Gc<'gc, Entry<'gc>>>> {
    let hash = word.bytes().fold(0_u64, |hash, byte| {
        (hash ^ u64::from(byte)).wrapping_mul(0x100_0000_01B3)
    });
    let lists = lists.as_slice();
    &lists[(hash >> 7) as usize % lists.len()]
}

fn double<'gc>(mc: &Mutation<'gc>, table: &Table<'gc>) -> Result<(), Full> {
    let before = table.lists.get();
    let after = lists(mc, 2 * before.len())?;
    for from in before.as_slice() {
        while let Some(entry) = from.get() {
            from.set(entry.next.get());
            let to = list(after, &entry.word);
            entry.next.set(to.replace(Some(entry)));
        }
    }
    table.lists.set(after);
    Ok(())
}

/// Removes all words that were seen once, and halves the counts of the others.
fn throw_out(table: &Table<'_>) {
    for list in table.lists.get().as_slice() {
        let mut entry = list.take();
        while let Some(found) = entry {
            entry = found.next.get();
            let count = found.count.get();
            if count > 1 {
                found.count.set(count.div_ceil(2));
                found.next.set(list.replace(Some(found)));
            } else {
                table.words.set(table.words.get() - 1);
            }
        }
    }
}

fn checksum(table: &Table<'_>) -> u64 {
    let mut checksum = Checksum::default();
    checksum.add(table.words.get() as u64);
    for list in table.lists.get().as_slice() {
        let mut entry = list.get();
        while let Some(found) = entry {
            checksum.add(found.count.get() << 8 | found.word.len() as u64);
            entry = found.next.get();
        }
    }
    checksum.0
}
