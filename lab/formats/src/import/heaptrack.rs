//! Recordings of heaptrack, as its preloaded library writes them and as `heaptrack_interpret` does.
//!
//! Both are lines of text: a letter or a sign, and hexadecimal numbers. Of the lines only these
//! matter:
//!
//! ```text
//! v VERSION FORMAT          the first line
//! x LENGTH PATH             raw: the program;     X COMMAND LINE     both, with blanks between its words
//! m, s, i, t                call sites: see `places`
//! + SIZE TRACE ADDRESS      raw: an allocation;   - ADDRESS          a free
//! a SIZE TRACE              interpreted: allocations of one size at one call site, numbered from 0
//! + NUMBER                  interpreted: such an allocation;   - NUMBER    a free of one of them
//! ```
//!
//! A reallocation is a free and an allocation. An interpreted recording does not say which object
//! of a size and a call site is freed: the one that was allocated first is taken.
//!
//! # Source
//! heaptrack 1.4, `src/track/libheaptrack.cpp` and `src/interpret/heaptrack_interpret.cpp`, by what
//! they write.

use std::collections::{HashMap, VecDeque};

use surefit_trace::{Call, Event, MAX_SIZE, Op, Stack};

use super::error::ImportError;
use super::lines::{Lines, number, numbers};
use super::places::{Places, counted};
use crate::export::NO_CALL_SITES;

/// The newest version of the format that is known.
const NEWEST: u64 = 3;

/// What the signs of a recording mean.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Form {
    /// Objects have addresses.
    Raw,
    /// Objects have a size and a call site.
    Interpreted,
}

/// The objects of one address, or of one size and call site, that live.
#[derive(Debug, Default)]
struct Living {
    one: HashMap<u64, u32>,
    /// The others, where there are more than one: those that came later.
    more: HashMap<u64, VecDeque<u32>>,
}

/// Reads the lines of a recording.
pub(super) struct Heaptrack {
    lines: Lines,
    /// The name of the program: as it was called, or else its file's.
    pub(super) name: Option<String>,
    /// The program's file, and its command line.
    file: Vec<u8>,
    command: Vec<u8>,
    /// Unknown until the first allocation.
    pub(super) form: Option<Form>,
    /// Sizes and numbers of stacks of an interpreted recording.
    sizes: Vec<(u64, u64)>,
    /// Where the code is.
    pub(super) places: Places,
    /// Whether stacks are call sites, and not what stands in for them.
    pub(super) has_call_sites: bool,
    /// The stack of the event last given.
    pub(super) stack: Stack,
    living: Living,
    objects: u32,
    /// Frees of objects that were not recorded.
    pub(super) unknown: u64,
    /// Objects at an address at which another one lives.
    pub(super) overlapping: u64,
    /// Whether heaptrack was attached to a program that ran.
    pub(super) is_attached: bool,
}

impl Living {
    /// Adds an object; whether another one lives there.
    fn add(&mut self, key: u64, id: u32) -> bool {
        match self.one.entry(key) {
            std::collections::hash_map::Entry::Vacant(place) => {
                place.insert(id);
                false
            }
            std::collections::hash_map::Entry::Occupied(_) => {
                self.more.entry(key).or_default().push_back(id);
                true
            }
        }
    }

    /// Takes the object that came first.
    ///
    /// Raw: heaptrack notes a reallocation only after it, and meanwhile another thread may have the
    /// address; then the first is the one that was reallocated. Interpreted: it was the right one
    /// of several for 54 of 72 thousand frees of sqlite3, git, gcc and Python, the last for 12.
    fn take_first(&mut self, key: u64) -> Option<u32> {
        let first = self.one.remove(&key)?;
        if let Some(more) = self.more.get_mut(&key) {
            if let Some(next) = more.pop_front() {
                self.one.insert(key, next);
            }
            if more.is_empty() {
                self.more.remove(&key);
            }
        }
        Some(first)
    }
}

impl Heaptrack {
    /// Begins with the first line.
    pub(super) fn new(mut lines: Lines) -> Result<Self, ImportError> {
        if !lines.advance()? {
            return Err(lines.error("is cut short"));
        }
        match lines.split().and_then(|(_, rest)| numbers::<2>(rest)) {
            Some(([_, format], 2)) if format > NEWEST => return Err(ImportError::Version(format)),
            Some(_) => {}
            None => return Err(lines.error("should be `v` and two versions")),
        }
        Ok(Self {
            lines,
            name: None,
            file: Vec::new(),
            command: Vec::new(),
            form: None,
            sizes: Vec::new(),
            places: Places::default(),
            has_call_sites: true,
            stack: Stack::UNKNOWN,
            living: Living::default(),
            objects: 0,
            unknown: 0,
            overlapping: 0,
            is_attached: false,
        })
    }

