//! The program on an operating system.

use std::fmt;
use std::fs;
use std::io::Write as _;
use std::process::ExitCode;

use crate::kinds::{Options, with_regions};
use crate::load::Load;
use crate::plan::Plan;
use crate::report::Logged;
use crate::{heaps, picture};

/// What it is told to do.
const USAGE: &str =
    "usage: surefit-flight fly [LOAD] [PERIODS] [alone] [tlsf|first-fit|anywhere|collector]
       surefit-flight heaps [LOAD]                    other heaps in the same RAM
       surefit-flight picture LOG SVG                 draws the log of a flight";

/// The load of the image.
pub const COMMITTED: &str = include_str!("../load.txt");

/// The log, to standard output.
struct Log;

impl fmt::Write for Log {
    fn write_str(&mut self, text: &str) -> fmt::Result {
        let written = std::io::stdout().write_all(text.as_bytes());
        written.map_err(|_| fmt::Error)
    }
}

/// Runs the program: 2 if it is told nonsense, 1 if the flight is not as it must be.
pub fn main() -> ExitCode {
    let arguments: Vec<_> = std::env::args().skip(1).collect();
    let words: Vec<_> = arguments.iter().map(String::as_str).collect();
    let done = match words.as_slice() {
        ["fly", rest @ ..] => fly(rest),
        ["heaps", rest @ ..] => planned(rest.first().copied())
            .map(|(load, plan)| heaps::compare(&mut Log, &load, &plan).is_ok()),
        ["picture", log, svg] => draw(log, svg).map(|()| true),
        _ => Err(USAGE.to_owned()),
    };
    match done {
        Ok(true) => ExitCode::SUCCESS,
        Ok(false) => ExitCode::FAILURE,
        Err(error) => {
            eprintln!("{error}");
            ExitCode::from(2)
        }
    }
}

/// Reads and certifies a load: a file, or that of the image.
///
/// # Errors
/// One line: the file, what is wrong, how to mend it.
pub fn planned(file: Option<&str>) -> Result<(Load, Plan), String> {
    let name = file.unwrap_or("load.txt");
    let text = match file {
        Some(file) => fs::read_to_string(file).map_err(|error| format!("{name}: {error}"))?,
        None => COMMITTED.to_owned(),
    };
    let load = Load::parse(&text).map_err(|invalid| format!("{name}: {invalid}"))?;
    let plan = Plan::new(&load).map_err(|invalid| format!("{name}: {invalid}"))?;
    Ok((load, plan))
}

fn fly(words: &[&str]) -> Result<bool, String> {
    let (mut file, mut options) = (None, Options::DEFAULT);
    for word in words {
        if !options.take(word) && file.replace(*word).is_some() {
            return Err(USAGE.to_owned());
        }
    }
    let (load, plan) = planned(file)?;
    // The region of an image has a byte that says whether it was taken.
    Ok(with_regions(plan.region_bytes - 1, |regions| {
        let (out, load, plan) = (&mut Log, &load, &plan);
        let flight = Logged {
            out,
            load,
            plan,
            options,
        };
        flight.fly(regions)
    }))
}

fn draw(log: &str, svg: &str) -> Result<(), String> {
    let text = fs::read_to_string(log).map_err(|error| format!("{log}: {error}"))?;
    let drawn = picture::draw(&text).map_err(|what| format!("{log}: {what}"))?;
    fs::write(svg, drawn).map_err(|error| format!("{svg}: {error}"))
}
