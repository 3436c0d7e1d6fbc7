//! The programs that a recorded one began, and those of them that could not be recorded.

use std::ffi::OsStr;
use std::fs;
use std::os::unix::ffi::OsStrExt as _;
use std::path::Path;

use crate::log::{BEGUN, begun};
use crate::program::{self, Unrecordable};
use crate::read::Described;

/// A program that a recorded one began: as a process of its own, or in its place.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Begun {
    /// The process in which it began.
    pub pid: u32,
    /// When, by the system's clock, in nanoseconds.
    at_ns: u64,
    /// Whether its environment names the recorder.
    is_heard: bool,
    /// The program, as it was called.
    name: Vec<u8>,
}

/// A program of which there is no log.
#[derive(Clone, Debug)]
pub struct Unheard {
    /// The process in which it began.
    pub pid: u32,
    /// The program, as it was called.
    pub program: String,
    /// Why there is none.
    pub reason: String,
}

/// What is said of a program whose environment does not name the recorder.
const NO_ENVIRONMENT: &str = "it was started without LD_PRELOAD and SUREFIT_RECORD, which surefit \
     sets: give `record` the program itself, and put `env -i` before `surefit`";

/// Those of a folder of logs, in the order in which they began; not those that did not begin after
/// all.
#[must_use]
pub fn begun(folder: &Path) -> Vec<Begun> {
    let lines = fs::read(folder.join(BEGUN)).unwrap_or_default();
    let mut all: Vec<Begun> = Vec::new();
    for line in lines.split(|byte| *byte == 0) {
        match parse(line) {
            Some((it, how)) if how == begun::FAILED.as_bytes() => {
                if let Some(at) = all.iter().rposition(|other| other.pid == it.pid) {
                    all.remove(at);
                }
            }
            Some((it, _)) => all.push(it),
            None => {}
        }
    }
    all
}

impl Begun {
    /// The program, as it was called.
    #[must_use]
    pub fn program(&self) -> &OsStr {
        OsStr::from_bytes(&self.name)
    }

    /// Whether this log is of it, or of what took its place later.
    #[must_use]
    pub fn is_before(&self, log: &Described) -> bool {
        self.pid == log.pid && !log.forked && self.at_ns <= log.seen.begun_ns
    }

    /// It, if there is no log of it and it is known why. What cannot be found any more is left out.
    fn unheard(&self, logs: &[Described]) -> Option<Unheard> {
        if logs.iter().any(|log| self.is_before(log)) {
            return None;
        }
        let reason = match program::check(self.program()).err() {
            Some(
                reason @ (Unrecordable::Setuid(_)
                | Unrecordable::Static(_)
                | Unrecordable::Machine(_)
                | Unrecordable::Library(..)),
            ) => reason.to_string(),
            _ if !self.is_heard => NO_ENVIRONMENT.to_owned(),
            _ => return None,
        };
        Some(Unheard {
            pid: self.pid,
            program: self.program().to_string_lossy().into_owned(),
            reason,
        })
    }
}

/// Those of which there is no log, although they were begun.
#[must_use]
pub fn unheard(all: &[Begun], logs: &[Described]) -> Vec<Unheard> {
    all.iter().filter_map(|it| it.unheard(logs)).collect()
}

/// `PID NANOSECONDS HOW NAME`.
fn parse(line: &[u8]) -> Option<(Begun, &[u8])> {
    let mut words = line.splitn(4, |byte| *byte == b' ');
    let mut number = || std::str::from_utf8(words.next()?).ok()?.parse::<u64>().ok();
    let (pid, at_ns) = (number()?.try_into().ok()?, number()?);
    let how = words.next()?;
    let name = words.next().filter(|name| !name.is_empty())?.to_vec();
    let is_heard = how == begun::HEARD.as_bytes();
    let it = Begun {
        pid,
        at_ns,
        is_heard,
        name,
    };
    Some((it, how))
}

#[cfg(test)]
mod tests {
    use super::{begun, parse, unheard};

    #[test]
    fn lines_are_read_and_what_is_none_is_left_out() {
        let (it, how) = parse(b"12 34 h /a b").expect("a line");
        assert_eq!((it.pid, it.at_ns, how), (12, 34, &b"h"[..]));
        assert!(it.is_heard && it.program() == "/a b");
        for wrong in [
            "",
            "12",
            "12 3 h",
            "12 3 h ",
            "x 3 h /a",
            "9 x h /a",
            "99999999999 3 h /a",
            " 3 h /a",
        ] {
            assert_eq!(parse(wrong.as_bytes()), None, "{wrong}");
        }
    }

    #[test]
    fn what_was_begun_without_the_recorder_is_named_unless_it_did_not_begin() {
        let folder = tempfile::tempdir().expect("a folder");
        assert!(begun(folder.path()).is_empty());
        let lines = b"1 5 h sh\x002 6 u /no/such\x002 7 f /no/such\0\xff\x003 8 u sh\x003 9 h /no";
        std::fs::write(folder.path().join("begun"), lines).expect("written");
        let all = begun(folder.path());
        assert_eq!(all.iter().map(|it| it.pid).collect::<Vec<_>>(), [1, 3, 3]);
        let [ref one] = unheard(&all, &[])[..] else {
            panic!("one: {all:?}");
        };
        assert_eq!((one.pid, &*one.program), (3, "sh"));
        assert!(one.reason.contains("LD_PRELOAD"), "{one:?}");
    }
}
