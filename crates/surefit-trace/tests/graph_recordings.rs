//! The bundled object graphs, and the others where they lie beside the checkout: read, counted, replayed on a model.

mod common;

use std::collections::{HashMap, HashSet};
use std::path::Path;

use common::{graph, graph_paths};
use surefit_trace::graph::{Change, Object, Reader, Stats, Step, Walk};

fn steps(path: &Path) -> impl Iterator<Item = Step> {
    let reader = Reader::open(path).expect("opens");
    reader.map(|step| step.expect("a sound recording"))
}

fn name(path: &Path) -> &str {
    let name = path.file_name().and_then(|name| name.to_str());
    name.and_then(|name| name.strip_suffix(".sfg.zst"))
        .expect("a recording")
}

/// `(allocations, allocated MB, most live MB, distinct sizes, sizes of 90 % of the objects, of 99 %)`: the published table.
fn table(name: &str) -> (u64, f64, f64, [usize; 3]) {
    match name {
        "javac" => (870_622, 34.9, 7.0, [334, 7, 13]),
        "hsqldb" => (291_705, 20.9, 4.4, [403, 8, 17]),
        "drools" => (948_817, 91.6, 18.2, [1190, 8, 33]),
        "mtrt" => (945_789, 22.8, 0.95, [16, 1, 1]),
        "raytrace" => (793_971, 19.1, 0.84, [16, 1, 1]),
        "compress" => (566_889, 18.3, 1.8, [58, 3, 3]),
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
        let (allocations, megabytes, live, sizes) = table(name(&path));
        assert_eq!(stats.allocations, allocations);
        assert!((stats.bytes as f64 / 1e6 - megabytes).abs() <= 0.05);
        assert_eq!([100, 90, 99].map(|percent| stats.sizes_for(percent)), sizes);
        // the table's most live is what its replay kept; the recording logs some deaths a walk later
        let ratio = stats.most_live.bytes as f64 / (live * 1e6);
        assert!((1.0..1.06).contains(&ratio), "{}: {ratio}", name(&path));
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

/// A heap without memory: what each object refers to, and who is a root.
#[derive(Default)]
struct Model {
    objects: HashMap<u32, (Object, Vec<u32>)>,
    roots: HashSet<u32>,
    /// Given since the last walk ended.
    young: HashSet<u32>,
    kept_longer: usize,
}

impl Model {
    fn apply(&mut self, step: &Step) {
        match step {
            Step::Class(_) => {}
            Step::Allocate(object) | Step::Find(object) => self.place(*object),
            Step::Revive(object) if self.objects.contains_key(&object.id) => {
                self.young.insert(object.id);
            }
            Step::Revive(object) => self.place(*object),
            Step::Walk(walk) => self.apply_walk(walk),
        }
    }

    fn place(&mut self, object: Object) {
        let before = self.objects.insert(object.id, (object, Vec::new()));
        assert_eq!(before, None, "an id is used once");
        self.young.insert(object.id);
    }

    fn apply_walk(&mut self, walk: &Walk) {
        for change in walk.changes() {
            self.change(&change);
        }
        for id in &walk.roots_lost {
            assert!(self.roots.remove(id));
        }
        self.roots.extend(&walk.roots_gained);
        self.young.clear();
        self.collect();
        self.kept_longer = walk
            .dead
            .iter()
            .filter(|id| self.objects.contains_key(id))
            .count();
    }

    /// Fails if a reference names an object that was collected.
    fn change(&mut self, change: &Change<'_>) {
        let own = change.references.iter().map(|reference| reference.target);
        let targets: Vec<_> = own.chain(change.class_level.iter().copied()).collect();
        for target in &targets {
            assert!(self.objects.contains_key(target), "{target} was collected");
        }
        let (object, references) = self.objects.get_mut(&change.object).expect("not collected");
        let slots = object.slots;
        assert!(
            change
                .references
                .iter()
                .all(|reference| reference.slot < slots)
        );
        *references = targets;
    }

    fn collect(&mut self) {
        let roots = self.roots.iter().chain(&self.young);
        let mut reached = HashSet::new();
        let mut stack: Vec<u32> = roots
            .copied()
            .filter(|id| self.objects.contains_key(id))
            .collect();
        while let Some(id) = stack.pop() {
            if reached.insert(id) {
                stack.extend(&self.objects[&id].1);
            }
        }
        assert!(
            self.roots.iter().all(|root| reached.contains(root)),
            "a root was collected"
        );
        self.objects.retain(|id, _| reached.contains(id));
    }
}

#[test]
fn a_collection_after_every_walk_frees_nothing_that_is_used_later() {
    for path in graph_paths() {
        let mut model = Model::default();
        let mut kept_longer = 0;
        for step in steps(&path) {
            model.apply(&step);
            kept_longer += std::mem::take(&mut model.kept_longer);
        }
        println!(
            "{}: {kept_longer} objects logged dead were kept longer",
            name(&path)
        );
    }
}
