//! The clients: recordings of Java programs, and programs in Rust that are recorded here, in memory.
#![deny(unsafe_code)]

use std::collections::{BTreeMap, HashMap};
use std::io::Read;
use std::path::Path;

use anyhow::{Result, anyhow};
use surefit_clients::java;
use surefit_clients::programs::{Program, record};
use surefit_os::Reservation;
use surefit_trace::graph::{Object, Reader, Step};

use crate::experiment::registry::Request;
use crate::gc_cmd::graphs;

/// The recordings inside the command.
const BUNDLED: [&str; 2] = ["bundled:raytrace", "bundled:mtrt"];

/// The programs of a quick run; no recording of Java is as short.
const QUICK: [Program; 2] = [Program::Json, Program::Words];

/// A program's own size is divided by this much, that many replays take seconds; its live bytes shrink with it.
const DIVIDED_BY: u32 = 4;
const QUICK_DIVIDED_BY: u32 = 32;

/// The depth of the trees, which no division makes smaller by as much.
const TREES: u32 = 11;

/// Bytes that are allocated from one walk of a recording in Rust to the next.
const EVERY: usize = 32 << 10;

/// Memory for all that a program allocates while it is recorded.
const MEMORY: usize = 1 << 30;

/// Bytes of a replayed object's header: no object is shorter.
const HEADER_BYTES: u32 = 12;

/// A recording, ready for many replays.
#[derive(Debug)]
pub(super) struct Client {
    pub(super) name: String,
    pub(super) program: java::Program,
    pub(super) held: Held,
}

/// What a replay must hold at the worst moment, whatever the space: what lived at a walk, and all that was allocated until
/// the next, since every new object is a root until then.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(super) struct Held {
    /// Bytes that were asked for.
    pub(super) bytes: u64,
    /// How many objects of each size.
    pub(super) sizes: BTreeMap<u32, u32>,
}

/// The recordings among the files; without any, the bundled ones and the programs in Rust.
///
/// # Errors
/// A file cannot be read, or breaks the format; a program cannot be recorded.
pub(super) fn load(request: &Request) -> Result<Vec<Client>> {
    let given: Vec<_> = request
        .files
        .iter()
        .filter(|file| graphs::is_graph(file))
        .collect();
    if !given.is_empty() {
        return given.into_iter().map(|file| of_java(file)).collect();
    }
    if request.quick {
        let size = |program: Program| program.size() / QUICK_DIVIDED_BY;
        return QUICK
            .map(|program| in_rust(program, size(program)))
            .into_iter()
            .collect();
    }
    let java = BUNDLED.iter().map(|name| of_java(Path::new(name)));
    let rust = Program::ALL
        .iter()
        .map(|&program| in_rust(program, size(program)));
    java.chain(rust).collect()
}

fn size(program: Program) -> u32 {
    match program {
        Program::Trees => TREES,
        _ => program.size() / DIVIDED_BY,
    }
}

fn of_java(file: &Path) -> Result<Client> {
    let name = file
        .file_name()
        .unwrap_or(file.as_os_str())
        .to_string_lossy();
    let name = name.trim_start_matches("bundled:");
    let name = name.split('.').next().unwrap_or(name);
    client(name, || graphs::open(file))
}

fn in_rust(program: Program, size: u32) -> Result<Client> {
    let name = program.name();
    let mut memory = Reservation::new(MEMORY)?;
    let mut bytes = Vec::new();
    record(program, size, memory.memory(), EVERY, &mut bytes)
        .map_err(|error| anyhow!("{name}: {error}"))?;
    client(name, || Ok(Reader::new(bytes.as_slice())?))
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

    /// Before the second walk 1 is dead already, but 2 to 4 are held: 16 + 40 + 12 bytes, a header at least.
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
