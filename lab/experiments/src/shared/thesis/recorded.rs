//! The recorded programs, and the program of the thesis that each stands for.
//!
//! ```text
//! all programs     compress jess raytrace    db     javac mtrt       jack     two small ray tracers
//! recordings       compress drools sunflow   hsqldb javac sunflow-mt antlr    raytrace, mtrt
//! bundled                          x         x      x                x        x         x
//! ```
//! The small ray tracers stand for none of the thesis's programs: nearly all their objects have one
//! size, where those of the thesis's ray tracers have five for 90 % of the objects and ten for 99
//! %.

use std::path::{Path, PathBuf};

use anyhow::{Context, Result, bail};
use surefit_clients::java::Program;

use super::published::{BENCHMARKS, Benchmark};
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

/// The thesis's program that a recording stands for, by the name of the recording.
const COUNTERPARTS: [(&str, &str); 7] = [
    ("compress", "compress"),
    ("drools", "jess"),
    ("sunflow", "raytrace"),
    ("hsqldb", "db"),
    ("javac", "javac"),
    ("sunflow-mt", "mtrt"),
    ("antlr", "jack"),
];

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

/// The thesis's program that a recording stands for.
pub(crate) fn counterpart(name: &str) -> Option<&'static Benchmark> {
    let (_, theirs) = COUNTERPARTS.iter().find(|(ours, _)| *ours == name)?;
    BENCHMARKS
        .iter()
        .find(|benchmark| benchmark.name == *theirs)
}

/// Which of the thesis's programs nothing stands for in a run of these recordings, for the notes of
/// a report; `None` if all are there.
pub(crate) fn missing(names: &[&str]) -> Option<String> {
    let missing = COUNTERPARTS
        .iter()
        .filter(|(ours, _)| !names.contains(ours));
    let (ours, theirs): (Vec<_>, Vec<_>) = missing
        .map(|(ours, theirs)| (format!("{ours}.sfg.zst"), *theirs))
        .unzip();
    (!ours.is_empty()).then(|| {
        format!(
            "Of the thesis's programs, nothing in this run stands for {}. To replay them, give {} and the others as FILE.",
            theirs.join(", "),
            ours.join(", ")
        )
    })
}

#[cfg(test)]
mod tests {
    use super::{COUNTERPARTS, QUICK, USUAL, counterpart, files, missing, name};
    use crate::kit::Request;
    use crate::shared::thesis::published::BENCHMARKS;
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
    fn every_program_of_the_thesis_has_one_stand_in() {
        for benchmark in BENCHMARKS {
            let ours = COUNTERPARTS
                .iter()
                .filter(|(_, theirs)| *theirs == benchmark.name);
            let ours: Vec<_> = ours.map(|(ours, _)| counterpart(ours)).collect();
            assert_eq!(ours, [Some(&benchmark)]);
        }
        assert_eq!(
            (counterpart("emacs"), counterpart("raytrace")),
            (None, None)
        );
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

    #[test]
    fn programs_that_nothing_stands_for_are_named() {
        let words = missing(&["javac", "sunflow", "hsqldb", "antlr", "raytrace"]);
        let words = words.expect("three are missing");
        for word in [
            "compress, jess, mtrt",
            "drools.sfg.zst",
            "sunflow-mt.sfg.zst",
        ] {
            assert!(words.contains(word), "{words}");
        }
        assert_eq!(missing(&COUNTERPARTS.map(|(ours, _)| ours)), None);
    }
}
