//! The rules of the format: records become steps, and every rule is checked. The reader keeps them,
//! and so does the writer.
//!
//! A walk is collected until its D record and applied there: roots first, then deaths, then
//! references. So references are checked against what lives when the walk ends.
//!
//! # Departures
//! The recorder makes a class object a root when its class is declared, which is when an instance
//! is first allocated. Before that, what keeps it alive may be nothing but the references of found
//! instances to their class, which are not among the slots. Here every live class object is a root
//! from the end of the walk in which one of its instances is logged.
#![deny(clippy::arithmetic_side_effects, clippy::cast_possible_truncation)]

use crate::Problem;
use crate::graph::layouts::Layouts;
use crate::graph::objects::Objects;
use crate::graph::record::{Edges, MOST_ITEMS, Record, push, too_many_items};
use crate::graph::step::{Class, Step};
use crate::graph::walk::{Ends, Reference, Walk};

/// A recording as far as it goes: what the next record must keep to.
#[derive(Debug, Default)]
pub(super) struct Rules {
    /// The first byte of the record that is being accepted, or that broke a rule.
    pub(super) record: u64,
    objects: Objects,
    pub(super) layouts: Layouts,
    /// What an earlier reading found out.
    pub(super) known: Option<Layouts>,
    /// The walk that has begun.
    walk: Option<Box<Walk>>,
    walks: u64,
    allocations: u64,
    bytes: u64,
}

impl Rules {
    /// Accepts the next record; returns the step that it completes, if any.
    pub(super) fn accept(&mut self, record: Record) -> Result<Option<Step>, Problem> {
        self.check_place(&record)?;
        let step = match record {
            Record::Class(class) => Step::Class(self.declare(class)?),
            Record::Allocation { class, bytes } => self.allocate(class, bytes)?,
            Record::Found {
                id,
                class,
                bytes,
                length,
            } => self.find(id, class, bytes, length)?,
            Record::Again { id, bytes } => Step::Revive(self.objects.revive(id, bytes)?),
            Record::WalkBegins {
                number,
                allocations,
                bytes,
            } => return self.begin_walk(number, allocations, bytes).map(|()| None),
            Record::Edges(edges) => return self.collect_edges(edges).map(|()| None),
            Record::Roots(roots) => return self.collect_roots(roots).map(|()| None),
            Record::Deaths(dead) => Step::Walk(self.end_walk(dead)?),
        };
        Ok(Some(step))
    }

    /// The id of the object that is given next.
    pub(super) fn next_id(&self) -> u64 {
        self.objects.next_id()
    }

