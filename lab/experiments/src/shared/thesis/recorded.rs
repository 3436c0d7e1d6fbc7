//! Recorded programs, for what no claim of the thesis is about.

use std::path::{Path, PathBuf};

use anyhow::{Context, Result, bail};
use surefit_clients::java::Program;

use crate::kit::Request;
use surefit_measure::collector::graphs;

/// A recorded program.
#[derive(Debug)]
pub(crate) struct Recorded {
    /// The name of its file, without what comes after it.
    pub(crate) name: String,
    /// The program.
    pub(crate) program: Program,
}

/// The files that are asked for.
///
/// # Errors
/// A file that is no recording.
pub(crate) fn files(request: &Request) -> Result<&[PathBuf]> {
    if let Some(other) = request.files.iter().find(|file| !graphs::is_graph(file)) {
        bail!(
            "{}: is no object graph: give .sfg or .sfg.zst files, or {}",
            other.display(),
            graphs::bundled_names()
        );
    }
    Ok(&request.files)
}

/// A recording, whole.
///
/// # Errors
/// A file that is none; the first rule of the format that it breaks.
pub(crate) fn read(file: &Path) -> Result<Recorded> {
    let program = Program::read(|| graphs::open(file));
    Ok(Recorded {
        name: name(file),
        program: program.with_context(|| name(file))?,
    })
}

/// A recording's name: `raytrace` of `bundled:raytrace` and of `graphs/raytrace.sfg.zst`.
pub(crate) fn name(file: &Path) -> String {
    let name = file.file_name().unwrap_or_default().to_string_lossy();
    let name = name.rsplit(':').next().unwrap_or_default();
    name.split(".sfg").next().unwrap_or_default().to_owned()
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
