//! What a person knows of the code and the graph does not say: bounds of loops, and ways that no
//! call takes.
//!
//! A place in the source is named by a file and a text that stands in exactly one of its lines, so
//! it stays the same when lines are added. The debug information says which instructions come from
//! that line, also through functions that were inlined there.

use std::collections::{BTreeMap, BTreeSet};
use std::path::{Path, PathBuf};

use anyhow::{Context, Result, bail};

/// A line of the source.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Place {
    /// The end of the file's path.
    pub file: &'static str,
    /// What the line has, and no other line of the file.
    pub text: &'static str,
}

/// The bound of a loop.
#[derive(Clone, Copy, Debug)]
pub struct LoopBound {
    /// A line of the loop: that of `for` or `while`, or one inside.
    pub place: Place,
    /// How often it goes back to its head, at most, each time it is entered.
    pub most: u32,
    /// How many bytes it copies each time, which are counted apart.
    pub bytes: u32,
    /// Whether the loop must begin at the place. A loop of the source, or a call of itself, may be
    /// turned by the compiler, so that it goes back once more or less: then this is an error.
    pub begins: bool,
    /// Why.
    pub because: &'static str,
}

/// How often functions are called in all.
#[derive(Clone, Copy, Debug)]
pub struct Called {
    /// The kinds of calls of which this is true; none: all.
    pub events: &'static [&'static str],
    /// The function's name, without the arguments of types.
    pub function: &'static str,
    /// How often, at least.
    pub least: u32,
    /// How often, at most.
    pub most: u32,
    /// Why.
    pub because: &'static str,
}

/// Places that one call reaches at most so often, all together.
#[derive(Clone, Copy, Debug)]
pub struct Fact {
    /// The kinds of calls of which this is true; none: all.
    pub events: &'static [&'static str],
    /// The places.
    pub places: &'static [Place],
    /// How often they are entered.
    pub most: u32,
    /// Why.
    pub because: &'static str,
}

/// A function that is never called, by the demand of the image.
#[derive(Clone, Copy, Debug)]
pub struct NotCalled {
    /// The kinds of calls of which this is true; none: all.
    pub events: &'static [&'static str],
    /// The function's name, without the arguments of types.
    pub function: &'static str,
    /// The caller's name; empty: all callers.
    pub from: &'static str,
    /// Why.
    pub because: &'static str,
}

/// All that is known of one heap.
#[derive(Clone, Copy, Debug)]
pub struct Known {
    /// The heap's name in the table.
    pub heap: &'static str,
    /// What the names of its calls in the image have: the heap's type.
    pub of: &'static str,
    /// Why an exclusive store succeeds at once: then a loop that only retries it never goes back.
    /// Empty: such a loop needs a bound as any other.
    pub retries: &'static str,
    /// The bounds of its loops.
    pub loops: &'static [LoopBound],
    /// Functions that are called so often at most.
    pub called: &'static [Called],
    /// Functions that are not called.
    pub not_called: &'static [NotCalled],
    /// Ways that are not taken.
    pub facts: &'static [Fact],
}

impl Known {
    /// Of a call that does nothing.
    pub const NOTHING: Self = Self {
        heap: "",
        of: "",
        retries: "",
        loops: &[],
        called: &[],
        not_called: &[],
        facts: &[],
    };

    /// Why its bounds are true.
    pub fn reasons(&self) -> BTreeSet<&'static str> {
        let loops = self.loops.iter().map(|it| it.because);
        let called = self.called.iter().map(|it| it.because);
        let not_called = self.not_called.iter().map(|it| it.because);
        let facts = self.facts.iter().map(|it| it.because);
        let retries = Some(self.retries).filter(|it| !it.is_empty());
        let all = loops.chain(called).chain(not_called).chain(facts);
        all.chain(retries).collect()
    }
}

/// Whether something that is true of some events is true of this one.
pub fn is_about(events: &[&str], event: &str) -> bool {
    events.is_empty() || events.contains(&event)
}

/// A file of the source and a line of it.
pub type At = (PathBuf, u32);

/// The texts of the files that places name.
#[derive(Debug, Default)]
pub struct Sources {
    lines: BTreeMap<(PathBuf, Place), u32>,
}

impl Sources {
    /// Whether a frame is at a place.
    ///
    /// # Errors
    /// The file cannot be read, or its lines with the text are not one.
    pub fn is_at(&mut self, place: Place, (path, line): &At) -> Result<bool> {
        if !path.ends_with(place.file) {
            return Ok(false);
        }
        let key = (path.clone(), place);
        if !self.lines.contains_key(&key) {
            self.lines.insert(key.clone(), find(path, place)?);
        }
        Ok(self.lines[&key] == *line)
    }
}

fn find(path: &Path, place: Place) -> Result<u32> {
    let text = std::fs::read_to_string(path).with_context(|| path.display().to_string())?;
    let with: Vec<u32> = (1..)
        .zip(text.lines())
        .filter(|(_, line)| line.contains(place.text))
        .map(|(number, _)| number)
        .collect();
    match with[..] {
        [line] => Ok(line),
        _ => bail!(
            "{}: {} lines with {:?}, not one",
            place.file,
            with.len(),
            place.text
        ),
    }
}
