//! Which objects a nursery promotes, and when old ones die: from the recording alone, so that it is
//! the same for every space.
//!
//! ```text
//! give(o):     o lies in the nursery, after the one before; large: nowhere yet
//! walk:        references and roots change; if the nursery has its bytes, or this is the last walk:
//!   mark:      from the roots, the reference that was pushed last first: what is reached lives
//!   empty:     living objects of the nursery are promoted in the order in which they were reached
//!              the others, and old ones that were not reached, are dead
//! ```
//! At the end of a walk the recording says exactly what lives, so nothing floats. The nursery may
//! have more than its bytes by what is allocated between two walks.
#![deny(unsafe_code)]

use std::collections::BTreeSet;

use surefit_clients::java::Program;
use surefit_gc::Settings;
use surefit_trace::graph::{Object, Walk};

/// What all spaces do.
#[derive(Debug, Default)]
pub(super) struct Script {
    pub(super) minors: Vec<Minor>,
    /// The most bytes in the nursery.
    pub(super) nursery_bytes: usize,
    /// Objects that were born in it.
    pub(super) born: u64,
    /// The most bytes of living old objects.
    pub(super) most_old_bytes: usize,
}

/// The nursery is emptied. Old objects have serial numbers, in the order in which they became old:
/// first the large ones, then the survivors.
#[derive(Debug, Default, PartialEq, Eq)]
pub(super) struct Minor {
    /// Serials of old objects that died since the last time.
    pub(super) dead: Vec<usize>,
    /// Bytes of large objects that were born since, and live.
    pub(super) large: Vec<u32>,
    pub(super) survivors: Vec<Survivor>,
}

/// An object to be promoted.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Survivor {
    /// Where it lies in the nursery.
    pub(super) offset: u32,
    pub(super) bytes: u32,
}

impl Script {
    /// How many objects were promoted.
    pub(super) fn promoted(&self) -> u64 {
        let minors = self.minors.iter();
        minors.map(|minor| minor.survivors.len() as u64).sum()
    }

    /// The script of a program, with a nursery of so many bytes.
    pub(super) fn of(program: &Program, nursery: u32) -> Self {
        let mut model = Model::default();
        let mut batches = program.batches().peekable();
        while let Some((given, walk)) = batches.next() {
            given.iter().for_each(|given| model.give(given));
            if let Some(walk) = walk {
                model.apply(walk);
                let is_last = batches.peek().is_none_or(|(_, walk)| walk.is_none());
                if model.bump >= nursery || is_last {
                    let reached = model.mark();
                    model.empty(&reached);
                }
            }
        }
        model.script
    }
}

/// Where an object lies.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
enum Place {
    #[default]
    Nowhere,
    Nursery(Survivor),
    Large(u32),
    Old {
        serial: usize,
        bytes: u32,
    },
}

/// An object of the recording.
#[derive(Clone, Debug, Default)]
struct Known {
    place: Place,
    references: Vec<u32>,
    is_reached: bool,
}

#[derive(Debug, Default)]
struct Model {
    /// By id.
    known: Vec<Known>,
    roots: BTreeSet<u32>,
    /// Ids of what became of age since the nursery was emptied last, and of what is old.
    young: Vec<u32>,
    old: Vec<u32>,
    /// Bytes in the nursery.
    bump: u32,
    serials: usize,
    script: Script,
}

impl Model {
    fn known(&mut self, id: u32) -> &mut Known {
        let id = id as usize;
        if self.known.len() <= id {
            self.known.resize_with(id + 1, Known::default);
        }
        &mut self.known[id]
    }

    /// An object is allocated, unless the recording lost it and it is still there.
    fn give(&mut self, given: &Object) {
        let offset = self.bump;
        let known = self.known(given.id);
        known.references.clear();
        if known.place != Place::Nowhere {
            return;
        }
        let bytes = given.bytes;
        if bytes as usize >= Settings::LARGE {
            known.place = Place::Large(bytes);
        } else {
            known.place = Place::Nursery(Survivor { offset, bytes });
            self.bump += bytes.next_multiple_of(8);
            self.script.born += 1;
        }
        self.young.push(given.id);
    }

    fn apply(&mut self, walk: &Walk) {
        for change in walk.changes() {
            let own = change.references.iter().map(|reference| reference.target);
            let all = own.chain(change.class_level.iter().copied()).collect();
            self.known(change.object).references = all;
        }
        self.roots.extend(&walk.roots_gained);
        walk.roots_lost.iter().for_each(|id| {
            self.roots.remove(id);
        });
    }

