//! Recordings of the programs. They contain what the recorder of a virtual machine writes, so the
//! programs can be replayed on every space, including those that move objects.
//!
//! ```text
//! run in an arena in which nothing is ever freed: objects lie in the order of their allocation
//! whenever `every` bytes were allocated:
//!     new objects since the last walk;  all references, by a survey;
//!     what the root leads to, breadth first
//!     a walk:  changed references of reached objects;  roots gained and lost;
//!              objects that are not reached any more
//! at the end: a class for every type, because the maximum number of references is known now
//! ```
//! So recording changes only one thing in how a program runs: it never collects.
//!
//! | of a recording | is |
//! | --- | --- |
//! | class | a type: as many fields as its objects have references at most; an array if sizes differ |
//! | size | the payload: value and type number; more if a replay's header and slots need more |
//! | slot | which of the object's references it is |
//! | class object | one for every class, of sixteen bytes: the format requires them |
//!
//! # Departures
//! Allocations after the last walk are not recorded.

use std::collections::{BTreeMap, BTreeSet, VecDeque};
use std::io::Write;
use std::mem::MaybeUninit;

use surefit_freelist::{Bitmap, Immediate, Index, Segregated, Tree};
use surefit_gc::{Arena, Full, Rootable, Seen};
use surefit_trace::TraceError;
use surefit_trace::graph::{Change, Class, Object, Reference, Step, Walk, Writer};

use super::between::{Between, Stopped};
use super::program::Program;

type Lists = Segregated<Bitmap, Immediate, Tree, 256>;

/// Bytes of a recorded object's header, of an array's header, of a reference, and of a class
/// object.
const HEADER: u32 = 12;
const ARRAY_HEADER: u32 = 16;
const SLOT: u32 = 4;
const CLASS_OBJECT: u32 = 16;

/// What a recording holds.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Recorded {
    /// The program's checksum.
    pub checksum: u64,
    /// Allocations.
    pub allocations: u64,
    /// The sum of their sizes as recorded, in bytes.
    pub bytes: u64,
    /// Walks.
    pub walks: u64,
}

