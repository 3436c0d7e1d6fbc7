//! The reader of object graphs on bytes that are no recording, or almost one.

use std::collections::HashSet;

use surefit_trace::graph::{Reader, Stats, Step, Walk};

/// The most steps that are read of one input: a few compressed bytes may unpack to very many.
const MOST_STEPS: usize = 1 << 18;

/// Reads an input; nothing panics, and what a step names was given before and lives.
pub fn run(data: &[u8]) {
    let Ok(reader) = Reader::new(data) else {
        return;
    };
    let mut model = Model::default();
    let mut steps = 0;
    let mut is_sound = true;
    for step in reader.take(MOST_STEPS) {
        match step {
            Ok(step) => model.accept(&step),
            Err(error) => {
                is_sound = false;
                assert!(!error.to_string().contains('\n'), "an error is one line");
            }
        }
        steps += 1;
    }
    if steps < MOST_STEPS {
        let stats = Reader::new(data).and_then(Stats::read);
        assert_eq!(stats.is_ok(), is_sound, "both readings agree");
    }
}

/// The slots of every object, and what lives.
#[derive(Default)]
struct Model {
    slots: Vec<u32>,
    live: HashSet<u32>,
}

impl Model {
    fn accept(&mut self, step: &Step) {
        match step {
            Step::Class(class) => assert!((1..=self.slots.len()).contains(&(class.id as usize))),
            Step::Allocate(object) | Step::Find(object) => {
                self.slots.push(object.slots);
                assert_eq!(object.id as usize, self.slots.len());
                self.live.insert(object.id);
            }
            Step::Revive(object) => assert!(self.live.insert(object.id)),
            Step::Walk(walk) => self.walk(walk),
        }
    }

    fn walk(&mut self, walk: &Walk) {
        assert!(walk.dead.iter().all(|id| self.live.remove(id)));
        assert_eq!(walk.live.objects, self.live.len() as u64);
        for change in walk.changes() {
            assert!(self.live.contains(&change.object));
            let slots = self.slots[change.object as usize - 1];
            for reference in change.references {
                assert!(reference.slot < slots && self.live.contains(&reference.target));
            }
            assert!(
                change
                    .class_level
                    .iter()
                    .all(|target| self.live.contains(target))
            );
        }
    }
}
