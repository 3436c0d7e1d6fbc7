//! The stacks of a log, as call sites of a trace: with the names of the functions, where the files
//! of the program and its libraries have them.

use std::collections::HashMap;
use std::fs;
use std::mem::{offset_of, size_of};
use std::path::{Path, PathBuf};

use surefit_trace::{Frame, Sites, SitesBuilder, Stack};

use crate::log::stacks::{
    ADDRESS_BITS, Header, MAGIC, MODULES, MODULES_AT, Module, SLOTS, SLOTS_AT, Slot, WORDS_AT,
};
use crate::symbols::Functions;

/// The call sites of a log.
#[derive(Debug, Default)]
pub struct Recorded {
    /// The table.
    pub sites: Sites,
    /// The stack of each slot of the file.
    stacks: HashMap<u32, Stack>,
    /// Events whose stack was not recorded, because there was no room for it.
    pub lost: u64,
}

impl Recorded {
    /// The stack that a slot of the log numbers.
    #[must_use]
    pub fn stack(&self, number: u32) -> Stack {
        self.stacks.get(&number).copied().unwrap_or_default()
    }
}

/// The file of the stacks beside a log.
fn beside(log: &Path) -> PathBuf {
    log.with_extension("stacks")
}

/// Reads the stacks beside a log; `None` if there are none.
#[must_use]
pub fn read(log: &Path) -> Option<Recorded> {
    let file = fs::read(beside(log)).ok()?;
    if word(&file, offset_of!(Header, magic))? != MAGIC {
        return None;
    }
    let mut names = Names::of(&file);
    let mut builder = SitesBuilder::default();
    let mut stacks = HashMap::new();
    for number in 0..SLOTS {
        let slot = SLOTS_AT + number * size_of::<Slot>();
        let Some(place) = word(&file, slot + offset_of!(Slot, place)).filter(|place| *place != 0)
        else {
            continue;
        };
        let places: Vec<_> = words(&file, place).collect();
        for place in &places {
            names.look_up(*place);
        }
        let frames: Vec<_> = places.iter().map(|place| names.frame(*place)).collect();
        let number = u32::try_from(number + 1).unwrap_or(u32::MAX);
        stacks.insert(number, builder.stack(&frames));
    }
    Some(Recorded {
        sites: builder.finish(),
        stacks,
        lost: word(&file, offset_of!(Header, lost)).unwrap_or(0),
    })
}

/// How often our own walk of a stack and the platform's agreed, in a recording by
/// [`crate::session::Unwinding::Compared`].
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Compared {
    /// Both found the same callers.
    pub alike: u64,
    /// They did not.
    pub different: u64,
    /// Our own did not know the way, and left it to the platform's.
    pub by_platform: u64,
}

/// How the two ways to find callers compare; `None` if there are no stacks beside the log.
#[must_use]
pub fn compared(log: &Path) -> Option<Compared> {
    let file = fs::read(beside(log)).ok()?;
    Some(Compared {
        alike: word(&file, offset_of!(Header, alike))?,
        different: word(&file, offset_of!(Header, different))?,
        by_platform: word(&file, offset_of!(Header, by_platform))?,
    })
}

/// The words of a stack that lie in the file.
fn words(file: &[u8], place: u64) -> impl Iterator<Item = u64> {
    let (first, count) = (place >> 8, place & 255);
    (first..first + count).filter_map(|number| {
        let at = usize::try_from(number).ok()?.checked_mul(8)?;
        word(file, WORDS_AT.checked_add(at)?)
    })
}

fn word(bytes: &[u8], at: usize) -> Option<u64> {
    let word = bytes.get(at..at.checked_add(8)?)?;
    Some(u64::from_ne_bytes(word.try_into().ok()?))
}

/// The names of the modules and, once they were looked up, of the functions.
struct Names {
    modules: Vec<String>,
    files: Functions,
    functions: HashMap<u64, Option<String>>,
}

impl Names {
    fn of(file: &[u8]) -> Self {
        let modules = (0..MODULES).map_while(|number| {
            let at = MODULES_AT + number * size_of::<Module>();
            let state = word(file, at + offset_of!(Module, state))?;
            let name = file.get(at + offset_of!(Module, name)..at + size_of::<Module>())?;
            let name = name.split(|byte| *byte == 0).next()?;
            (state != 0).then(|| String::from_utf8_lossy(name).into_owned())
        });
        Self {
            modules: modules.collect(),
            files: Functions::default(),
            functions: HashMap::new(),
        }
    }

    /// A place by its module and its address in there.
    fn split(place: u64) -> (Option<usize>, u64) {
        let module = usize::try_from(place >> ADDRESS_BITS).unwrap_or(usize::MAX);
        (module.checked_sub(1), place & ((1 << ADDRESS_BITS) - 1))
    }

    fn look_up(&mut self, place: u64) {
        let (module, offset) = Self::split(place);
        if self.functions.contains_key(&place) {
            return;
        }
        let module = module.and_then(|number| self.modules.get(number));
        let function = module.and_then(|name| self.files.calling(name, offset));
        self.functions.insert(place, function);
    }

    fn frame(&self, place: u64) -> Frame<'_> {
        let (module, offset) = Self::split(place);
        let module = module.and_then(|number| self.modules.get(number));
        Frame {
            module: module.map_or("", String::as_str),
            offset,
            function: self.functions.get(&place).and_then(Option::as_deref),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::{Recorded, read, word};
    use crate::log::stacks::{MAGIC, MODULES_AT, SLOTS_AT, WORDS_AT};
    use surefit_trace::Stack;

    fn read_from(bytes: &[u8]) -> Option<Recorded> {
        let folder = tempfile::tempdir().expect("a folder");
        std::fs::write(folder.path().join("7-1.stacks"), bytes).expect("written");
        read(&folder.path().join("7-1.log"))
    }

    #[test]
    fn stacks_are_read_and_what_is_cut_or_no_such_file_is_not_followed() {
        let mut bytes = vec![0; WORDS_AT + 16];
        let mut put = |at: usize, word: u64| bytes[at..at + 8].copy_from_slice(&word.to_ne_bytes());
        put(0, MAGIC);
        // Slot 5: two words from the first; slot 6: words that are not there.
        put(SLOTS_AT + 5 * 16 + 8, 2);
        put(SLOTS_AT + 6 * 16 + 8, u64::MAX);
        put(MODULES_AT + 8, 2);
        put(WORDS_AT, 1 << 48 | 77);
        put(WORDS_AT + 8, 9 << 48 | 78);
        bytes[MODULES_AT + 16..MODULES_AT + 20].copy_from_slice(b"/a/b");
        let recorded = read_from(&bytes).expect("stacks");
        let frames: Vec<_> = recorded.sites.frames(recorded.stack(6)).collect();
        assert_eq!((frames[0].module, frames[0].offset), ("/a/b", 77));
        assert_eq!((frames[1].module, frames[1].offset), ("", 78));
        assert_eq!(frames.len(), 2);
        assert_eq!(recorded.stack(7), Stack::UNKNOWN);
        assert_eq!(recorded.stack(1), Stack::UNKNOWN);
        for length in [0, 7, 8, 4096, SLOTS_AT + 88, MODULES_AT + 100, WORDS_AT + 3] {
            let _ = read_from(&bytes[..length]);
        }
        assert!(read_from(b"no such file").is_none());
        assert_eq!(word(&bytes, usize::MAX), None);
    }
}