/// Why a recording was not made.
#[derive(Debug, thiserror::Error)]
pub enum RecordError {
    /// The program did not complete: nothing is freed while it is recorded.
    #[error("nothing is freed while a program is recorded, and {0}; take a smaller --size")]
    Stopped(#[from] Stopped),
    /// The recording could not be written.
    #[error(transparent)]
    Write(#[from] TraceError),
}

/// Runs a program in a region that has room for all its allocations, and writes a recording, with a
/// walk whenever `every` bytes were allocated.
///
/// # Errors
/// The region is too small, or writing fails.
pub fn record(
    program: Program,
    size: u32,
    region: &mut [MaybeUninit<u8>],
    every: usize,
    out: impl Write,
) -> Result<Recorded, RecordError> {
    let mut recorder = Recorder {
        tape: Tape::default(),
        roots: BTreeSet::new(),
        every,
        free_bytes: None,
    };
    let checksum = program.run::<Lists>(region, size, &mut recorder)?;
    let recorded = recorder.tape.write(out)?;
    Ok(Recorded {
        checksum,
        ..recorded
    })
}

/// An object, by its place in the order of allocation.
type Id = u32;

/// What is known about an object.
#[derive(Debug)]
struct Known {
    number: u32,
    kind: u32,
    bytes: u32,
    /// Its references when it was last reached.
    references: Vec<Id>,
    is_live: bool,
}

/// The content of a recording.
#[derive(Debug, Default)]
struct Tape {
    objects: Vec<Known>,
    walks: Vec<Walked>,
}

/// A walk.
#[derive(Debug, Default)]
struct Walked {
    /// Objects allocated until then.
    objects: usize,
    changes: Vec<(Id, Vec<Id>)>,
    gained: Vec<Id>,
    lost: Vec<Id>,
    dead: Vec<Id>,
}

/// Walks at intervals.
struct Recorder {
    tape: Tape,
    roots: BTreeSet<Id>,
    every: usize,
    /// Free bytes after the last walk.
    free_bytes: Option<usize>,
}

/// All objects and references of an arena.
#[derive(Default)]
struct Survey {
    roots: Vec<u32>,
    /// `(number, kind, bytes)`, in the order of allocation, and where its references end.
    objects: Vec<((u32, u32, u32), usize)>,
    references: Vec<u32>,
}

impl Survey {
    fn of<R: for<'gc> Rootable<'gc> + ?Sized, I: Index>(arena: &mut Arena<'_, R, I>) -> Self {
        let mut survey = Self::default();
        arena.survey(|seen| survey.see(seen));
        survey
    }

    fn see(&mut self, seen: Seen) {
        match (seen, self.objects.last_mut()) {
            (Seen::Root, _) => {}
            (
                Seen::Object {
                    number,
                    kind,
                    bytes,
                },
                _,
            ) => {
                self.objects
                    .push(((number, kind, bytes), self.references.len()));
            }
            (Seen::Reference(to), Some((_, end))) => {
                self.references.push(to);
                *end = self.references.len();
            }
            (Seen::Reference(to), None) => self.roots.push(to),
        }
    }

    /// The object with a number.
    fn id(&self, number: u32) -> Id {
        let found = self
            .objects
            .binary_search_by_key(&number, |((number, ..), _)| *number);
        found.expect("a reference names an object") as Id
    }

    /// The references of an object.
    fn references(&self, id: Id) -> impl Iterator<Item = Id> {
        let end = self.objects[id as usize].1;
        let begin = id
            .checked_sub(1)
            .map_or(0, |before| self.objects[before as usize].1);
        self.references[begin..end]
            .iter()
            .map(|&number| self.id(number))
    }
}

impl Between for Recorder {
    /// Never collects: if there is no room, the step fails.
    fn step<R: for<'gc> Rootable<'gc> + ?Sized, I: Index>(
        &mut self,
        arena: &mut Arena<'_, R, I>,
        _room: usize,
    ) -> Result<(), Full> {
        let free_bytes = arena.free_bytes();
        if self
            .free_bytes
            .is_none_or(|before| before - free_bytes >= self.every)
        {
            self.walk(&Survey::of(arena));
            self.free_bytes = Some(free_bytes);
        }
        Ok(())
    }
}

impl Recorder {
    fn walk(&mut self, survey: &Survey) {
        let known = self.tape.objects.len();
        let is_same =
            |(object, seen): (&Known, &((u32, u32, u32), usize))| object.number == seen.0.0;
        assert!(
            self.tape.objects.iter().zip(&survey.objects).all(is_same),
            "objects lie in the order of allocation"
        );
        let new = survey.objects[known..]
            .iter()
            .map(|&((number, kind, bytes), _)| Known {
                number,
                kind,
                bytes,
                references: Vec::new(),
                is_live: true,
            });
        self.tape.objects.extend(new);
        let roots: BTreeSet<Id> = survey
            .roots
            .iter()
            .map(|&number| survey.id(number))
            .collect();
        let mut walked = Walked {
            objects: self.tape.objects.len(),
            gained: roots.difference(&self.roots).copied().collect(),
            lost: self.roots.difference(&roots).copied().collect(),
            ..Walked::default()
        };
        let reached = self.follow(survey, &roots, &mut walked);
        for (id, object) in self.tape.objects.iter_mut().enumerate() {
            if object.is_live && !reached[id] {
                object.is_live = false;
                walked.dead.push(id as Id);
            }
        }
        self.roots = roots;
        self.tape.walks.push(walked);
    }

    /// Follows all references, breadth first. Records those that changed. Returns which objects are
    /// reached.
    fn follow(&mut self, survey: &Survey, roots: &BTreeSet<Id>, walked: &mut Walked) -> Vec<bool> {
        let mut reached = vec![false; survey.objects.len()];
        let mut queue: VecDeque<Id> = roots.iter().copied().collect();
        roots.iter().for_each(|&id| reached[id as usize] = true);
        while let Some(id) = queue.pop_front() {
            let references: Vec<Id> = survey.references(id).collect();
            for &to in &references {
                if !std::mem::replace(&mut reached[to as usize], true) {
                    queue.push_back(to);
                }
            }
            let object = &mut self.tape.objects[id as usize];
            if object.references != references {
                object.references.clone_from(&references);
                walked.changes.push((id, references));
            }
        }
        reached
    }
}

/// A type of objects in the recording.
#[derive(Clone, Copy, Debug, Default)]
struct Shape {
    /// The id of its class object in the recording.
    id: u32,
    fields: u32,
    bytes: Option<u32>,
    is_array: bool,
}

impl Tape {
    fn write(&self, out: impl Write) -> Result<Recorded, TraceError> {
        let shapes = self.shapes();
        let mut writer = Writer::new(out);
        for (kind, shape) in &shapes {
            let (id, fields) = (shape.id, shape.fields);
            let class_object = Object {
                id,
                class: 0,
                bytes: CLASS_OBJECT,
                slots: 0,
            };
            writer.write(&Step::Find(class_object))?;
            let signature = if shape.is_array {
                format!("[LKind{kind};")
            } else {
                format!("LKind{kind};")
            };
            writer.write(&Step::Class(Class {
                id,
                fields,
                signature,
            }))?;
        }
        let longest = self.longest();
        let (mut recorded, first) = (Recorded::default(), shapes.len() as u32 + 1);
        for walked in &self.walks {
            for place in recorded.allocations as usize..walked.objects {
                let (object, shape) = (&self.objects[place], &shapes[&self.objects[place].kind]);
                let bytes = shape.recorded_bytes(object.bytes, longest[place]);
                let (id, class, slots) = (first + place as u32, shape.id, shape.fields);
                writer.write(&Step::Allocate(Object {
                    id,
                    class,
                    bytes,
                    slots,
                }))?;
                recorded.allocations += 1;
                recorded.bytes += u64::from(bytes);
            }
            writer.write(&Step::Walk(Box::new(walked.walk(first))))?;
            recorded.walks += 1;
        }
        writer.finish()?;
        Ok(recorded)
    }

    /// The maximum number of references that each object ever had.
    fn longest(&self) -> Vec<u32> {
        let mut longest = vec![0; self.objects.len()];
        for (id, references) in self.walks.iter().flat_map(|walked| &walked.changes) {
            let most = &mut longest[*id as usize];
            *most = references.len().max(*most as usize) as u32;
        }
        longest
    }

    /// The types of all objects.
    fn shapes(&self) -> BTreeMap<u32, Shape> {
        let mut shapes = BTreeMap::<u32, Shape>::new();
        for (object, &longest) in self.objects.iter().zip(&self.longest()) {
            let shape = shapes.entry(object.kind).or_default();
            shape.fields = shape.fields.max(longest);
            shape.is_array |= *shape.bytes.get_or_insert(object.bytes) != object.bytes;
        }
        for (shape, id) in shapes.values_mut().zip(1..) {
            shape.id = id;
        }
        shapes
    }
}

impl Shape {
    /// The size of an object with room for its references.
    fn recorded_bytes(&self, bytes: u32, references: u32) -> u32 {
        let least = match self.is_array {
            true => ARRAY_HEADER + SLOT * references,
            false => HEADER + SLOT * self.fields,
        };
        bytes.max(least)
    }
}

impl Walked {
    /// The walk with ids of the recording; `first` is the id of the first object.
    fn walk(&self, first: u32) -> Walk {
        let ids = |ids: &[Id]| ids.iter().map(|id| first + id).collect();
        let mut walk = Walk::default();
        walk.roots_gained = ids(&self.gained);
        walk.roots_lost = ids(&self.lost);
        walk.dead = ids(&self.dead);
        for (id, references) in &self.changes {
            let numbered = (0..).zip(references);
            let references: Vec<_> = numbered
                .map(|(slot, to)| Reference {
                    slot,
                    target: first + to,
                })
                .collect();
            walk.add_change(Change {
                object: first + id,
                references: &references,
                class_level: &[],
            });
        }
        walk
    }
}
