//! The processes that could not begin a log.

use std::fs;
use std::mem::offset_of;
use std::path::Path;

use crate::bytes::{half, word};
use crate::log::NO_ADDRESSES;
use crate::log::lost::{BYTES, ENTRIES, Entry, FILE, NAME_BYTES, NO_FOLDER, Page};

/// A process without a log.
#[derive(Debug, PartialEq, Eq)]
pub struct Lost {
    /// The process.
    pub pid: u32,
    /// The program, as it was called, or the end of that.
    pub program: String,
    /// Why it has none.
    pub why: Why,
}

/// Why a process has no log.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Why {
    /// It may not have as many addresses as a log needs.
    Addresses,
    /// It took what says where logs are out of its environment.
    Environment,
    /// An error of the operating system, by its number.
    Error(i32),
}

/// Makes a place in a folder where they can say it. There is room on the disk for all of it.
pub(crate) fn make_page(folder: &Path) -> std::io::Result<()> {
    fs::write(folder.join(FILE), [0; BYTES])
}

/// Those that said it, and how many more did for which there was no room.
#[must_use]
pub fn lost(folder: &Path) -> (Vec<Lost>, u64) {
    let page = fs::read(folder.join(FILE)).unwrap_or_default();
    if page.len() != BYTES {
        return (Vec::new(), 0);
    }
    let taken = word(&page, offset_of!(Page, taken));
    let entries = page[offset_of!(Page, entries)..].chunks_exact(size_of::<Entry>());
    let all = entries.filter_map(parse).collect();
    (all, taken.saturating_sub(ENTRIES as u64))
}

/// An entry that is written.
fn parse(entry: &[u8]) -> Option<Lost> {
    let number = |at| half(entry, at);
    let name = &entry[offset_of!(Entry, name)..][..NAME_BYTES];
    let name = name.split(|byte| *byte == 0).next().unwrap_or_default();
    (number(offset_of!(Entry, is_written)) == 1).then(|| Lost {
        pid: number(offset_of!(Entry, pid)),
        program: String::from_utf8_lossy(name).into_owned(),
        why: match number(offset_of!(Entry, error)) {
            NO_ADDRESSES => Why::Addresses,
            NO_FOLDER => Why::Environment,
            error => Why::Error(i32::try_from(error).unwrap_or(i32::MAX)),
        },
    })
}

#[cfg(test)]
mod tests {
    use super::{BYTES, Entry, FILE, Lost, NO_FOLDER, Page, Why, lost, make_page, offset_of};

    #[test]
    fn entries_that_are_written_are_read_and_the_rest_counted() {
        let folder = tempfile::tempdir().expect("a folder");
        assert_eq!(lost(folder.path()), (Vec::new(), 0));
        make_page(folder.path()).expect("written");
        assert_eq!(lost(folder.path()), (Vec::new(), 0));
        let mut page = vec![0; BYTES];
        page[..8].copy_from_slice(&130_u64.to_ne_bytes());
        let mut put = |entry: usize, at: usize, bytes: &[u8]| {
            let at = offset_of!(Page, entries) + entry * size_of::<Entry>() + at;
            page[at..at + bytes.len()].copy_from_slice(bytes);
        };
        for (entry, is_written, error) in [(0, 1_u32, 24), (1, 0, 24), (126, 1, NO_FOLDER)] {
            put(
                entry,
                offset_of!(Entry, is_written),
                &is_written.to_ne_bytes(),
            );
            put(entry, offset_of!(Entry, pid), &7_u32.to_ne_bytes());
            put(entry, offset_of!(Entry, error), &error.to_ne_bytes());
            put(
                entry,
                offset_of!(Entry, name),
                &[b'x'; 116][entry.min(115)..],
            );
        }
        std::fs::write(folder.path().join(FILE), &page).expect("written");
        let of = |letters: usize, why| Lost {
            pid: 7,
            program: "x".repeat(letters),
            why,
        };
        let all = vec![of(116, Why::Error(24)), of(1, Why::Environment)];
        assert_eq!(lost(folder.path()), (all, 3));
        std::fs::write(folder.path().join(FILE), &page[1..]).expect("written");
        assert_eq!(lost(folder.path()), (Vec::new(), 0));
    }
}
