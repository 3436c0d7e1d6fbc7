//! Jars: archives whose directory is at their end, of files that are stored or deflated.
//!
//! ```text
//! | file | file | … | directory: name, method, sizes, place of each file | end: place of the directory |
//! file  | 30 bytes | name | extra | contents |
//! ```
//! Neither checksums nor encryption, and no archive of 4 GiB: what a jar of classes does not have
//! is refused.

use std::borrow::Cow;
use std::collections::HashMap;
use std::io::Read;

use flate2::read::DeflateDecoder;

/// A jar.
#[derive(Debug)]
pub(crate) struct Jar<'b> {
    bytes: Cow<'b, [u8]>,
    files: HashMap<String, File>,
}

#[derive(Clone, Copy, Debug)]
struct File {
    method: u16,
    packed: usize,
    unpacked: usize,
    at: usize,
}

type Opened<T> = Result<T, &'static str>;

const END: [u8; 4] = *b"PK\x05\x06";
const ENTRY: [u8; 4] = *b"PK\x01\x02";
const LOCAL: [u8; 4] = *b"PK\x03\x04";
const CUT: &str = "the jar is cut short, or no jar";

impl<'b> Jar<'b> {
    /// Reads the directory.
    pub(crate) fn open(bytes: Cow<'b, [u8]>) -> Opened<Self> {
        // The end has 22 bytes and a comment of at most 64 KiB.
        let from = bytes.len().saturating_sub(22 + 0xFFFF);
        let mut ends = bytes[from..].windows(4).enumerate().rev();
        let end = ends.find(|(_, window)| *window == END).ok_or(CUT)?.0 + from;
        part(&bytes, end, 22)?;
        let count = number(&bytes, end + 10, 2)?;
        let mut at = number(&bytes, end + 16, 4)?;
        let mut files = HashMap::new();
        for _ in 0..count {
            if part(&bytes, at, 4)? != ENTRY {
                return Err("the jar's directory is damaged");
            }
            let field = |offset, len| number(&bytes, at + offset, len);
            let (name, extra, comment) = (field(28, 2)?, field(30, 2)?, field(32, 2)?);
            let file = File {
                method: field(10, 2)? as u16,
                packed: field(20, 4)?,
                unpacked: field(24, 4)?,
                at: field(42, 4)?,
            };
            let text = part(&bytes, at + 46, name)?;
            files.insert(String::from_utf8_lossy(text).into_owned(), file);
            at += 46 + name + extra + comment;
        }
        Ok(Self { bytes, files })
    }

    pub(crate) fn has(&self, name: &str) -> bool {
        self.files.contains_key(name)
    }

    /// The contents of a file; `None` if there is no such file. At most `most` bytes.
    pub(crate) fn read(&self, name: &str, most: usize) -> Opened<Option<Cow<'_, [u8]>>> {
        let Some(file) = self.files.get(name) else {
            return Ok(None);
        };
        if part(&self.bytes, file.at, 4)? != LOCAL {
            return Err("the jar's directory leads to no file");
        }
        let name = number(&self.bytes, file.at + 26, 2)?;
        let extra = number(&self.bytes, file.at + 28, 2)?;
        let packed = part(&self.bytes, file.at + 30 + name + extra, file.packed)?;
        if file.unpacked > most {
            return Err("a file of the jar is too large");
        }
        match file.method {
            0 => Ok(Some(Cow::Borrowed(packed))),
            8 => {
                let mut bytes = Vec::new();
                let mut unpacked = DeflateDecoder::new(packed).take(file.unpacked as u64 + 1);
                let read = unpacked.read_to_end(&mut bytes);
                if read.is_err() || bytes.len() != file.unpacked {
                    return Err("a file of the jar is damaged");
                }
                Ok(Some(Cow::Owned(bytes)))
            }
            _ => Err("a file of the jar is neither stored nor deflated"),
        }
    }

    /// The names of all files.
    #[cfg(test)]
    pub(crate) fn names(&self) -> impl Iterator<Item = &str> {
        self.files.keys().map(String::as_str)
    }
}

