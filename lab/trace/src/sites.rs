//! Call sites: the stacks of calls from which a program allocated.
//!
//! A stack is a node of a tree: a frame, and the stack of its caller. So the stacks of a program,
//! which share most of their callers, take a few bytes each.
#![deny(clippy::arithmetic_side_effects, clippy::cast_possible_truncation)]

use std::collections::HashMap;
use std::io::Read;

use crate::Problem;
use crate::codec::{read_integer, write_integer};
use crate::source::Source;
use crate::stack::Stack;

/// One call of a stack.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Frame<'s> {
    /// The file of the program or library, as the system named it; empty for code without a file.
    pub module: &'s str,
    /// Where in the module the call returns to: an address of the file's own. Without a module, of
    /// the process.
    pub offset: u64,
    /// The function, if somebody found out.
    pub function: Option<&'s str>,
}

/// The table of call sites of a trace.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Sites {
    /// Modules and functions.
    texts: Vec<String>,
    frames: Vec<Entry>,
    stacks: Vec<Node>,
}

/// A frame by the numbers of its texts.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
struct Entry {
    module: u32,
    offset: u64,
    /// Plus one; zero for none.
    function: u32,
}

/// A stack: its innermost frame, and that of the caller.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
struct Node {
    frame: u32,
    /// Below the node's own number; unknown for the outermost.
    caller: Stack,
}

impl Sites {
    /// The most texts, frames and stacks of a table: 2^24 each.
    pub const MAX_ENTRIES: u32 = 1 << 24;

    /// The longest text that is read; a longer one is cut when it is written.
    pub const MAX_TEXT_BYTES: usize = 4096;

    /// The frames of a stack, the innermost first: the one function for whoever asks who allocated.
    /// None if it is unknown, or of another table.
    pub fn frames(&self, stack: Stack) -> impl Iterator<Item = Frame<'_>> {
        let node = |stack: Stack| {
            let index = stack.number().checked_sub(1)?;
            self.stacks.get(index as usize)
        };
        let first = node(stack);
        let nodes = std::iter::successors(first, move |last| node(last.caller));
        nodes.map(|node| self.frame(node.frame))
    }

    fn frame(&self, number: u32) -> Frame<'_> {
        let entry = self.frames[number as usize];
        let function = entry.function.checked_sub(1);
        Frame {
            module: &self.texts[entry.module as usize],
            offset: entry.offset,
            function: function.map(|number| self.texts[number as usize].as_str()),
        }
    }

    /// How many stacks there are; the last one has this number. Some may only be the callers of
    /// others.
    #[must_use]
    pub fn len(&self) -> usize {
        self.stacks.len()
    }

    /// Whether there is none.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.stacks.is_empty()
    }

    /// Every stack, in the order of the table.
    #[expect(clippy::cast_possible_truncation, reason = "at most MAX_ENTRIES")]
    pub fn stacks(&self) -> impl Iterator<Item = Stack> + use<> {
        (1..=self.stacks.len() as u32).map(Stack::numbered)
    }

    /// The stack of a number that a file names.
    #[inline]
    pub(crate) fn checked(&self, number: i64) -> Result<Stack, Problem> {
        match u32::try_from(number) {
            Ok(number) if number as usize <= self.stacks.len() => Ok(Stack::numbered(number)),
            _ => Err(Problem::UnknownStack(number)),
        }
    }

    /// Appends the table.
    pub(crate) fn encode(&self, out: &mut Vec<u8>) {
        write_integer(self.texts.len() as u64, out);
        for text in &self.texts {
            write_integer(text.len() as u64, out);
            out.extend(text.as_bytes());
        }
        write_integer(self.frames.len() as u64, out);
        for frame in &self.frames {
            write_integer(frame.module.into(), out);
            write_integer(frame.offset, out);
            write_integer(frame.function.into(), out);
        }
        write_integer(self.stacks.len() as u64, out);
        for node in &self.stacks {
            write_integer(node.frame.into(), out);
            write_integer(node.caller.number().into(), out);
        }
    }

    /// Reads a table; it grows with what is read, whatever the file claims.
    pub(crate) fn read<R: Read>(source: &mut Source<R>) -> Result<Self, Problem> {
        let mut sites = Self::default();
        for _ in 0..count(source)? {
            let bytes = below(source, Self::MAX_TEXT_BYTES + 1, "bytes of a text")?;
            let text = String::from_utf8(source.bytes(bytes as usize)?);
            sites.texts.push(text.map_err(|_| Problem::NameNotUtf8)?);
        }
        for _ in 0..count(source)? {
            sites.frames.push(Entry {
                module: below(source, sites.texts.len(), "texts")?,
                offset: read_integer(source)?,
                function: below(source, sites.texts.len().saturating_add(1), "texts")?,
            });
        }
        for _ in 0..count(source)? {
            sites.stacks.push(Node {
                frame: below(source, sites.frames.len(), "frames")?,
                caller: Stack::numbered(below(
                    source,
                    sites.stacks.len().saturating_add(1),
                    "stacks",
                )?),
            });
        }
        Ok(sites)
    }
}

