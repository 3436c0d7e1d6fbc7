//! The instructions that each kind of call ran: what annotations exclude is not among them.
//!
//! The emulator logs each block that runs (`-d in_asm,exec,nochain`), of the functions in question
//! only (`-dfilter`). After each call the image runs a mark, a function whose address says which
//! kind of call it was.

use std::collections::{BTreeMap, BTreeSet};
use std::fmt;
use std::io::BufRead;

use anyhow::{Context, Result, bail};

use crate::annotation::{NotCalled, is_about};
use crate::annotations;
use crate::image::Image;
use crate::instruction::Flow;

/// The first of the marks, which have two bytes each.
const FIRST: &str = "surefit_marks";

/// The addresses of the instructions that ran, for each mark by its number.
#[derive(Clone, Debug, Default)]
pub struct Ran(BTreeMap<u32, BTreeSet<u32>>);

/// The addresses of a function.
fn range(image: &Image, name: &str) -> Result<std::ops::Range<u32>> {
    let function = image.find(&[name])?;
    let end = function.lines.last().map_or(0, |it| it.address + it.bytes);
    Ok(function.address()..end)
}

/// The addresses that the emulator is to log, as it reads them.
///
/// # Errors
/// A function that is said not to be called is not in the image.
pub fn watched(image: &Image) -> Result<String> {
    let marks = range(image, FIRST)?;
    let mut all = BTreeSet::from([(marks.start, marks.end)]);
    for not in annotations::ALL.iter().flat_map(|known| known.not_called) {
        for address in calls(image, not)? {
            all.insert((address, address + 2));
        }
        // A call inside a function is in a block that may begin anywhere in it.
        let callers = image.functions().filter(|_| !not.from.is_empty());
        for function in callers.filter(|it| it.path == not.from) {
            let last = function.lines.last().map_or(0, |line| line.address);
            all.insert((function.address(), last + 1));
        }
    }
    let ranges = all
        .iter()
        .map(|(first, end)| format!("{first:#x}+{:#x}", end - first));
    Ok(Vec::from_iter(ranges).join(","))
}

impl Ran {
    /// Reads the emulator's log.
    ///
    /// # Errors
    /// A line that cannot be read; an image without marks.
    pub fn log(image: &Image, log: impl BufRead) -> Result<Self> {
        let marks = range(image, FIRST)?;
        let mut ran = Self::default();
        // The instructions of the blocks that begin at an address: short ones may begin there too.
        let mut blocks: BTreeMap<u32, BTreeSet<u32>> = BTreeMap::new();
        let mut head = None;
        let mut call = BTreeSet::new();
        for line in log.lines() {
            let line = line.context("the emulator's log")?;
            if line.starts_with("IN:") {
                head = None;
            } else if let Some((address, _)) = line
                .strip_prefix("0x")
                .and_then(|line| line.split_once(':'))
            {
                let address = hexadecimal(address)?;
                let head = *head.get_or_insert(address);
                blocks.entry(head).or_default().insert(address);
            } else if line.starts_with("Trace ") {
                // Trace 0: 0x7f0000000000 [00000000/00000010/00000110/ff000000] name
                let address = line.split('/').nth(1);
                let address = hexadecimal(address.with_context(|| line.clone())?)?;
                if !marks.contains(&address) {
                    call.insert(address);
                    continue;
                }
                let ran = ran.0.entry((address - marks.start) / 2).or_default();
                for head in std::mem::take(&mut call) {
                    ran.insert(head);
                    ran.extend(blocks.get(&head).into_iter().flatten());
                }
            }
        }
        Ok(ran)
    }

    /// Reads what [`Display`](fmt::Display) writes.
    ///
    /// # Errors
    /// A line that cannot be read.
    pub fn read(text: &str) -> Result<Self> {
        let line = |line: &str| {
            let (number, ran) = line.split_once(':').with_context(|| line.to_owned())?;
            let ran = ran.split_whitespace().map(hexadecimal);
            Ok((number.parse()?, ran.collect::<Result<_>>()?))
        };
        text.lines().map(line).collect::<Result<_>>().map(Self)
    }
}

impl fmt::Display for Ran {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        for (number, ran) in &self.0 {
            write!(f, "{number}:")?;
            ran.iter().try_for_each(|it| write!(f, " {it:x}"))?;
            writeln!(f)?;
        }
        Ok(())
    }
}

fn hexadecimal(digits: &str) -> Result<u32> {
    u32::from_str_radix(digits, 16).with_context(|| format!("no address: {digits}"))
}

/// Whether the search never called what is said not to be called. `marks` are the lines of the
/// image that say what its marks are: number, heap, kind of call.
///
/// # Errors
/// It did; or a kind of call did not run.
pub fn obeys(image: &Image, ran: &Ran, marks: &str) -> Result<()> {
    for line in marks.lines() {
        let cells: Vec<&str> = line.splitn(4, ',').collect();
        let ["mark", number, heap, kind] = cells[..] else {
            bail!("not a mark: {line}");
        };
        let number: u32 = number.parse().with_context(|| line.to_owned())?;
        let ran = ran.0.get(&number);
        let ran = ran.with_context(|| format!("the emulator logged no call: {line}"))?;
        let known = annotations::ALL.iter().filter(|known| known.heap == heap);
        for not in known.flat_map(|known| known.not_called) {
            excludes(image, ran, not, kind).with_context(|| format!("{heap}, {kind}"))?;
        }
    }
    Ok(())
}