fn part(bytes: &[u8], at: usize, len: usize) -> Opened<&[u8]> {
    bytes.get(at..).and_then(|rest| rest.get(..len)).ok_or(CUT)
}

/// A number of two or four bytes, the lowest first.
fn number(bytes: &[u8], at: usize, len: usize) -> Opened<usize> {
    let bytes = part(bytes, at, len)?.iter().rev();
    Ok(bytes.fold(0, |number, &byte| number << 8 | usize::from(byte)))
}

/// The class that a manifest names as the one to run.
///
/// A line has at most 72 bytes: one that begins with a space goes on from the line before it.
pub(crate) fn main_class(manifest: &[u8]) -> Option<String> {
    let mut joined: Vec<u8> = Vec::with_capacity(manifest.len());
    for &byte in manifest {
        if byte == b' ' && joined.last() == Some(&b'\n') {
            joined.pop();
            if joined.last() == Some(&b'\r') {
                joined.pop();
            }
        } else {
            joined.push(byte);
        }
    }
    let text = String::from_utf8_lossy(&joined);
    let line = text
        .lines()
        .find_map(|line| line.strip_prefix("Main-Class:"));
    line.map(|name| name.trim().replace('.', "/"))
}

#[cfg(test)]
mod tests {
    use std::borrow::Cow;

    use super::{Jar, main_class};

    /// One stored file.
    fn small() -> Vec<u8> {
        let mut jar = b"PK\x03\x04".to_vec();
        jar.extend([0; 22]);
        jar.extend([1, 0, 0, 0]);
        jar.extend(b"ahello");
        let directory = jar.len() as u8;
        jar.extend(b"PK\x01\x02");
        jar.extend([0; 16]);
        jar.extend([5, 0, 0, 0, 5, 0, 0, 0, 1, 0]);
        jar.extend([0; 16]);
        jar.extend(b"a");
        jar.extend(b"PK\x05\x06");
        jar.extend([
            0, 0, 0, 0, 1, 0, 1, 0, 47, 0, 0, 0, directory, 0, 0, 0, 0, 0,
        ]);
        jar
    }

    #[test]
    fn a_stored_file_is_read_by_its_name() {
        let jar = Jar::open(Cow::Owned(small())).expect("a jar");
        assert_eq!(jar.names().collect::<Vec<_>>(), ["a"]);
        assert_eq!(
            jar.read("a", 9).expect("whole").as_deref(),
            Some(&b"hello"[..])
        );
        assert_eq!(jar.read("b", 9), Ok(None));
        assert!(jar.read("a", 4).is_err());
    }

    #[test]
    fn a_jar_that_is_cut_or_changed_is_refused_or_read() {
        let whole = small();
        for len in 0..whole.len() {
            assert!(Jar::open(Cow::Borrowed(&whole[..len])).is_err(), "{len}");
        }
        for at in 0..whole.len() {
            let mut changed = whole.clone();
            changed[at] ^= 0xFF;
            if let Ok(jar) = Jar::open(Cow::Owned(changed)) {
                let _ = jar.read("a", 1 << 20);
            }
        }
    }

    #[test]
    fn the_manifest_names_the_main_class() {
        let manifest = b"Manifest-Version: 1.0\r\nMain-Class: game.Main\r\n";
        assert_eq!(main_class(manifest).as_deref(), Some("game/Main"));
        for manifest in [
            &b"Main-Class: game.\r\n boa\r\n rd.Main\r\nOther: a\r\n"[..],
            b"Main-Class: game.\n board.Main\n",
        ] {
            assert_eq!(main_class(manifest).as_deref(), Some("game/board/Main"));
        }
        // A line may end within a letter of two bytes.
        let manifest = b"Main-Class: game.Br\xc3\r\n \xa9t\r\n";
        assert_eq!(main_class(manifest).as_deref(), Some("game/Br\u{e9}t"));
        assert_eq!(main_class(b"Manifest-Version: 1.0"), None);
    }
}
