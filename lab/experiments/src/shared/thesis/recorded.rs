//! The recorded programs, for what no claim of the thesis is about, and for promotion.

use std::path::{Path, PathBuf};

use anyhow::{Context, Result, bail};
use surefit_clients::java::Program;

use crate::kit::Request;
use crate::shared::programs;
use surefit_measure::collector::graphs;

/// The programs of an experiment: all recordings inside the command.
const USUAL: [&str; 6] = [
    "bundled:javac",
    "bundled:antlr",
    "bundled:hsqldb",
    "bundled:sunflow",
    "bundled:raytrace",
    "bundled:mtrt",
];

/// Those of a quick run: two that are not alike. They are replayed whole, because a part of a
/// program is another program.
const QUICK: [&str; 2] = ["bundled:raytrace", "bundled:javac"];

/// A recorded program.
#[derive(Debug)]
pub(crate) struct Recorded {
    /// The name of its file, without what comes after it.
    pub(crate) name: String,
    /// The program.
    pub(crate) program: Program,
}

/// The files to replay: those asked for, else all recordings inside the command; if quick, two of
/// these.
///
/// # Errors
/// A file that is none.
pub(crate) fn files(request: &Request) -> Result<Vec<PathBuf>> {
    let usual: &[&str] = if request.quick { &QUICK } else { &USUAL };
    let files = programs::names(request, usual);
    if let Some(other) = files.iter().find(|file| !graphs::is_graph(file)) {
        bail!(
            "{}: is no object graph: give .sfg or .sfg.zst files, or {}",
            other.display(),
            graphs::bundled_names()
        );
    }
    Ok(files)
}

/// The recordings to replay, one after the other, whole.
///
/// # Errors
/// A file that is none; each recording, the first rule of the format that it breaks.
pub(crate) fn all(request: &Request) -> Result<impl Iterator<Item = Result<Recorded>>> {
    let files = files(request)?.into_iter();
    Ok(files.map(move |file| {
        let program = Program::read(|| graphs::open(&file));
        Ok(Recorded {
            name: name(&file),
            program: program.with_context(|| name(&file))?,
        })
    }))
}

/// A recording's name: `raytrace` of `bundled:raytrace` and of `graphs/raytrace.sfg.zst`.
pub(crate) fn name(file: &Path) -> String {
    let name = file.file_name().unwrap_or_default().to_string_lossy();
    let name = name.rsplit(':').next().unwrap_or_default();
    name.split(".sfg").next().unwrap_or_default().to_owned()
}

#[cfg(test)]
mod tests {
    use super::{QUICK, USUAL, files, name};
    use crate::kit::Request;
    use std::path::Path;
    use surefit_measure::collector::graphs;

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

    #[test]
    fn what_is_usual_is_bundled_and_quick_takes_two_of_it() {
        for request in [false, true].map(|quick| Request {
            quick,
            ..Request::default()
        }) {
            assert!(
                files(&request)
                    .expect("bundled")
                    .iter()
                    .all(|file| graphs::open(file).is_ok())
            );
        }
        assert!(QUICK.iter().all(|quick| USUAL.contains(quick)));
        assert_eq!(graphs::bundled_names().split(", ").count(), USUAL.len());
    }
}