fn count<R: Read>(source: &mut Source<R>) -> Result<u32, Problem> {
    let most = Sites::MAX_ENTRIES;
    match u32::try_from(read_integer(source)?) {
        Ok(count) if count <= most => Ok(count),
        _ => Err(Problem::TooMany {
            what: "entries of a table of call sites",
            limit: most.into(),
        }),
    }
}

/// Reads a number that must be below a limit.
fn below<R: Read>(
    source: &mut Source<R>,
    limit: usize,
    what: &'static str,
) -> Result<u32, Problem> {
    let number = read_integer(source)?;
    match u32::try_from(number) {
        Ok(small) if (small as usize) < limit => Ok(small),
        _ => Err(Problem::OutOfTable { what, number }),
    }
}

/// A table of call sites in the making: each text, frame and stack is in it once.
///
/// # Examples
/// ```
/// use surefit_trace::{Frame, SitesBuilder};
/// let mut builder = SitesBuilder::default();
/// let call = |offset, function| Frame { module: "a.out", offset, function: Some(function) };
/// let stack = builder.stack(&[call(7, "inner"), call(70, "main")]);
/// let sites = builder.finish();
/// let names: Vec<_> = sites.frames(stack).filter_map(|frame| frame.function).collect();
/// assert_eq!(names, ["inner", "main"]);
/// ```
#[derive(Debug, Default)]
pub struct SitesBuilder {
    sites: Sites,
    texts: HashMap<String, u32>,
    frames: HashMap<Entry, u32>,
    stacks: HashMap<Node, u32>,
}

impl SitesBuilder {
    /// The stack of these frames, the innermost first; unknown if there are none, or no room for
    /// more.
    pub fn stack(&mut self, frames: &[Frame<'_>]) -> Stack {
        let mut caller = Stack::UNKNOWN;
        for &frame in frames.iter().rev() {
            match self.called(caller, frame) {
                Some(stack) => caller = stack,
                None => return Stack::UNKNOWN,
            }
        }
        caller
    }

    /// The stack of a frame that a stack called; `None` if there is no room for more, or the caller
    /// is of another table.
    pub fn called(&mut self, caller: Stack, frame: Frame<'_>) -> Option<Stack> {
        // So each caller stands before those that it called, and no chain of them goes round.
        self.sites.checked(caller.number().into()).ok()?;
        let module = self.text(frame.module)?;
        let function = match frame.function {
            Some(function) => self.text(function)?.checked_add(1)?,
            None => 0,
        };
        let entry = Entry {
            module,
            offset: frame.offset,
            function,
        };
        let frame = number_of(&mut self.frames, &mut self.sites.frames, entry)?;
        let node = Node { frame, caller };
        let number = number_of(&mut self.stacks, &mut self.sites.stacks, node)?;
        number.checked_add(1).map(Stack::numbered)
    }

    /// The finished table.
    #[must_use]
    pub fn finish(self) -> Sites {
        self.sites
    }

    fn text(&mut self, text: &str) -> Option<u32> {
        let mut bytes = text.len().min(Sites::MAX_TEXT_BYTES);
        while !text.is_char_boundary(bytes) {
            bytes = bytes.saturating_sub(1);
        }
        let text = &text[..bytes];
        if let Some(number) = self.texts.get(text) {
            return Some(*number);
        }
        number_of(&mut self.texts, &mut self.sites.texts, text.to_owned())
    }
}

/// The number of a value; a new one is appended, while there is room.
fn number_of<T: Clone + Eq + std::hash::Hash>(
    known: &mut HashMap<T, u32>,
    all: &mut Vec<T>,
    value: T,
) -> Option<u32> {
    if let Some(number) = known.get(&value) {
        return Some(*number);
    }
    let number = u32::try_from(all.len()).ok()?;
    if number >= Sites::MAX_ENTRIES {
        return None;
    }
    all.push(value.clone());
    known.insert(value, number);
    Some(number)
}