/// Whether a call of some kind did not call what is said not to be called.
fn excludes(image: &Image, ran: &BTreeSet<u32>, not: &NotCalled, kind: &str) -> Result<()> {
    if !is_about(not.events, kind) {
        return Ok(());
    }
    match calls(image, not)?.iter().find(|it| ran.contains(it)) {
        Some(address) => bail!("the search called {} at {address:#x}", not.function),
        None => Ok(()),
    }
}

/// The first instructions of the function, or the calls of it.
fn calls(image: &Image, not: &NotCalled) -> Result<Vec<u32>> {
    let mut calls = Vec::new();
    for function in image.functions() {
        if not.from.is_empty() {
            if function.path == not.function {
                calls.push(function.address());
            }
            continue;
        }
        let lines = function.lines.iter();
        for line in lines.filter(|_| function.path == not.from) {
            let (Ok(Flow::Call(target)) | Ok(Flow::Jump(target))) =
                Flow::of(&line.mnemonic, &line.operands)
            else {
                continue;
            };
            if image.at(target).is_ok_and(|it| it.path == not.function) {
                calls.push(line.address);
            }
        }
    }
    if calls.is_empty() {
        bail!("no function {:?}, or no call of it", not.function);
    }
    Ok(calls)
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;

    use super::{Ran, excludes, obeys};
    use crate::annotation::NotCalled;
    use crate::image::Image;

    /// At 10: marks; at 20: `a::f`; at 30: `a::g`, which calls `a::f` at its second instruction.
    const LISTING: &str = "00000010 <surefit_marks>:\n  10:\t4770 \tbx\tlr\n  12:\t4770 \tbx\tlr\n\
         \n00000020 <a::f>:\n  20:\t4770 \tbx\tlr\n\
         \n00000030 <a::g>:\n  30:\tbf00 \tnop\n  32:\t0000 \tb.n\t20 <a::f>\n";

    /// Calls of both kinds; only the second one runs `g`, and `f` from there.
    const LOG: &str = "IN: a::f\n0x00000020:  4770  bx lr\n\nTrace 0: 0x7f00 [00000000/00000020/1/2] f\n\
         Trace 0: 0x7f00 [00000000/00000010/1/2] surefit_marks\n\
         IN: a::g\n0x00000030:  bf00  nop\n0x00000032:  e7f5  b #0x20\n\n\
         Trace 0: 0x7f00 [00000000/00000030/1/2] g\nTrace 0: 0x7f00 [00000000/00000020/1/2] f\n\
         Trace 0: 0x7f00 [00000000/00000012/1/2] surefit_marks\n";

    /// What the calls of a mark ran.
    fn ran(number: u32) -> BTreeSet<u32> {
        let image = Image::of(LISTING).expect("a listing");
        let ran = Ran::log(&image, LOG.as_bytes()).expect("a log");
        let read = Ran::read(&ran.to_string()).expect("the same");
        assert_eq!(read.0, ran.0);
        ran.0[&number].clone()
    }

    /// Whether calls of the two marks called what is said not to be called.
    fn contradict(function: &'static str, from: &'static str) -> [bool; 2] {
        let image = Image::of(LISTING).expect("a listing");
        let not = NotCalled {
            events: &[],
            function,
            from,
            because: "a test",
        };
        [0, 1].map(|number| excludes(&image, &ran(number), &not, "free").is_err())
    }

    #[test]
    fn what_ran_belongs_to_the_call_of_the_next_mark() {
        assert_eq!(contradict("a::f", ""), [true, true]);
        assert_eq!(contradict("a::g", ""), [false, true]);
        assert_eq!(contradict("a::f", "a::g"), [false, true]);
    }

    #[test]
    fn what_is_said_of_other_calls_is_not_asked() {
        let image = Image::of(LISTING).expect("a listing");
        let not = |events| NotCalled {
            events,
            function: "a::g",
            from: "",
            because: "a test",
        };
        let ran = ran(1);
        assert!(excludes(&image, &ran, &not(&["free"]), "access").is_ok());
        let error = excludes(&image, &ran, &not(&["access"]), "access").expect_err("it ran");
        assert!(error.to_string().contains("the search called a::g"));
    }

    #[test]
    fn a_kind_of_call_that_did_not_run_is_an_error() {
        let image = Image::of(LISTING).expect("a listing");
        let ran = Ran::read("0: 20\n1: 20 30 32\n").expect("what ran");
        assert!(obeys(&image, &ran, "mark,1,another heap,free\n").is_ok());
        assert!(obeys(&image, &ran, "mark,2,another heap,free\n").is_err());
        assert!(obeys(&image, &ran, "csv,Heap,free\n").is_err());
    }
}
