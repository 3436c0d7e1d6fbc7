//! heaptrack's interpreted format, which heaptrack_print and heaptrack_gui open.
//!
//! Lines of a letter and hexadecimal numbers. Strings, places in the code, stacks and pairs of a
//! size and a stack are written once, before they are used, and numbered from 1, pairs from 0:
//!
//! ```text
//! s LENGTH TEXT                            a string
//! i ADDRESS MODULE [FUNCTION [FILE LINE]]  a place: numbers of strings, 0 for none
//! t PLACE CALLER                           a stack: a place, and the stack of its caller or 0
//! a SIZE STACK                             a size and where it is allocated
//! + PAIR   - PAIR                          an allocation, a free
//! c TIME                                   milliseconds: here each event takes one
//! # ANYTHING                               a comment
//! ```
//!
//! A trace has no times, so a millisecond stands for an event.

use std::collections::HashMap;
use std::io::{self, Write};

use surefit_trace::{Event, Header};

use super::frame::Frame;
use super::live::Live;

/// The comment that says so.
pub(crate) const NO_CALL_SITES: &str = "# surefit: no call sites";

/// Events between two lines that say the time.
const TICK: u64 = 256;

/// Writes a trace event by event.
#[derive(Debug)]
pub struct HeaptrackWriter<W: Write> {
    out: W,
    tables: Tables,
    live: Live,
    events: u64,
}

/// What was written and has a number.
#[derive(Debug, Default)]
struct Tables {
    strings: HashMap<String, usize>,
    places: HashMap<Frame, usize>,
    /// By the place and the stack of its caller.
    stacks: HashMap<(usize, usize), usize>,
    /// The stacks of the numbers that the caller gives.
    known: HashMap<u64, usize>,
    /// By the size and the stack.
    pairs: HashMap<(u64, usize), usize>,
    /// Lines that go before the one that uses them.
    lines: Vec<u8>,
}

impl<W: Write> HeaptrackWriter<W> {
    /// Begins the file.
    ///
    /// # Errors
    /// What writing failed with.
    pub fn new(mut out: W, header: &Header) -> io::Result<Self> {
        let name: String = header.name.chars().filter(|c| !c.is_control()).collect();
        // heaptrack 1.4, version 3 of its format.
        write!(out, "v 10400 3\nX {name}\nI 1000 0\n")?;
        Ok(Self {
            out,
            tables: Tables::default(),
            live: Live::default(),
            events: 0,
        })
    }

    /// Notes in a comment, which heaptrack skips, that the stacks are no call sites: threads and
    /// size-classes stand in for them. Who imports the file again then does not take them for some.
    ///
    /// # Errors
    /// What writing failed with.
    pub fn without_call_sites(mut self) -> io::Result<Self> {
        writeln!(self.out, "{NO_CALL_SITES}")?;
        Ok(self)
    }

    /// Writes the next event of a sound trace, which the stack of this number called. `frames` is
    /// asked once for the frames of each number, the innermost first.
    ///
    /// # Errors
    /// What writing failed with.
    pub fn event(
        &mut self,
        event: Event,
        stack: u64,
        frames: impl FnOnce(u64) -> Vec<Frame>,
    ) -> io::Result<()> {
        let Self { out, tables, .. } = self;
        let change = self
            .live
            .take(event, stack, |size, stack| tables.pair(size, stack, frames));
        out.write_all(&tables.lines)?;
        tables.lines.clear();
        if let Some(ended) = change.ended {
            writeln!(out, "- {:x}", ended.origin)?;
        }
        if let Some(begun) = change.begun {
            writeln!(out, "+ {:x}", begun.origin)?;
        }
        self.events += 1;
        if self.events % TICK == 0 {
            writeln!(out, "c {:x}", self.events)?;
        }
        Ok(())
    }

    /// Ends the file, and returns what was written to.
    ///
    /// # Errors
    /// What writing failed with.
    pub fn finish(mut self) -> io::Result<W> {
        writeln!(self.out, "c {:x}", self.events)?;
        self.out.flush()?;
        Ok(self.out)
    }
}

impl Tables {
    /// The number of a size and the caller's number of a stack.
    fn pair(&mut self, size: u64, stack: u64, frames: impl FnOnce(u64) -> Vec<Frame>) -> usize {
        let stack = match self.known.get(&stack) {
            Some(known) => *known,
            None => {
                let number = self.stack(frames(stack));
                self.known.insert(stack, number);
                number
            }
        };
        let next = self.pairs.len();
        *self.pairs.entry((size, stack)).or_insert_with(|| {
            self.lines.extend(format!("a {size:x} {stack:x}\n").bytes());
            next
        })
    }

    /// The number of a stack; 0 if it has no frames.
    fn stack(&mut self, frames: Vec<Frame>) -> usize {
        frames.into_iter().rev().fold(0, |caller, frame| {
            let place = self.place(frame);
            let next = self.stacks.len() + 1;
            *self.stacks.entry((place, caller)).or_insert_with(|| {
                self.lines
                    .extend(format!("t {place:x} {caller:x}\n").bytes());
                next
            })
        })
    }

    fn place(&mut self, frame: Frame) -> usize {
        if let Some(known) = self.places.get(&frame) {
            return *known;
        }
        let number = self.places.len() + 1;
        let [module, function, file] =
            [&frame.module, &frame.function, &frame.file].map(|text| self.string(text));
        let address = match frame.address {
            // Places without an address have one that nothing else has.
            0 => number as u64,
            address => address,
        };
        let mut line = format!("i {address:x} {module:x}");
        if function > 0 || file > 0 {
            line += &format!(" {function:x}");
        }
        if file > 0 {
            line += &format!(" {file:x} {:x}", frame.line);
        }
        self.lines.extend(line.bytes().chain([b'\n']));
        self.places.insert(frame, number);
        number
    }

    /// The number of a string; 0 if it is empty. A line break would end its line.
    fn string(&mut self, text: &str) -> usize {
        if text.is_empty() {
            return 0;
        }
        if let Some(known) = self.strings.get(text) {
            return *known;
        }
        let number = self.strings.len() + 1;
        let plain = text.replace(['\n', '\r'], " ");
        self.lines
            .extend(format!("s {:x} {plain}\n", plain.len()).bytes());
        self.strings.insert(text.to_owned(), number);
        number
    }
}
