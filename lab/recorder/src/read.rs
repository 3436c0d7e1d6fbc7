//! Reads a log, slot by slot.

use std::ffi::OsStr;
use std::fs::File;
use std::io::{BufReader, ErrorKind, Read};
use std::mem::offset_of;
use std::os::unix::ffi::OsStrExt as _;
use std::path::{Path, PathBuf};

use crate::bytes::{half, word};
use crate::log::{self, FULL, HEADER_BYTES, Header, NO_ADDRESSES, SLOT_BYTES, kind};
use crate::seen::Inside;

/// What a log says of its process.
#[derive(Clone, Debug)]
pub struct Described {
    /// The file.
    pub path: PathBuf,
    /// The process.
    pub pid: u32,
    /// The process that began it.
    pub parent: u32,
    /// Whether it is a copy of its parent, in which no program began.
    pub forked: bool,
    /// Whether the program, if nothing was recorded, has a malloc of its own.
    pub own_malloc: bool,
    /// The program, as it was called.
    pub program: String,
    /// The library that the program's malloc is in, if that is not the C library; `None` if it is,
    /// or if it is not known.
    pub library: Option<PathBuf>,
    /// Events that took a number, also those that were not written any more.
    pub events: u64,
    /// Slots that the file has, written or not; the kernel was asked to map all of them.
    pub ready: u64,
    /// Why recording ended before the process did.
    pub ended: Option<Ended>,
    /// What the process has taken.
    pub seen: Inside,
}

/// Why recording ended before the process did.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Ended {
    /// The log had as many bytes as it may.
    Full,
    /// The process may not have as many addresses as the log needs.
    Addresses,
    /// The log could not grow: an error of the operating system, by its number.
    Error(i32),
}

/// One event of a log, by the address of its object.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Record {
    /// What happened: see [`kind`].
    pub kind: u8,
    /// The logarithm of the alignment.
    pub log2_align: u8,
    /// The thread, as the log numbers it.
    pub thread: u32,
    /// The stack, as the file of stacks numbers it; 0 if it was not recorded.
    pub stack: u32,
    /// The object's address.
    pub address: u64,
    /// The request, in bytes.
    pub size: u64,
}

/// Why a log cannot be read.
#[derive(Debug, thiserror::Error)]
pub enum ReadError {
    /// The file cannot be read.
    #[error("cannot read {}", .path.display())]
    Io {
        /// The file.
        path: PathBuf,
        /// Why not.
        source: std::io::Error,
    },
    /// It is no log.
    #[error("{} is no log of a recording", .path.display())]
    NoLog {
        /// The file.
        path: PathBuf,
    },
}

/// A log that is being read.
#[derive(Debug)]
pub struct Reader {
    described: Described,
    input: BufReader<File>,
    left: u64,
}

impl Reader {
    /// Opens a log and reads its header.
    ///
    /// # Errors
    /// The file cannot be read, or is no log.
    pub fn open(path: &Path) -> Result<Self, ReadError> {
        let io = |source| ReadError::Io {
            path: path.into(),
            source,
        };
        let mut input = BufReader::with_capacity(1 << 20, File::open(path).map_err(io)?);
        let mut header = [0; HEADER_BYTES];
        match input.read_exact(&mut header) {
            Err(error) if error.kind() == ErrorKind::UnexpectedEof => {
                return Err(ReadError::NoLog { path: path.into() });
            }
            other => other.map_err(io)?,
        }
        let described =
            describe(path, &header).ok_or_else(|| ReadError::NoLog { path: path.into() })?;
        let left = described.events.min(described.ready);
        Ok(Self {
            described,
            input,
            left,
        })
    }

    /// What the log says of its process.
    #[must_use]
    pub fn described(&self) -> &Described {
        &self.described
    }

    /// The next event; `None` at the end. Slots that were not finished are left out.
    ///
    /// # Errors
    /// The file cannot be read.
    pub fn next_record(&mut self) -> Result<Option<Record>, ReadError> {
        while self.left > 0 {
            self.left -= 1;
            let mut slot = [0; SLOT_BYTES];
            match self.input.read_exact(&mut slot) {
                Err(error) if error.kind() == ErrorKind::UnexpectedEof => return Ok(None),
                Err(source) => {
                    return Err(ReadError::Io {
                        path: self.described.path.clone(),
                        source,
                    });
                }
                Ok(()) => {}
            }
            let (kind, log2_align, thread, stack) =
                log::untag(word(&slot, offset_of!(log::Slot, tag)));
            if (kind::MALLOC..=kind::REALLOC_REFUSED).contains(&kind) {
                return Ok(Some(Record {
                    kind,
                    log2_align,
                    thread,
                    stack,
                    address: word(&slot, offset_of!(log::Slot, address)),
                    size: word(&slot, offset_of!(log::Slot, size)),
                }));
            }
        }
        Ok(None)
    }
}