    /// The ids of all that lives, in the order in which it is reached.
    fn mark(&mut self) -> Vec<u32> {
        let mut stack: Vec<u32> = self.roots.iter().rev().copied().collect();
        let mut reached = Vec::new();
        while let Some(id) = stack.pop() {
            let known = self.known(id);
            if known.is_reached || known.place == Place::Nowhere {
                continue;
            }
            known.is_reached = true;
            stack.extend(known.references.iter().rev());
            reached.push(id);
        }
        reached
    }

    /// Empties the nursery: what is reached becomes old, in this order.
    fn empty(&mut self, reached: &[u32]) {
        let script = &mut self.script;
        script.nursery_bytes = script.nursery_bytes.max(self.bump as usize);
        let mut minor = Minor::default();
        for id in std::mem::take(&mut self.old) {
            let known = &mut self.known[id as usize];
            match known.place {
                Place::Old { serial, .. } if !known.is_reached => {
                    known.place = Place::Nowhere;
                    minor.dead.push(serial);
                }
                _ => self.old.push(id),
            }
        }
        for &id in reached {
            if let Place::Large(bytes) = self.known[id as usize].place {
                minor.large.push(bytes);
                self.grow_old(id, bytes);
            }
        }
        for &id in reached {
            if let Place::Nursery(survivor) = self.known[id as usize].place {
                minor.survivors.push(survivor);
                self.grow_old(id, survivor.bytes);
            }
        }
        for id in self.young.drain(..) {
            let known = &mut self.known[id as usize];
            if !known.is_reached {
                known.place = Place::Nowhere;
            }
        }
        for &id in reached {
            self.known[id as usize].is_reached = false;
        }
        self.bump = 0;
        let most = &mut self.script.most_old_bytes;
        *most = (*most).max(old_bytes(&self.known, &self.old));
        self.script.minors.push(minor);
    }

    fn grow_old(&mut self, id: u32, bytes: u32) {
        let serial = self.serials;
        self.known[id as usize].place = Place::Old { serial, bytes };
        self.old.push(id);
        self.serials += 1;
    }
}

fn old_bytes(known: &[Known], old: &[u32]) -> usize {
    let bytes = old.iter().map(|id| match known[*id as usize].place {
        Place::Old { bytes, .. } => bytes as usize,
        _ => 0,
    });
    bytes.sum()
}

#[cfg(test)]
pub(super) mod tests {
    use std::path::Path;

    use surefit_clients::java::Program;
    use surefit_measure::collector::graphs;
    use surefit_trace::graph::Object;

    use super::{Model, Script};

    /// The smallest bundled recording.
    pub(crate) fn mtrt() -> Program {
        graphs::load(Path::new("bundled:mtrt")).expect("bundled")
    }

    #[test]
    fn what_lives_at_the_end_of_every_walk_is_what_the_recording_says() {
        let program = mtrt();
        let (mut model, mut walks) = (Model::default(), 0);
        for (given, walk) in program.batches() {
            given.iter().for_each(|given| model.give(given));
            let Some(walk) = walk else { continue };
            model.apply(walk);
            let reached = model.mark();
            assert_eq!(reached.len() as u64, walk.live.objects, "{}", walk.number);
            model.empty(&reached);
            assert_eq!(model.old.len(), reached.len(), "nothing else is old");
            let bytes = super::old_bytes(&model.known, &model.old);
            assert_eq!(bytes as u64, walk.live.bytes, "{}", walk.number);
            walks += 1;
        }
        assert!(walks > 10);
        assert_eq!(
            model.script.most_old_bytes as u64,
            program.most_live().bytes
        );
    }

    #[test]
    fn a_script_promotes_each_object_once_and_lets_it_die_once() {
        let script = Script::of(&mtrt(), 64 << 10);
        let (mut serials, mut dead) = (0, std::collections::BTreeSet::new());
        for minor in &script.minors {
            for &serial in &minor.dead {
                assert!(serial < serials && dead.insert(serial));
            }
            serials += minor.large.len() + minor.survivors.len();
            let ends = minor.survivors.iter().map(|one| one.offset + one.bytes);
            assert!(ends.max() <= Some(script.nursery_bytes as u32));
        }
        assert!(script.minors.len() > 3 && script.promoted() < script.born);
    }

    #[test]
    fn what_comes_back_is_born_again_only_after_it_died() {
        let mut model = Model::default();
        let object = |id| Object {
            id,
            class: 0,
            bytes: 24,
            slots: 0,
        };
        for id in [1, 1, 2] {
            model.give(&object(id));
        }
        assert_eq!((model.bump, model.script.born), (48, 2));
        model.roots.insert(1);
        let reached = model.mark();
        model.empty(&reached);
        for id in [1, 2] {
            model.give(&object(id));
        }
        assert_eq!((model.bump, model.script.born), (24, 3));
        model.roots.clear();
        model.empty(&[]);
        assert_eq!(model.script.minors[1].dead, [0]);
    }
}
