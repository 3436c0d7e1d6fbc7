//! The recordings.

use std::path::Path;

use anyhow::{Result, ensure};
use surefit_clients::java::Program;

use crate::experiment::registry::Request;
use crate::gc_cmd::graphs;

/// Allocations of a recording that a quick run replays.
const QUICK_ALLOCATIONS: u64 = 60_000;

/// A recorded program.
#[derive(Debug)]
pub(super) struct Client {
    /// The recording's name.
    pub(super) name: String,
    pub(super) program: Program,
}

/// The recordings asked for, or the two that are bundled; of a quick run the last, cut short.
pub(super) fn load(request: &Request) -> Result<Vec<Client>> {
    let files = match request.files.is_empty() {
        true => graphs::bundled_files(),
        false => request.files.clone(),
    };
    let first = if request.quick { files.len() - 1 } else { 0 };
    files[first..]
        .iter()
        .map(|file| one(file, request.quick))
        .collect()
}

fn one(file: &Path, is_quick: bool) -> Result<Client> {
    ensure!(
        graphs::is_graph(file),
        "{}: is no object graph: give .sfg or .sfg.zst files",
        file.display()
    );
    let allocations = if is_quick {
        QUICK_ALLOCATIONS
    } else {
        u64::MAX
    };
    Ok(Client {
        name: name(file),
        program: Program::read_first(allocations, || graphs::open(file))?,
    })
}

/// A file's name without its directory and its endings, or a bundled recording's.
fn name(file: &Path) -> String {
    let name = file.file_name().unwrap_or_default().to_string_lossy();
    let name = name.trim_start_matches("bundled:");
    name.split('.').next().unwrap_or_default().to_owned()
}

#[cfg(test)]
mod tests {
    use std::path::Path;

    use super::{load, name};
    use crate::experiment::registry::Request;

    #[test]
    fn a_recording_is_known_by_its_file_wherever_it_is() {
        let names =
            ["graphs/mtrt.sfg.zst", "bundled:mtrt", "mtrt.sfg"].map(|file| name(Path::new(file)));
        assert_eq!(names, ["mtrt"; 3]);
    }

    #[test]
    fn other_traces_are_refused() {
        let request = Request {
            files: vec!["bundled:emacs".into()],
            ..Request::default()
        };
        assert!(load(&request).is_err());
    }
}
