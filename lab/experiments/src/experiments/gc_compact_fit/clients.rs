//! The clients: recordings of Java programs, and programs in Rust that are recorded here, in
//! memory.
#![deny(unsafe_code)]

use std::collections::{BTreeMap, HashMap};
use std::fmt;
use std::io::Read;
use std::path::PathBuf;

use anyhow::Result;
use surefit_clients::java;
use surefit_clients::programs::Program;
use surefit_trace::graph::{Object, Reader, Step};

use crate::kit::Request;
use crate::shared::in_rust::InRust;
use surefit_measure::collector::graphs;

/// Recordings inside the command: a compiler and a ray tracer, which are not alike. In sunflow,
/// first fit walks 2000 chunks per allocation: a search for its smallest heap takes many minutes.
const BUNDLED: [&str; 2] = ["bundled:javac", "bundled:raytrace"];

/// The programs of a quick run; no recording of Java is as short.
const QUICK: [Program; 2] = [Program::Json, Program::Words];

/// Bytes of a replayed object's header: no object is shorter.
const HEADER_BYTES: u32 = 12;

/// A recording, ready for many replays.
#[derive(Debug)]
pub(super) struct Client {
    pub(super) name: String,
    pub(super) program: java::Program,
    pub(super) held: Held,
}

/// What a replay must hold at the worst moment, whatever the space: what lived at a walk, and all
/// that was allocated until the next, since every new object is a root until then.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(super) struct Held {
    /// Bytes that were asked for.
    pub(super) bytes: u64,
    /// How many objects of each size.
    pub(super) sizes: BTreeMap<u32, u32>,
}

/// Where a client comes from.
#[derive(Clone, Debug)]
pub(super) enum Source {
    /// A recording.
    File(PathBuf),
    /// A program in Rust.
    Rust(InRust),
}

/// The recordings among the files; without any, the bundled ones and the programs in Rust.
pub(super) fn sources(request: &Request) -> Vec<Source> {
    let given = request.files.iter().filter(|file| graphs::is_graph(file));
    let given: Vec<_> = given.cloned().map(Source::File).collect();
    if !given.is_empty() {
        return given;
    }
    if request.quick {
        return QUICK
            .map(|program| Source::Rust(InRust::of(program, true)))
            .to_vec();
    }
    let java = BUNDLED.map(|name| Source::File(name.into()));
    let rust = Program::ALL.map(|program| Source::Rust(InRust::of(program, false)));
    java.into_iter().chain(rust).collect()
}

impl Source {
    /// The client.
    ///
    /// # Errors
    /// The file cannot be read, or breaks the format; the program cannot be recorded.
    pub(super) fn load(&self) -> Result<Client> {
        match self {
            Self::File(file) => client(&graphs::name(file), || graphs::open(file)),
            Self::Rust(program) => in_rust(program),
        }
    }
}

impl fmt::Display for Source {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::File(file) => write!(f, "{}", file.display()),
            Self::Rust(program) => write!(f, "of size {}", program.size),
        }
    }
}

fn in_rust(program: &InRust) -> Result<Client> {
    let bytes = program.record()?;
    client(program.name(), || Ok(Reader::new(bytes.as_slice())?))
}

fn client<R: Read>(name: &str, open: impl Fn() -> Result<Reader<R>>) -> Result<Client> {
    let mut watched = Watched::default();
    for step in open()? {
        watched.see(step?);
    }
    watched.look();
    Ok(Client {
        name: name.to_owned(),
        program: java::Program::read(open)?,
        held: watched.most,
    })
}

/// Follows what must be held through a recording.
#[derive(Debug, Default)]
struct Watched {
    objects: HashMap<u32, u32>,
    now: Held,
    most: Held,
}

impl Watched {
    fn see(&mut self, step: Step) {
        match step {
            Step::Class(_) => {}
            Step::Allocate(object) | Step::Find(object) | Step::Revive(object) => self.add(object),
            Step::Walk(walk) => {
                self.look();
                walk.dead.iter().for_each(|id| self.remove(*id));
            }
        }
    }

    fn add(&mut self, object: Object) {
        let bytes = object.bytes.max(HEADER_BYTES);
        if self.objects.insert(object.id, bytes).is_none() {
            self.now.bytes += u64::from(bytes);
            *self.now.sizes.entry(bytes).or_default() += 1;
        }
    }

    fn remove(&mut self, id: u32) {
        let Some(bytes) = self.objects.remove(&id) else {
            return;
        };
        self.now.bytes -= u64::from(bytes);
        if let Some(count) = self.now.sizes.get_mut(&bytes) {
            *count -= 1;
        }
    }

    fn look(&mut self) {
        if self.now.bytes > self.most.bytes {
            self.most.clone_from(&self.now);
        }
    }
}

#[cfg(test)]
mod tests {
    use surefit_trace::graph::{Object, Step, Walk};

    use super::Watched;

    fn allocate(id: u32, bytes: u32) -> Step {
        Step::Allocate(Object {
            id,
            class: 0,
            bytes,
            slots: 0,
        })
    }

    fn walk(dead: &[u32]) -> Step {
        let mut walk = Walk::default();
        walk.dead = dead.to_vec();
        Step::Walk(Box::new(walk))
    }

    /// Before the second walk 1 is dead already, but 2 to 4 are held: 16 + 40 + 12 bytes, a header
    /// at least.
    #[test]
    fn what_dies_is_held_until_the_walk_that_finds_it_dead() {
        let mut watched = Watched::default();
        let steps = [
            allocate(1, 24),
            allocate(2, 16),
            walk(&[1]),
            allocate(3, 40),
            allocate(4, 4),
            walk(&[2, 3]),
            allocate(5, 20),
        ];
        steps.into_iter().for_each(|step| watched.see(step));
        watched.look();
        assert_eq!(watched.most.bytes, 16 + 40 + 12);
        let sizes: Vec<_> = watched
            .most
            .sizes
            .iter()
            .filter(|(_, count)| **count > 0)
            .collect();
        assert_eq!(sizes, [(&12, &1), (&16, &1), (&40, &1)]);
    }
}