    /// The next event; `None` at the end.
    pub(super) fn next_event(&mut self) -> Result<Option<Event>, ImportError> {
        while self.lines.advance()? {
            let Some((letter, rest)) = self.lines.split() else {
                continue;
            };
            self.places.take(letter, rest);
            let op = match letter {
                b'+' => Some(self.allocate()?),
                b'-' => self.free()?,
                b'a' => {
                    self.sizes
                        .push(size(rest).ok_or_else(|| self.lines.error(A))?);
                    None
                }
                b'x' => {
                    self.file = path(rest).to_vec();
                    self.name = name(&self.command, &self.file);
                    None
                }
                b'X' => {
                    self.command = rest.to_vec();
                    self.name = name(&self.command, &self.file);
                    None
                }
                b's' => {
                    // An interpreted recording has the program's file among its strings only.
                    let file = path(rest);
                    let has_blanks = file.starts_with(b"/") && file.contains(&b' ');
                    if has_blanks && called(&self.command, file).is_some() {
                        self.name = name(&self.command, file);
                    }
                    None
                }
                b'A' => {
                    self.is_attached = true;
                    None
                }
                b'#' => {
                    // What was said of the first event stays.
                    let is_first = self.form.is_none();
                    let is_marked = rest == &NO_CALL_SITES.as_bytes()[2..];
                    self.has_call_sites &= !(is_first && is_marked);
                    None
                }
                b't' | b'i' | b'm' | b'c' | b'R' | b'I' | b'S' => None,
                _ => {
                    return Err(self
                        .lines
                        .error("begins with a letter that heaptrack does not write"));
                }
            };
            if let Some(op) = op {
                return Ok(Some(Event::new(0, op)));
            }
        }
        Ok(None)
    }

    /// Whether the recording ends in the middle of something.
    pub(super) fn is_cut(&self) -> bool {
        self.lines.is_cut()
    }

    fn allocate(&mut self) -> Result<Op, ImportError> {
        let (_, rest) = self.lines.split().unwrap_or_default();
        let (form, key, asked) = match numbers::<3>(rest) {
            Some(([size, stack, address], 3)) => (Form::Raw, address, Some((size, stack))),
            Some(([index, ..], 1)) => (Form::Interpreted, index, self.asked(index)),
            _ => return Err(self.lines.error("should be `+` and one number or three")),
        };
        if *self.form.get_or_insert(form) != form {
            return Err(self
                .lines
                .error("is of a raw recording in an interpreted one, or the other way round"));
        }
        let asked = asked.filter(|(size, _)| *size <= MAX_SIZE);
        let (size, stack) = asked.ok_or_else(|| {
            self.lines
                .error("allocates an unknown size, or one that no machine has")
        })?;
        self.stack = self.places.stack(stack);
        let id = self.objects;
        self.objects = id.checked_add(1).ok_or(ImportError::TooManyObjects)?;
        if self.living.add(key, id) && form == Form::Raw {
            self.overlapping += 1;
        }
        let call = Call::Malloc;
        Ok(Op::Alloc { id, size, call })
    }

    fn free(&mut self) -> Result<Option<Op>, ImportError> {
        let (_, rest) = self.lines.split().unwrap_or_default();
        let key = number(rest).ok_or_else(|| self.lines.error("should be `-` and a number"))?;
        let object = self.living.take_first(key);
        self.stack = Stack::UNKNOWN;
        self.unknown += u64::from(object.is_none());
        Ok(object.map(|id| Op::Free { id }))
    }

    /// The size and the number of the stack of an index.
    fn asked(&self, index: u64) -> Option<(u64, u64)> {
        self.sizes.get(usize::try_from(index).ok()?).copied()
    }
}

const A: &str = "should be `a` and two numbers";

fn size(rest: &[u8]) -> Option<(u64, u64)> {
    match numbers::<2>(rest) {
        Some(([size, stack], 2)) => Some((size, stack)),
        _ => None,
    }
}

/// A path: newer versions write its length before it.
fn path(rest: &[u8]) -> &[u8] {
    counted(rest).unwrap_or(rest)
}

/// The program's name by its command line, as it was called, for the file may be what a link leads
/// to; or else by its file.
fn name(command: &[u8], file: &[u8]) -> Option<String> {
    let first = || command.split(|byte| *byte == b' ').next();
    let called = called(command, file).or_else(first);
    called.and_then(last_of).or_else(|| last_of(file))
}

/// The part of a command line that names this file. Blanks stand between its words, and in them as
/// they were: so it is the longest part that is the end of the file's path.
fn called<'c>(command: &'c [u8], file: &[u8]) -> Option<&'c [u8]> {
    let mut ends = (1..=command.len()).rev();
    let is_end = |at: usize| command.get(at).is_none_or(|byte| *byte == b' ');
    let at = ends.find(|at| is_end(*at) && leads_to(&command[..*at], file))?;
    Some(&command[..at])
}

fn leads_to(mut word: &[u8], file: &[u8]) -> bool {
    while let Some(rest) = word
        .strip_prefix(b"./")
        .or_else(|| word.strip_prefix(b"../"))
    {
        word = rest;
    }
    let before = file.strip_suffix(word);
    !word.is_empty() && before.is_some_and(|rest| rest.is_empty() || rest.ends_with(b"/"))
}

fn last_of(path: &[u8]) -> Option<String> {
    let last = path.rsplit(|byte| *byte == b'/').next()?;
    (!last.is_empty()).then(|| String::from_utf8_lossy(last).into_owned())
}
