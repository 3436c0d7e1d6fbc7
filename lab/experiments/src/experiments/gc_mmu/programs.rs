//! The programs in Rust beside the recordings of Java programs: they are recorded here, and
//! replayed like those.
#![deny(unsafe_code)]

use anyhow::Result;
use surefit_clients::java;
use surefit_clients::programs::Program;
use surefit_trace::graph::Reader;

use crate::kit::Request;
use crate::shared::in_rust::InRust;
use crate::shared::thesis::recorded::Recorded;

/// Documents that are read, changed and written; constraints that are solved again and again; the
/// loops of a large graph.
const ALL: [Program; 3] = [Program::Json, Program::Constraints, Program::Loops];

/// Those of a run: none if files are given, the first if quick.
pub(super) fn of(request: &Request) -> Vec<InRust> {
    let all: &[Program] = match (request.files.is_empty(), request.quick) {
        (false, _) => &[],
        (_, true) => &ALL[..1],
        (_, false) => &ALL[..],
    };
    let sized = all
        .iter()
        .map(|&program| InRust::of(program, request.quick));
    sized.collect()
}

/// Records one.
///
/// # Errors
/// The operating system gives no memory, or the program allocates more than a recording holds.
pub(super) fn recorded(program: &InRust) -> Result<Recorded> {
    let bytes = program.record()?;
    let open = || anyhow::Ok(Reader::new(bytes.as_slice())?);
    Ok(Recorded {
        name: program.name().to_owned(),
        program: java::Program::read(open)?,
    })
}

#[cfg(test)]
mod tests {
    use super::{of, recorded};
    use crate::kit::Request;

    #[test]
    fn they_are_recorded_unless_files_are_given() {
        let mut request = Request {
            quick: true,
            ..Request::default()
        };
        let [json] = of(&request)[..] else {
            panic!("one program");
        };
        let json = recorded(&json).expect("memory");
        assert!(json.name == "json" && json.program.allocations() > 1000);
        request.files.push("bundled:mtrt".into());
        assert_eq!(of(&request).len(), 0);
        assert_eq!(of(&Request::default()).len(), 3);
    }
}
