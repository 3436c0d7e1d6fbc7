//! Static upper bounds on a Cortex-M: the stack of each call in any image, and the instructions of
//! each heap call in the image in which `ci/extra/worst.sh` searches the worst case of each call.
//!
//! ```text
//! surefit-bound ELF [--entry FUNCTION]... [--leave-out FUNCTION]... [--once FUNCTION]...
//! surefit-bound bound IMAGE LISTING FIGURES [EVENT]
//! surefit-bound flight IMAGE LISTING [CALL]
//! surefit-bound watched LISTING
//! surefit-bound ran LISTING LOG
//! surefit-bound obeys LISTING MARKS RAN
//! ```
//! The first is for images of any program: `surefit-bound --help`. The others read our own, of
//! which `LISTING` is what `objdump -d` prints of the image.
//!
//! - `bound` writes the bound of each call into a table of figures, beside what the search found.
//!   With an event, the longest way of each heap is printed, block by block.
//! - `flight` prints the bound of each call of the shared heap in the image of `firmware/flight`.
//! - `watched` prints the addresses of which the emulator is to log what runs (`-dfilter`).
//! - `ran` prints which of these instructions each kind of call ran, from that log.
//! - `obeys` compares that with what is said not to be called. `MARKS` are the lines of the image
//!   that say which mark ends which kind of call.
//!
//! | file | holds |
//! | --- | --- |
//! | `elf` | the stack of the calls of any image |
//! | `stack` | the deepest way through a function and all that it calls |
//! | `pointer` | what an instruction does to the stack pointer |
//! | `listing` | functions and instructions, from what `objdump -d` prints |
//! | `instruction` | where the flow goes after an instruction |
//! | `graph` | the basic blocks of a function; which functions return |
//! | `loops` | the loops of a graph |
//! | `image` | functions, their calls, and the lines that instructions come from |
//! | `annotation` | the bound of a loop, ways that no call takes, functions that none calls |
//! | `annotations/` | those of each heap |
//! | `longest` | the longest way, as a linear program |
//! | `ran` | the instructions that each kind of call ran, none of which may be excluded |
//! | `figures` | the table of figures, and its column `bound` |

mod annotation;
mod annotations;
mod elf;
mod figures;
mod graph;
mod image;
mod instruction;
mod listing;
mod longest;
mod loops;
mod pointer;
mod ran;
mod stack;
#[cfg(test)]
mod tests;

use std::collections::BTreeSet;
use std::fs::File;
use std::io::BufReader;
use std::path::Path;

use anyhow::{Context, Result, bail, ensure};

use crate::annotation::{Known, Place};
use crate::figures::{Figure, Figures};
use crate::image::{Image, Reached};
use crate::longest::Longest;
use crate::ran::Ran;

/// Where the image reads its timer.
const TIMER: Place = Place {
    file: "src/worst/clock.rs",
    text: "let now = SYST::get_current();",
};

fn main() -> Result<()> {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let arguments: Vec<&str> = arguments.iter().map(String::as_str).collect();
    match arguments[..] {
        ["bound", image, listing, figures, ref shown @ ..] => {
            bound_all(Path::new(image), &listed(listing)?, figures, shown)
        }
        ["flight", image, listing, ref shown @ ..] => {
            flight(Path::new(image), &listed(listing)?, shown)
        }
        ["watched", listing] => {
            println!("{}", ran::watched(&listed(listing)?)?);
            Ok(())
        }
        ["ran", listing, log] => {
            let log = File::open(log).with_context(|| log.to_owned())?;
            print!("{}", Ran::log(&listed(listing)?, BufReader::new(log))?);
            Ok(())
        }
        ["obeys", listing, marks, ran] => {
            ran::obeys(&listed(listing)?, &Ran::read(&read(ran)?)?, &read(marks)?)
        }
        [] | ["--help" | "-h", ..] => {
            print!("{}", elf::HELP);
            Ok(())
        }
        ["bound" | "flight" | "watched" | "ran" | "obeys", ..] => bail!(
            "usage: surefit-bound bound IMAGE LISTING FIGURES [EVENT] | flight IMAGE LISTING [CALL] | watched LISTING | ran LISTING LOG | obeys LISTING MARKS RAN"
        ),
        [elf, ref options @ ..] => elf::bound(elf, options),
    }
}

fn read(file: &str) -> Result<String> {
    std::fs::read_to_string(file).with_context(|| file.to_owned())
}

fn listed(listing: &str) -> Result<Image> {
    Image::of(&read(listing)?)
}

/// Bounds each call of a table, and writes the bounds into it.
fn bound_all(file: &Path, image: &Image, table: &str, shown: &[&str]) -> Result<()> {
    let mut image = image.clone();
    let mut figures = Figures::read(&read(table)?)?;
    let empty = ["::raw::<(), worst::clock::nothing>"];
    let empty = call(
        &mut image,
        file,
        &empty,
        &Known::NOTHING,
        &Figure::of_nothing(),
    )?;
    println!(
        "heap, call: the search's worst case, the static bound, their ratio; what the bounds rely on"
    );
    let mut never_return = BTreeSet::new();
    for known in annotations::ALL {
        let mut used = Used::default();
        for figure in figures.of(known.heap) {
            let Some(found) = bound(&mut image, file, known, figure, empty.instructions)? else {
                continue;
            };
            used.add(&found);
            if shown.contains(&figure.event.as_str()) {
                show(&image, &found);
            }
            let never = found.reached.never_return();
            never_return.extend(never.filter(|&it| !image.returns(it)));
        }
        used.all_of(known)?;
        for reason in known.reasons() {
            println!("    {reason}");
        }
    }
    let names: BTreeSet<&str> = never_return.iter().map(|&it| image.name(it)).collect();
    println!(
        "left out, because they never return: {}",
        Vec::from_iter(names).join(", ")
    );
    std::fs::write(table, figures.to_string()).with_context(|| table.to_owned())
}

