//! Binary trees, the allocation program of the benchmarks game, written once for every collector.
//!
//! ```text
//! program     what is built, counted and let go of; what it prints
//! settings    the command line: DEPTH [KEY=VALUE]…
//! figures     processor time and most resident memory of this process
//! boxes, arenas   the program on Box and on gc-arena, for two binaries each
//! ```
//! A binary is `fn main` and one implementation of [`Trees`]. What the program prints goes to
//! stdout and is the same for all of them; the figures go to stderr, one line. No binary takes its
//! heap down at the end: the process does.

pub mod arenas;
pub mod boxes;
mod figures;
mod program;
mod settings;

pub use program::Trees;
pub use settings::Settings;

use std::process::ExitCode;

/// Runs the program on the trees that `new` makes of the settings.
///
/// Bad input and a heap that is too small are one line on stderr and exit status 1.
pub fn run<T: Trees>(new: impl FnOnce(&mut Settings) -> Result<T, String>) -> ExitCode {
    match try_run(new) {
        Ok(()) => ExitCode::SUCCESS,
        Err(message) => {
            eprintln!("{message}");
            ExitCode::FAILURE
        }
    }
}

fn try_run<T: Trees>(new: impl FnOnce(&mut Settings) -> Result<T, String>) -> Result<(), String> {
    let mut settings = Settings::from_args(std::env::args().skip(1))?;
    let mut trees = new(&mut settings)?;
    settings.all_used()?;
    print!("{}", program::run(settings.depth(), &mut trees)?);
    eprintln!("{}", figures::line(trees.collections())?);
    std::mem::forget(trees);
    Ok(())
}
