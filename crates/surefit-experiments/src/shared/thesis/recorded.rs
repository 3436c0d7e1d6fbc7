//! The recorded programs, and the program of the thesis that each stands for.

use std::path::{Path, PathBuf};

use anyhow::{Context, Result, bail};
use surefit_clients::java::Program;

use super::published::{BENCHMARKS, Benchmark};
use crate::kit::Request;
use crate::shared::programs;
use surefit_measure::collector::graphs;

/// The recordings inside the command.
const USUAL: [&str; 2] = ["bundled:raytrace", "bundled:mtrt"];

/// Allocations after which a quick run ends a recording.
const QUICK: u64 = 100_000;

/// The thesis's program that a recording stands for, by the name of the recording.
const COUNTERPARTS: [(&str, &str); 6] = [
    ("compress", "compress"),
    ("drools", "jess"),
    ("raytrace", "raytrace"),
    ("hsqldb", "db"),
    ("javac", "javac"),
    ("mtrt", "mtrt"),
];

/// A recorded program.
#[derive(Debug)]
pub(crate) struct Recorded {
    /// The name of its file, without what comes after it.
    pub(crate) name: String,
    /// The program.
    pub(crate) program: Program,
}

/// The files to replay: those asked for, else the recordings inside the command; if quick, the
/// first of these.
///
/// # Errors
/// A file that is none.
pub(crate) fn files(request: &Request) -> Result<Vec<PathBuf>> {
    let usual = if request.quick { &USUAL[..1] } else { &USUAL };
    let files = programs::names(request, usual);
    if let Some(other) = files.iter().find(|file| !graphs::is_graph(file)) {
        bail!(
            "{}: is no object graph: give .sfg or .sfg.zst files, or bundled:raytrace, bundled:mtrt",
            other.display()
        );
    }
    Ok(files)
}

/// The recordings to replay, one after the other: quick, only their beginnings.
///
/// # Errors
/// A file that is none; each recording, the first rule of the format that it breaks.
pub(crate) fn all(request: &Request) -> Result<impl Iterator<Item = Result<Recorded>>> {
    let most = if request.quick { QUICK } else { u64::MAX };
    let files = files(request)?.into_iter();
    Ok(files.map(move |file| {
        let program = Program::read_first(most, || graphs::open(&file));
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

/// The thesis's program that a recording stands for.
pub(crate) fn counterpart(name: &str) -> Option<&'static Benchmark> {
    let (_, theirs) = COUNTERPARTS.iter().find(|(ours, _)| *ours == name)?;
    BENCHMARKS
        .iter()
        .find(|benchmark| benchmark.name == *theirs)
}

#[cfg(test)]
mod tests {
    use super::{COUNTERPARTS, counterpart, name};
    use std::path::Path;

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
    fn every_counterpart_is_one_of_the_thesis() {
        for (ours, theirs) in COUNTERPARTS {
            assert_eq!(
                counterpart(ours).map(|benchmark| benchmark.name),
                Some(theirs)
            );
        }
        assert_eq!(counterpart("emacs"), None);
    }
}