/// Prints the bound of each call of the image of `firmware/flight`, and what they rely on.
fn flight(file: &Path, image: &Image, shown: &[&str]) -> Result<()> {
    let mut image = image.clone();
    let mut used = Used::default();
    let [(_, any), ..] = &annotations::shared::CALLS;
    for (call, known) in &annotations::shared::CALLS {
        let root = image.find(&["board::clock::timed::<", known.of])?.clone();
        let reached = image.reached(&root, known, call)?;
        image.look_up(file, &reached)?;
        let longest = longest::of(&image, &reached, known, call, 0.0)?;
        let instructions = longest.instructions;
        println!("{call} {instructions}");
        let found = Found {
            instructions,
            reached,
            longest,
        };
        used.add(&found);
        if shown.contains(call) {
            show(&image, &found);
        }
    }
    used.all_of(any)?;
    for reason in any.reasons() {
        println!("    {reason}");
    }
    Ok(())
}

/// The bound of one call, less the instructions of an empty one.
fn bound(
    image: &mut Image,
    file: &Path,
    known: &Known,
    figure: &mut Figure,
    empty: u32,
) -> Result<Option<Found>> {
    let Some(name) = figure.call()? else {
        return Ok(None);
    };
    let closure = format!(">::{name}::{{closure#0}}");
    let parts = ["worst::clock::raw::<", known.of, &closure];
    let found = call(image, file, &parts, known, figure)
        .with_context(|| format!("{}, {}", figure.heap, figure.event))?;
    let bound = found.instructions - empty;
    // A table with bounds is of an older image: its search may have found more than is left.
    let is_of_this_image = figure.bound.replace(bound).is_none();
    println!(
        "  {}, {}: {} {bound} {:.2}",
        figure.heap,
        figure.event,
        figure.instructions,
        f64::from(bound) / f64::from(figure.instructions)
    );
    ensure!(
        !is_of_this_image || bound >= figure.instructions,
        "the search found a call above its bound"
    );
    Ok(Some(found))
}

/// What is known of a heap and was used for the bound of some call, by numbers.
#[derive(Debug, Default)]
struct Used {
    loops: BTreeSet<usize>,
    called: BTreeSet<usize>,
    left_out: BTreeSet<usize>,
}

impl Used {
    fn add(&mut self, found: &Found) {
        self.loops.extend(&found.longest.loops);
        self.called.extend(&found.longest.called);
        self.left_out.extend(&found.reached.left_out);
    }

    /// That nothing is said of what no call of the heap has. (A fact without a place is an error at
    /// once.)
    fn all_of(&self, known: &Known) -> Result<()> {
        let mut unused = Vec::new();
        let loops = known.loops.iter().enumerate();
        unused.extend(
            loops
                .filter(|(number, _)| !self.loops.contains(number))
                .map(|(_, it)| it.place.text),
        );
        let called = known.called.iter().enumerate();
        unused.extend(
            called
                .filter(|(number, _)| !self.called.contains(number))
                .map(|(_, it)| it.function),
        );
        let not_called = known.not_called.iter().enumerate();
        unused.extend(
            not_called
                .filter(|(number, _)| !self.left_out.contains(number))
                .map(|(_, it)| it.function),
        );
        ensure!(
            unused.is_empty(),
            "{}: no call has what is said of {unused:?}",
            known.heap
        );
        Ok(())
    }
}

/// The longest way of a measured call.
struct Found {
    /// Instructions from one reading of the timer to the next.
    instructions: u32,
    reached: Reached,
    longest: Longest,
}

/// Finds the longest way between the two readings of the timer in a function.
fn call(
    image: &mut Image,
    file: &Path,
    parts: &[&str],
    known: &Known,
    figure: &Figure,
) -> Result<Found> {
    let window = image.window(image.find(parts)?, file, TIMER)?;
    let root = image.at(window.call)?.clone();
    let reached = image.reached(&root, known, &figure.event)?;
    image.look_up(file, &reached)?;
    let longest = longest::of(image, &reached, known, &figure.event, figure.per_byte)?;
    Ok(Found {
        instructions: longest.instructions + window.around,
        reached,
        longest,
    })
}

/// Prints the blocks that run on the longest way, with the lines that they come from.
fn show(image: &Image, found: &Found) {
    for (graph, runs) in found.reached.graphs.iter().zip(&found.longest.runs) {
        println!("    {}", graph.name);
        for (block, runs) in graph
            .blocks
            .iter()
            .zip(runs)
            .filter(|(_, runs)| **runs > 0.0)
        {
            let (first, length) = (block.instructions[0], block.instructions.len());
            let lines = image.lines(&block.instructions);
            println!(
                "      {first:#x}: {length} instructions {runs} times, {}",
                lines.join(" ")
            );
        }
    }
}
