//! Recorded object graphs: from files, or one of those that are bundled.

use std::io::Read;
use std::mem::MaybeUninit;
use std::path::Path;

use anyhow::{Result, anyhow};
use surefit_clients::java::Program;
use surefit_os::Reservation;
use surefit_trace::graph::Reader;
use surefit_trace::open_file;

/// The prefix of a bundled recording's name on the command line.
const BUNDLED: &str = "bundled:";

/// A bundled recording: its name, and its file.
macro_rules! bundle {
    ($name:literal) => {
        (
            $name,
            include_bytes!(concat!("../../../../graphs/", $name, ".sfg.zst")),
        )
    };
}

/// The bundled recordings.
const GRAPHS: [(&str, &[u8]); 6] = [
    bundle!("javac"),
    bundle!("antlr"),
    bundle!("hsqldb"),
    bundle!("sunflow"),
    bundle!("raytrace"),
    bundle!("mtrt"),
];

/// Opens a recording in a file, or a bundled one named `bundled:NAME`.
///
/// # Errors
/// One line that names the file and the remedy.
pub fn open(file: &Path) -> Result<Reader<Box<dyn Read>>> {
    let input: Box<dyn Read> = match bundled_name(file) {
        Some(name) => Box::new(bundled(name)?),
        None => Box::new(open_file(file)?),
    };
    Ok(Reader::named(input, file)?)
}

/// Reads a recording as a program.
///
/// # Errors
/// One line that names the file, the position and the remedy.
pub fn load(file: &Path) -> Result<Program> {
    Program::read(|| open(file))
}

/// Whether a name is that of a recorded object graph, and not of a trace of allocations.
#[must_use]
pub fn is_graph(file: &Path) -> bool {
    match bundled_name(file) {
        Some(name) => GRAPHS.iter().any(|(known, _)| *known == name),
        None => {
            let name = file.as_os_str().to_string_lossy();
            name.ends_with(".sfg") || name.ends_with(".sfg.zst")
        }
    }
}

/// A recording's name: `raytrace` of `bundled:raytrace` and of `graphs/raytrace.sfg.zst`.
#[must_use]
pub fn name(file: &Path) -> String {
    let name = file.file_name().unwrap_or_default().to_string_lossy();
    let name = name.rsplit(':').next().unwrap_or_default();
    name.split(".sfg").next().unwrap_or_default().to_owned()
}

/// The names of all bundled recordings on the command line, separated by commas.
#[must_use]
pub fn bundled_names() -> String {
    GRAPHS
        .map(|(name, _)| format!("{BUNDLED}{name}"))
        .join(", ")
}

/// Memory for the search for the smallest heap.
#[derive(Debug)]
pub struct Region(Reservation);

impl Region {
    /// Reserves `bytes` bytes.
    ///
    /// # Errors
    /// The operating system has not enough memory.
    pub fn new(bytes: usize) -> Result<Self> {
        Ok(Self(Reservation::new(bytes)?))
    }
}

impl AsMut<[MaybeUninit<u8>]> for Region {
    fn as_mut(&mut self) -> &mut [MaybeUninit<u8>] {
        self.0.memory()
    }
}

fn bundled_name(file: &Path) -> Option<&str> {
    file.to_str().and_then(|name| name.strip_prefix(BUNDLED))
}

fn bundled(name: &str) -> Result<&'static [u8]> {
    let found = GRAPHS.iter().find(|(known, _)| *known == name);
    found.map(|(_, bytes)| *bytes).ok_or_else(|| {
        let known = bundled_names();
        anyhow!("{BUNDLED}{name}: no such bundled recording; there are {known}")
    })
}

#[cfg(test)]
mod tests {
    use std::path::Path;

    use super::name;

    #[test]
    fn recordings_are_named_by_their_files() {
        for file in [
            "bundled:raytrace",
            "../graphs/raytrace.sfg.zst",
            "raytrace.sfg",
        ] {
            assert_eq!(name(Path::new(file)), "raytrace");
        }
    }
}
