//! The call sites of a recording by heaptrack: the lines that name places in the code, and stacks.
//!
//! ```text
//! raw          x LENGTH PATH                            the program
//!              m LENGTH NAME BASE (ADDRESS BYTES)…      a module, x for the program, and its segments;
//!              m 1 -                                    all modules follow anew
//!              t ADDRESS CALLER                         a stack: where a call returns to, and the caller's
//! interpreted  s LENGTH TEXT                            a string
//!              i ADDRESS MODULE (FUNCTION FILE LINE)…   a place: strings; first the innermost of what is inlined
//!              t PLACE CALLER                           a stack
//! ```
//!
//! Strings, places and stacks are numbered from 1; 0 is none. Older recordings have no lengths. A
//! line that makes no sense names nothing: a recording is no worse for it.

use std::collections::{BTreeMap, HashMap};
use std::fmt;

use surefit_trace::{Frame, Sites, SitesBuilder, Stack};

use super::lines::number;

/// Who knows the function of a module in which a call returns to an address.
type Names = Box<dyn FnMut(&str, u64) -> Option<String>>;

/// The call sites so far.
#[derive(Default)]
pub(super) struct Places {
    builder: SitesBuilder,
    /// By the number of a `t` line, less one.
    stacks: Vec<Stack>,
    strings: Vec<String>,
    places: Vec<Place>,
    raw: Raw,
}

/// A place of an interpreted recording.
struct Place {
    address: u64,
    /// The number of its string.
    module: u64,
    /// Strings of functions, the innermost first; at least one, which may be none.
    functions: Vec<u64>,
}

/// What addresses of a raw recording mean.
#[derive(Default)]
struct Raw {
    program: String,
    modules: Vec<String>,
    segments: BTreeMap<u64, Segment>,
    names: Option<Names>,
    /// Functions that were asked for, by module and address.
    known: HashMap<(usize, u64), Option<String>>,
}

/// A part of a module, by its first address.
#[derive(Clone, Copy)]
struct Segment {
    end: u64,
    base: u64,
    module: usize,
}

impl fmt::Debug for Places {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Places")
            .field("stacks", &self.stacks.len())
            .finish_non_exhaustive()
    }
}

impl Places {
    /// Takes a line of one of the letters above.
    pub(super) fn take(&mut self, letter: u8, rest: &[u8]) {
        match letter {
            b'x' => self.raw.program = text(counted(rest).unwrap_or(rest)),
            b'm' => self.raw.module(rest),
            b's' => self.strings.push(text(counted(rest).unwrap_or(rest))),
            b'i' => self.places.push(Place::read(rest)),
            b't' => {
                let stack = self.stack_of(rest);
                self.stacks.push(stack.unwrap_or_default());
            }
            _ => {}
        }
    }

    /// Who is asked for the functions of a raw recording.
    pub(super) fn name_by(&mut self, names: Names) {
        self.raw.names = Some(names);
    }

    /// The stack of a number; unknown if there is none.
    pub(super) fn stack(&self, number: u64) -> Stack {
        let index = number
            .checked_sub(1)
            .and_then(|it| usize::try_from(it).ok());
        let stack = index.and_then(|index| self.stacks.get(index));
        stack.copied().unwrap_or_default()
    }

    /// The table.
    pub(super) fn take_sites(&mut self) -> Sites {
        std::mem::take(&mut self.builder).finish()
    }

    /// The stack of a `t` line; `None` if the line or the table has no room for it.
    fn stack_of(&mut self, rest: &[u8]) -> Option<Stack> {
        let mut words = rest.split(|byte| *byte == b' ').map(number);
        let (place, caller) = (words.next()??, words.next()??);
        let caller = self.stack(caller);
        if self.places.is_empty() {
            return self.raw.called(&mut self.builder, caller, place);
        }
        let place = usize::try_from(place.checked_sub(1)?).ok()?;
        let place = self.places.get(place)?;
        let string = |number: u64| {
            let index = usize::try_from(number.checked_sub(1)?).ok()?;
            self.strings.get(index).map(String::as_str)
        };
        let mut functions = place.functions.iter().rev();
        functions.try_fold(caller, |caller, function| {
            let frame = Frame {
                module: string(place.module).unwrap_or_default(),
                offset: place.address,
                function: string(*function),
            };
            self.builder.called(caller, frame)
        })
    }
}

impl Place {
    fn read(rest: &[u8]) -> Self {
        let mut numbers = rest
            .split(|byte| *byte == b' ')
            .map(|word| number(word).unwrap_or(0));
        let address = numbers.next().unwrap_or(0);
        let module = numbers.next().unwrap_or(0);
        let mut functions: Vec<_> = numbers.step_by(3).collect();
        if functions.is_empty() {
            functions.push(0);
        }
        Self {
            address,
            module,
            functions,
        }
    }
}

impl Raw {
    /// Takes a module with its segments.
    fn module(&mut self, rest: &[u8]) {
        let (name, rest) = match counted_prefix(rest) {
            Some(parts) => parts,
            None => split(rest),
        };
        if name == b"-" {
            self.segments.clear();
            return;
        }
        let module = self.modules.len();
        self.modules.push(match name {
            b"x" => self.program.clone(),
            name => text(name),
        });
        let mut words = rest.split(|byte| *byte == b' ').map_while(number);
        let Some(base) = words.next() else { return };
        while let (Some(address), Some(bytes)) = (words.next(), words.next()) {
            let begin = base.wrapping_add(address);
            let end = begin.saturating_add(bytes);
            let segment = Segment { end, base, module };
            self.segments.insert(begin, segment);
        }
    }

    /// The stack of an address that a stack called.
    fn called(&mut self, builder: &mut SitesBuilder, caller: Stack, address: u64) -> Option<Stack> {
        let before = self.segments.range(..=address).next_back();
        let segment = before.map(|(_, segment)| *segment);
        let Some(segment) = segment.filter(|segment| address < segment.end) else {
            let frame = Frame {
                module: "",
                offset: address,
                function: None,
            };
            return builder.called(caller, frame);
        };
        let offset = address.wrapping_sub(segment.base);
        let Self {
            modules,
            names,
            known,
            ..
        } = self;
        let module = modules[segment.module].as_str();
        let function = known.entry((segment.module, offset)).or_insert_with(|| {
            let names = names.as_mut()?;
            names(module, offset)
        });
        let frame = Frame {
            module,
            offset,
            function: function.as_deref(),
        };
        builder.called(caller, frame)
    }
}

/// The text after its length, if it has that length.
pub(super) fn counted(rest: &[u8]) -> Option<&[u8]> {
    counted_prefix(rest)
        .filter(|(_, rest)| rest.is_empty())
        .map(|(text, _)| text)
}

/// A text after its length, and what follows it and a space.
fn counted_prefix(rest: &[u8]) -> Option<(&[u8], &[u8])> {
    let (length, rest) = split(rest);
    let length = usize::try_from(number(length)?).ok()?;
    let (text, rest) = rest.split_at_checked(length)?;
    match rest {
        [] => Some((text, rest)),
        [b' ', rest @ ..] => Some((text, rest)),
        _ => None,
    }
}

/// The first word, and what follows it and a space.
fn split(text: &[u8]) -> (&[u8], &[u8]) {
    let end = text.iter().position(|byte| *byte == b' ');
    end.map_or((text, &[]), |end| (&text[..end], &text[end + 1..]))
}

fn text(bytes: &[u8]) -> String {
    let bytes = &bytes[..bytes.len().min(Sites::MAX_TEXT_BYTES)];
    String::from_utf8_lossy(bytes).into_owned()
}
