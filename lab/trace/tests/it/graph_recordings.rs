//! The bundled object graphs, and the others where they lie beside the checkout: read, counted,
//! replayed on a model.

use std::collections::BTreeSet;
use std::path::Path;

use crate::common::{graph, graph_paths};
use surefit_trace::graph::{Change, Object, Reader, Stats, Step, Walk};

fn steps(path: &Path) -> impl Iterator<Item = Step> {
    let reader = Reader::open(path).expect("opens");
    reader.map(|step| step.expect("a sound recording"))
}

/// The same, read a second time: the slots of all objects are known.
fn exact_steps(path: &Path) -> impl Iterator<Item = Step> {
    let first = Reader::open(path).expect("opens");
    let layouts = first.layouts().expect("a sound recording");
    let second = Reader::open(path).expect("opens").knowing(layouts);
    second.map(|step| step.expect("sound the second time too"))
}

fn name(path: &Path) -> &str {
    let name = path.file_name().and_then(|name| name.to_str());
    name.and_then(|name| name.strip_suffix(".sfg.zst"))
        .expect("a recording")
}

/// What is published of a recording: all of some, less of those that were added later.
struct Published {
    allocations: u64,
    megabytes: Option<f64>,
    /// Megabytes that live most.
    live: f64,
    /// Distinct sizes, those of 90 % of the objects, those of 99 %.
    sizes: Option<[usize; 3]>,
}

/// The published table.
fn table(name: &str) -> Published {
    let row = |allocations, megabytes: f64, live, sizes| Published {
        allocations,
        megabytes: Some(megabytes),
        live,
        sizes: Some(sizes),
    };
    let later = |allocations, live, sizes| Published {
        allocations,
        megabytes: None,
        live,
        sizes,
    };
    match name {
        "javac" => row(870_622, 34.9, 7.0, [334, 7, 13]),
        "hsqldb" => row(291_705, 20.9, 4.4, [403, 8, 17]),
        "drools" => row(948_817, 91.6, 18.2, [1190, 8, 33]),
        "mtrt" => row(945_789, 22.8, 0.95, [16, 1, 1]),
        "raytrace" => row(793_971, 19.1, 0.84, [16, 1, 1]),
        "compress" => row(566_889, 18.3, 1.8, [58, 3, 3]),
        "sunflow" => later(1_320_016, 3.2, Some([452, 3, 6])),
        "sunflow-mt" => later(1_520_826, 3.2, None),
        "antlr" => later(677_346, 7.1, Some([428, 6, 18])),
        other => panic!("{other} is not in the table"),
    }
}

#[test]
fn the_counts_are_those_of_the_published_table() {
    for path in graph_paths() {
        let stats = Stats::read(Reader::open(&path).expect("opens")).expect("a sound recording");
        println!(
            "{}: {:?}",
            name(&path),
            Stats {
                sizes: Vec::new(),
                ..stats.clone()
            }
        );
        let published = table(name(&path));
        assert_eq!(stats.allocations, published.allocations);
        if let Some(sizes) = published.sizes {
            assert_eq!([100, 90, 99].map(|percent| stats.sizes_for(percent)), sizes);
        }
        let ratio = stats.most_live.bytes as f64 / (published.live * 1e6);
        match published.megabytes {
            // the published figure is 2 to 5 % less and does not say what it leaves out
            Some(megabytes) => {
                assert!((stats.bytes as f64 / 1e6 - megabytes).abs() <= 0.05);
                assert!((1.0..1.06).contains(&ratio), "{}: {ratio}", name(&path));
            }
            // the later ones are rounded to a tenth of a megabyte
            None => assert!((0.98..1.02).contains(&ratio), "{}: {ratio}", name(&path)),
        }
    }
}

#[test]
fn the_bundled_recordings_give_exactly_these_counts() {
    let counts = |name| {
        let reader = Reader::open(graph(name)).expect("opens");
        let stats = Stats::read(reader).expect("a sound recording");
        let live = stats.most_live;
        (
            stats.bytes,
            stats.walks,
            stats.references,
            stats.class_level,
            live.bytes,
        )
    };
    assert_eq!(
        counts("raytrace"),
        (19_108_896, 74, 36_446, 10_254, 863_824)
    );
    assert_eq!(counts("mtrt"), (22_818_688, 89, 45_701, 10_254, 972_648));
}

