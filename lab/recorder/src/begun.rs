//! The programs that a recorded one began, and that could not be recorded.

use std::collections::HashSet;
use std::ffi::OsStr;
use std::fs;
use std::os::unix::ffi::OsStrExt as _;
use std::path::Path;

use crate::log::BEGUN;
use crate::program::{self, Unrecordable};

/// A program into which the system preloads nothing.
#[derive(Debug)]
pub struct Unheard {
    /// The process in which it began.
    pub pid: u32,
    /// The program, as it was called.
    pub program: String,
    /// Why it was not recorded.
    pub reason: Unrecordable,
}

/// Those that were begun, each program once. What cannot be found any more is left out, and so is
/// what has a log of its own, which says why there is nothing in it.
#[must_use]
pub fn unheard(folder: &Path) -> Vec<Unheard> {
    let lines = fs::read(folder.join(BEGUN)).unwrap_or_default();
    let mut seen = HashSet::new();
    let lines = lines.split(|byte| *byte == 0).filter_map(parse);
    lines
        .filter(|(_, name)| seen.insert(*name))
        .filter_map(|(pid, name)| {
            let reason = program::check(OsStr::from_bytes(name)).err()?;
            let is_unheard = matches!(
                reason,
                Unrecordable::Setuid(_)
                    | Unrecordable::Static(_)
                    | Unrecordable::Machine(_)
                    | Unrecordable::Library(..)
            );
            is_unheard.then(|| Unheard {
                pid,
                program: String::from_utf8_lossy(name).into_owned(),
                reason,
            })
        })
        .collect()
}

/// `PID NAME`.
fn parse(line: &[u8]) -> Option<(u32, &[u8])> {
    let at = line.iter().position(|byte| *byte == b' ')?;
    let pid = std::str::from_utf8(&line[..at]).ok()?.parse().ok()?;
    Some((pid, &line[at + 1..])).filter(|(_, name)| !name.is_empty())
}

#[cfg(test)]
mod tests {
    use super::{parse, unheard};

    #[test]
    fn lines_are_read_and_what_is_none_is_left_out() {
        assert_eq!(parse(b"12 /a b"), Some((12, &b"/a b"[..])));
        for wrong in [&b""[..], b"12", b"12 ", b"x /a", b"99999999999 /a", b" /a"] {
            assert_eq!(parse(wrong), None);
        }
        let folder = tempfile::tempdir().expect("a folder");
        assert!(unheard(folder.path()).is_empty());
        std::fs::write(
            folder.path().join("begun"),
            b"1 sh\x002 /no/such\0\xff\x003 sh",
        )
        .expect("written");
        assert!(unheard(folder.path()).is_empty());
    }
}