    /// The record with which the next walk begins; `None` if one has begun.
    #[expect(
        clippy::arithmetic_side_effects,
        reason = "no more events than a file has bytes are counted, in 64 bits"
    )]
    pub(super) fn next_walk(&self) -> Option<Record> {
        self.walk.is_none().then_some(Record::WalkBegins {
            number: self.walks + 1,
            allocations: self.allocations,
            bytes: self.bytes,
        })
    }

    /// No recording ends within a walk.
    pub(super) fn accept_end(&self) -> Result<(), Problem> {
        self.walk
            .as_ref()
            .map_or(Ok(()), |_| Err(Problem::Truncated))
    }

    /// C, A and S stand outside of walks, Z, E, R and D inside, H anywhere.
    fn check_place(&self, record: &Record) -> Result<(), Problem> {
        let letter = record.letter();
        let place = match (letter, &self.walk) {
            ('C' | 'A' | 'S', Some(_)) => "inside",
            ('Z' | 'E' | 'R' | 'D', None) => "outside",
            _ => return Ok(()),
        };
        Err(Problem::Misplaced { letter, place })
    }

    fn declare(&mut self, class: Class) -> Result<Class, Problem> {
        self.objects.mark_class(class.id)?;
        self.layouts.declare(&class)?;
        Ok(class)
    }

    #[expect(
        clippy::arithmetic_side_effects,
        reason = "no more events than a file has bytes are counted, in 64 bits"
    )]
    fn allocate(&mut self, class: u32, bytes: u32) -> Result<Step, Problem> {
        let declared = self.layouts.of_declared(class, bytes);
        let (slots, kind) = declared.ok_or(Problem::UnknownClass(class))??;
        self.allocations += 1;
        self.bytes = self
            .bytes
            .checked_add(u64::from(bytes))
            .ok_or(Problem::SumOverflow)?;
        let object = self.objects.add(class, bytes, slots, kind)?;
        Ok(Step::Allocate(object))
    }

    fn find(
        &mut self,
        id: u32,
        class: u32,
        bytes: u32,
        length: Option<u32>,
    ) -> Result<Step, Problem> {
        let next = self.objects.next_id();
        if u64::from(id) != next {
            return Err(Problem::FoundId { id, next });
        }
        let (slots, kind) = match self.layouts.of_declared(class, bytes) {
            Some(declared) => declared?,
            None => {
                let (may, kind) = Layouts::of_undeclared(bytes, length);
                let known = self.known.as_ref();
                let used = known.map(|known| known.used(id, class, may, kind));
                (used.unwrap_or(may), kind)
            }
        };
        let object = self.objects.add(class, bytes, slots, kind)?;
        Ok(Step::Find(object))
    }

    #[expect(
        clippy::arithmetic_side_effects,
        reason = "no more events than a file has bytes are counted, in 64 bits"
    )]
    fn begin_walk(&mut self, number: u64, allocations: u64, bytes: u64) -> Result<(), Problem> {
        self.walks += 1;
        if self.record == 0 && number != self.walks {
            return Err(Problem::NotAGraph); // SFT1, the other format, begins with S too
        }
        let clock = [
            ("number", number, self.walks),
            ("allocations", allocations, self.allocations),
            ("bytes", bytes, self.bytes),
        ];
        for (field, walk, counted) in clock {
            if walk != counted {
                return Err(Problem::Clock {
                    field,
                    walk,
                    counted,
                });
            }
        }
        self.walk = Some(Box::new(Walk {
            number,
            allocations,
            bytes,
            ..Walk::default()
        }));
        Ok(())
    }

    /// Keeps the references of an object until the walk ends; their slots are as recorded until
    /// then.
    #[expect(
        clippy::arithmetic_side_effects,
        reason = "lengths of vectors of at most MOST_ITEMS each"
    )]
    fn collect_edges(&mut self, edges: Edges) -> Result<(), Problem> {
        let byte = self.record;
        let walk = self.walk.as_deref_mut().ok_or(Problem::Truncated)?;
        if walk.listed() + edges.own.len() + edges.class_level.len() >= MOST_ITEMS {
            return Err(too_many_items());
        }
        for (slot, target) in edges.own {
            push(&mut walk.references, Reference { slot, target })?;
        }
        for target in edges.class_level {
            push(&mut walk.class_level, target)?;
        }
        let ends = Ends {
            object: edges.object,
            byte,
            class: edges.class,
            references: walk.references.len(),
            class_level: walk.class_level.len(),
        };
        push(&mut walk.ends, ends)
    }

    #[expect(
        clippy::arithmetic_side_effects,
        reason = "lengths of vectors of at most MOST_ITEMS each"
    )]
    fn collect_roots(&mut self, roots: Vec<(u32, bool)>) -> Result<(), Problem> {
        let walk = self.walk.as_deref_mut().ok_or(Problem::Truncated)?;
        if walk.listed() + roots.len() > MOST_ITEMS {
            return Err(too_many_items());
        }
        walk.root_changes += roots.len();
        for (id, gained) in roots {
            self.objects.record_root(id, gained)?;
        }
        Ok(())
    }

    fn end_walk(&mut self, dead: Vec<u32>) -> Result<Box<Walk>, Problem> {
        let mut walk = self.walk.take().ok_or(Problem::Truncated)?;
        for &id in &dead {
            self.objects.kill(id)?;
        }
        for index in 0..walk.ends.len() {
            self.apply_change(&mut walk, index)?;
        }
        self.objects.settle_roots(&mut walk);
        walk.dead = dead;
        walk.live = self.objects.live();
        Ok(walk)
    }

    /// Checks the references of a changed object and numbers its slots.
    fn apply_change(&mut self, walk: &mut Walk, index: usize) -> Result<(), Problem> {
        let (first, first_class_level) = walk.begins(index);
        let ends = walk.ends[index];
        self.record = ends.byte;
        let (object, kind) = self.objects.live_object(ends.object)?;
        let references = &mut walk.references[first..ends.references];
        for reference in references.iter_mut() {
            self.objects.live_object(reference.target)?;
            reference.slot = self.layouts.number(object, kind, reference.slot)?;
        }
        check_distinct(object.id, references)?;
        let class_level = &walk.class_level[first_class_level..ends.class_level];
        for &target in class_level.iter().chain(&ends.class) {
            self.objects.live_object(target)?;
        }
        ends.class
            .map_or(Ok(()), |class| self.objects.mark_class(class))
    }
}

/// No slot is set twice by one record.
fn check_distinct(id: u32, references: &[Reference]) -> Result<(), Problem> {
    let mut slots: Vec<_> = references.iter().map(|reference| reference.slot).collect();
    slots.sort_unstable();
    match slots.windows(2).find(|pair| pair[0] == pair[1]) {
        Some(pair) => Err(Problem::SlotTwice { id, slot: pair[0] }),
        None => Ok(()),
    }
}
