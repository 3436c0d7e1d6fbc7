//! A static upper bound of the instructions of each heap call on a Cortex-M4.
//!
//! It reads the image in which `ci/extra/worst.sh` searches the worst case of each call, and writes
//! the bound beside what the search found.
//!
//! ```text
//! surefit-bound IMAGE LISTING RUN FIGURES [EVENT]
//! ```
//! `LISTING` is what `objdump -d` prints of the image, `RUN` what the emulator logs of the code that
//! runs (`-d in_asm`). With an event, the longest way of each heap is printed, block by block.
//!
//! | file | holds |
//! | --- | --- |
//! | `listing` | functions and instructions, from what `objdump -d` prints |
//! | `instruction` | where the flow goes after an instruction |
//! | `graph` | the basic blocks of a function; which functions return |
//! | `loops` | the loops of a graph |
//! | `image` | functions, their calls, and the lines that instructions come from |
//! | `annotation` | the bound of a loop, ways that no call takes, functions that none calls |
//! | `annotations/` | those of each heap |
//! | `longest` | the longest way, as a linear program |
//! | `ran` | the instructions that the search ran, none of which may be excluded |
//! | `figures` | the table of figures, and its column `bound` |

mod annotation;
mod annotations;
mod figures;
mod graph;
mod image;
mod instruction;
mod listing;
mod longest;
mod loops;
mod ran;
#[cfg(test)]
mod tests;

use std::collections::BTreeSet;
use std::path::Path;

use anyhow::{Context, Result, ensure};

use crate::annotation::{Known, Place, is_about};
use crate::figures::{Figure, Figures};
use crate::image::{Image, Reached};
use crate::longest::Longest;

/// Where the image reads its timer.
const TIMER: Place = Place {
    file: "src/worst/clock.rs",
    text: "let now = SYST::get_current();",
};

fn main() -> Result<()> {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let ([file, listing, run, table], shown) = arguments
        .split_first_chunk()
        .context("usage: surefit-bound IMAGE LISTING RUN FIGURES [EVENT]")?;
    let read = |path: &String| std::fs::read_to_string(path).with_context(|| path.clone());
    let file = Path::new(file);
    let mut image = Image::of(&read(listing)?)?;
    let ran = ran::addresses(&read(run)?)?;
    let mut figures = Figures::read(&read(table)?)?;

    let nothing = Figure::of_nothing();
    let empty = call(
        &mut image,
        file,
        &["::raw::<(), worst::clock::nothing>"],
        &Known::NOTHING,
        &nothing,
    )?;
    println!(
        "heap, call: the search's worst case, the static bound, their ratio; what the bounds rely on"
    );
    let mut never_return = BTreeSet::new();
    for known in annotations::ALL {
        ran::obeys(&image, &ran, known)?;
        for figure in figures.of(known.heap) {
            let Some(name) = figure.call()? else { continue };
            let closure = format!(">::{name}::{{closure#0}}");
            let parts = ["worst::clock::raw::<", known.of, &closure];
            let found = call(&mut image, file, &parts, known, figure)
                .with_context(|| format!("{}, {}", figure.heap, figure.event))?;
            let bound = found.instructions - empty.instructions;
            figure.bound = Some(bound);
            let ratio = f64::from(bound) / f64::from(figure.instructions);
            println!(
                "  {}, {}: {} {bound} {ratio:.2}",
                figure.heap, figure.event, figure.instructions
            );
            ensure!(
                bound >= figure.instructions,
                "the search found a call above its bound"
            );
            if shown.contains(&figure.event) {
                show(&image, &found);
            }
            never_return.extend(
                found
                    .reached
                    .never_return()
                    .filter(|&it| !image.returns(it)),
            );
        }
        for reason in known.reasons() {
            println!("    {reason}");
        }
    }
    let names: BTreeSet<&str> = never_return.iter().map(|&it| image.name(it)).collect();
    println!(
        "left out, because they never return: {}",
        Vec::from_iter(names).join(", ")
    );
    std::fs::write(table, figures.to_string()).with_context(|| table.clone())
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
    let not_called = known.not_called.iter().copied();
    let not_called: Vec<_> = not_called
        .filter(|not| is_about(not.events, &figure.event))
        .collect();
    let reached = image.reached(&root, &not_called)?;
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
