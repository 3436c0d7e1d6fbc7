//! The programs: those on the Java machine, and some in Rust that are recorded here and replayed;
//! or the recordings that were asked for.
#![deny(unsafe_code)]

use std::mem::MaybeUninit;
use std::path::Path;

use anyhow::{Context, Result, bail};
use surefit_clients::java::{self, Ran, Scheduled};
use surefit_clients::programs::Program;
use surefit_trace::graph::Reader;

use super::measure::Space;
use crate::kit::Request;
use crate::shared::in_rust::InRust;
use crate::shared::thesis::java::{Java, all as on_the_machine};
use surefit_measure::collector::graphs;

/// A recorded program.
#[derive(Debug)]
pub(super) struct Recorded {
    name: String,
    program: java::Program,
}

/// A program that runs under schedules.
#[derive(Debug)]
pub(super) enum Subject {
    /// It is replayed.
    Recorded(Recorded),
    /// It runs on the Java machine.
    Java(Java),
}

impl Subject {
    /// How tables name it.
    pub(super) fn name(&self) -> &str {
        match self {
            Self::Recorded(recorded) => &recorded.name,
            Self::Java(java) => java.name,
        }
    }

    /// One run; `None` if there is no room. Only of replays is floating garbage measured.
    ///
    /// # Errors
    /// What the machine does not run.
    pub(super) fn run(
        &self,
        space: &Space,
        region: &mut [MaybeUninit<u8>],
        how: &Scheduled,
    ) -> Result<Option<Ran>> {
        match self {
            Self::Recorded(recorded) => Ok(space.stepped.replay(&recorded.program, region, how)),
            Self::Java(java) => java.scheduled(&space.of_machine(), how, region),
        }
    }
}

/// Makes a program when it is its turn.
type Make = Box<dyn Fn() -> Result<Subject>>;

/// All of a run.
///
/// # Errors
/// A file that is no recording.
pub(super) fn all(request: &Request) -> Result<Vec<Make>> {
    if let Some(other) = request.files.iter().find(|file| !graphs::is_graph(file)) {
        bail!(
            "{}: is no object graph: give .sfg or .sfg.zst files, or {}",
            other.display(),
            graphs::bundled_names()
        );
    }
    if !request.files.is_empty() {
        let files = request.files.iter().cloned();
        let read = files.map(|file| Box::new(move || read(&file).map(Subject::Recorded)) as Make);
        return Ok(read.collect());
    }
    let java = on_the_machine(request).into_iter();
    let java = java.map(|java| Box::new(move || Ok(Subject::Java(java.clone()))) as Make);
    let in_rust = of(request).into_iter();
    let in_rust =
        in_rust.map(|program| Box::new(move || recorded(&program).map(Subject::Recorded)) as Make);
    Ok(java.chain(in_rust).collect())
}

/// Documents that are read, changed and written; constraints that are solved again and again; the
/// loops of a large graph.
const ALL: [Program; 3] = [Program::Json, Program::Constraints, Program::Loops];

/// Those in Rust: the first if quick.
fn of(request: &Request) -> Vec<InRust> {
    let all = if request.quick { &ALL[..1] } else { &ALL };
    let sized = all
        .iter()
        .map(|&program| InRust::of(program, request.quick));
    sized.collect()
}

/// A recording, whole.
///
/// # Errors
/// A file that is none; the first rule of the format that it breaks.
fn read(file: &Path) -> Result<Recorded> {
    let name = graphs::name(file);
    let program = graphs::load(file).with_context(|| name.clone())?;
    Ok(Recorded { name, program })
}

/// Records one.
///
/// # Errors
/// The operating system gives no memory, or the program allocates more than a recording holds.
fn recorded(program: &InRust) -> Result<Recorded> {
    let bytes = program.record()?;
    let open = || anyhow::Ok(Reader::new(bytes.as_slice())?);
    Ok(Recorded {
        name: program.name().to_owned(),
        program: java::Program::read(open)?,
    })
}

#[cfg(test)]
mod tests {
    use super::{Subject, all, of, recorded};
    use crate::kit::Request;

    #[test]
    fn the_programs_are_those_of_the_machine_and_some_in_rust_or_what_was_asked_for() {
        let mut request = Request {
            quick: true,
            ..Request::default()
        };
        let [json] = of(&request)[..] else {
            panic!("one program");
        };
        let json = recorded(&json).expect("memory");
        assert!(json.name == "json" && json.program.allocations() > 1000);
        assert_eq!(all(&request).expect("no files").len(), 3);
        request.files.push("bundled:mtrt".into());
        let [mtrt] = &all(&request).expect("bundled")[..] else {
            panic!("one program");
        };
        let Subject::Recorded(mtrt) = mtrt().expect("bundled") else {
            panic!("a recording");
        };
        assert_eq!(mtrt.name, "mtrt");
    }
}