fn describe(path: &Path, header: &[u8]) -> Option<Described> {
    if word(header, offset_of!(Header, magic)) != log::MAGIC {
        return None;
    }
    let program = text(header, offset_of!(Header, program), log::PROGRAM_BYTES);
    let library = text(header, offset_of!(Header, library), log::LIBRARY_BYTES);
    Some(Described {
        path: path.into(),
        pid: half(header, offset_of!(Header, pid)),
        parent: half(header, offset_of!(Header, parent)),
        forked: half(header, offset_of!(Header, forked)) != 0,
        own_malloc: half(header, offset_of!(Header, own_malloc)) != 0,
        program: String::from_utf8_lossy(program).into_owned(),
        library: Some(PathBuf::from(OsStr::from_bytes(library))).filter(|file| !is_platforms(file)),
        events: word(header, offset_of!(Header, next)),
        ready: word(header, offset_of!(Header, ready)),
        ended: match half(header, offset_of!(Header, ended)) {
            0 => None,
            FULL => Some(Ended::Full),
            NO_ADDRESSES => Some(Ended::Addresses),
            error => Some(Ended::Error(i32::try_from(error).unwrap_or(i32::MAX))),
        },
        seen: Inside::read(header),
    })
}

/// A text that ends with zero.
fn text(header: &[u8], at: usize, most: usize) -> &[u8] {
    let bytes = &header[at..][..most];
    bytes.split(|byte| *byte == 0).next().unwrap_or_default()
}

/// Whether a library is the C library, or none.
fn is_platforms(file: &Path) -> bool {
    let name = file.file_name().unwrap_or_default().as_bytes();
    name.is_empty() || name.starts_with(b"libc.so") || name.starts_with(b"libc-")
}

#[cfg(test)]
mod tests {
    use std::mem::offset_of;

    use super::{Ended, ReadError, Reader};
    use crate::log::{self, FULL, HEADER_BYTES, Header, kind};

    fn log(next: u64, ready: u64, slots: &[[u64; 3]]) -> Vec<u8> {
        let mut bytes = vec![0; HEADER_BYTES];
        let mut put = |at: usize, word: u64| bytes[at..at + 8].copy_from_slice(&word.to_ne_bytes());
        put(offset_of!(Header, magic), log::MAGIC);
        put(offset_of!(Header, next), next);
        put(offset_of!(Header, ready), ready);
        let at = offset_of!(Header, ended);
        bytes[at..at + 4].copy_from_slice(&FULL.to_ne_bytes());
        bytes.extend(slots.iter().flatten().flat_map(|word| word.to_ne_bytes()));
        bytes
    }

    fn open(bytes: &[u8]) -> Result<Reader, ReadError> {
        let file = tempfile::NamedTempFile::new().expect("a file");
        std::fs::write(file.path(), bytes).expect("written");
        Reader::open(file.path())
    }

    fn addresses(reader: &mut Reader) -> Vec<u64> {
        let next = || {
            reader
                .next_record()
                .expect("read")
                .map(|record| record.address)
        };
        std::iter::from_fn(next).collect()
    }

    #[test]
    fn slots_that_were_not_finished_are_left_out() {
        let malloc = log::tag(kind::MALLOC, 1, 3, 0);
        let slots = [[1, 10, malloc], [2, 10, 0], [3, 10, malloc], [4, 10, 15]];
        let mut reader = open(&log(9, 100, &slots)).expect("a log");
        assert_eq!(reader.described().ended, Some(Ended::Full));
        assert_eq!(addresses(&mut reader), [1, 3]);
        // Numbers beyond what the file had room for.
        let mut reader = open(&log(9, 1, &slots)).expect("a log");
        assert_eq!(addresses(&mut reader), [1]);
    }

    #[test]
    fn the_c_library_is_nobodys_own_malloc() {
        let library = |name: &[u8]| {
            let mut bytes = log(0, 0, &[]);
            bytes[offset_of!(Header, library)..][..name.len()].copy_from_slice(name);
            open(&bytes).expect("a log").described().library.clone()
        };
        let own = "/usr/lib/x86_64-linux-gnu/libjemalloc.so.2";
        assert_eq!(library(own.as_bytes()), Some(own.into()));
        for none in ["", "/lib/x86_64-linux-gnu/libc.so.6", "/lib/libc-2.28.so"] {
            assert_eq!(library(none.as_bytes()), None, "{none}");
        }
        // Without a zero at its end.
        assert!(library(&[b'x'; log::LIBRARY_BYTES]).is_some());
    }

    #[test]
    fn what_is_no_log_is_refused_and_a_cut_one_is_read_to_its_end() {
        assert!(matches!(open(b""), Err(ReadError::NoLog { .. })));
        assert!(matches!(open(&[7; 8192]), Err(ReadError::NoLog { .. })));
        let malloc = log::tag(kind::MALLOC, 1, 3, 0);
        let mut bytes = log(u64::MAX, u64::MAX, &[[1, 10, malloc], [2, 10, malloc]]);
        bytes.truncate(bytes.len() - 1);
        assert_eq!(addresses(&mut open(&bytes).expect("a log")), [1]);
    }
}