/// A heap without memory: what each object refers to, and who is a root. It marks and sweeps when a
/// walk ends.
#[derive(Default)]
struct Model {
    /// By id less one; `None` once collected.
    objects: Vec<Option<Thing>>,
    live: Vec<u32>,
    roots: BTreeSet<u32>,
    collections: u32,
}

#[derive(Clone, Debug, Default)]
struct Thing {
    slots: u32,
    references: Vec<u32>,
    marked: u32,
}

impl Model {
    fn thing(&mut self, id: u32) -> &mut Thing {
        let thing = self.objects[id as usize - 1].as_mut();
        thing.unwrap_or_else(|| panic!("object {id} was collected"))
    }

    fn apply(&mut self, step: &Step) {
        match step {
            Step::Class(_) => {}
            Step::Allocate(object) | Step::Find(object) => {
                self.objects.push(None);
                self.place(object);
            }
            Step::Revive(object) => self.place(object),
            Step::Walk(walk) => self.apply_walk(walk),
        }
    }

    fn place(&mut self, object: &Object) {
        let place = &mut self.objects[object.id as usize - 1];
        assert!(place.is_none(), "object {} is there already", object.id);
        let slots = object.slots;
        *place = Some(Thing {
            slots,
            ..Thing::default()
        });
        self.live.push(object.id);
    }

    fn apply_walk(&mut self, walk: &Walk) {
        walk.changes().for_each(|change| self.change(&change));
        for root in &walk.roots_lost {
            assert!(self.roots.remove(root));
        }
        for &root in &walk.roots_gained {
            assert!(self.roots.insert(root));
        }
        self.collect();
        assert_eq!(
            self.live.len() as u64,
            walk.live.objects,
            "marking finds what lives"
        );
        assert!(
            walk.dead
                .iter()
                .all(|&id| self.objects[id as usize - 1].is_none())
        );
    }

    fn change(&mut self, change: &Change<'_>) {
        let own = change.references.iter().map(|reference| reference.target);
        let targets: Vec<_> = own.chain(change.class_level.iter().copied()).collect();
        for &target in &targets {
            self.thing(target);
        }
        let thing = self.thing(change.object);
        assert!(
            change
                .references
                .iter()
                .all(|reference| reference.slot < thing.slots)
        );
        thing.references = targets;
    }

    fn collect(&mut self) {
        self.collections += 1;
        let now = self.collections;
        let mut stack: Vec<_> = self.roots.iter().copied().collect();
        while let Some(id) = stack.pop() {
            let thing = self.thing(id);
            if thing.marked != now {
                thing.marked = now;
                stack.extend(&thing.references);
            }
        }
        let objects = &mut self.objects;
        self.live.retain(|&id| {
            let place = &mut objects[id as usize - 1];
            let is_marked = place.as_ref().is_some_and(|thing| thing.marked == now);
            if !is_marked {
                *place = None;
            }
            is_marked
        });
    }
}

#[test]
fn a_collection_after_every_walk_frees_what_the_recording_logs_dead_and_nothing_else() {
    for path in graph_paths() {
        let mut model = Model::default();
        exact_steps(&path).for_each(|step| model.apply(&step));
        assert!(model.collections > 0, "{} has no walk", name(&path));
    }
}

#[test]
fn a_second_reading_differs_in_slots_alone_and_has_fewer() {
    for path in graph_paths() {
        let mut slots = [0_u64; 2];
        for (first, second) in steps(&path).zip(exact_steps(&path)) {
            match (first, second) {
                (Step::Find(first), Step::Find(second)) => {
                    assert!(second.slots <= first.slots);
                    assert_eq!(
                        Object {
                            slots: first.slots,
                            ..second
                        },
                        first
                    );
                    slots[0] += u64::from(first.slots);
                    slots[1] += u64::from(second.slots);
                }
                (Step::Revive(first), Step::Revive(second)) => assert_eq!(first.id, second.id),
                (first, second) => assert_eq!(first, second),
            }
        }
        println!("{}: slots of found objects {slots:?}", name(&path));
        assert!(slots[1] < slots[0]);
    }
}
