//! A campaign of flips: what `check` of a collector does not tell must do no harm in a drive beside
//! a naive model.
//!
//! Every word that a collector keeps beside its heap is changed: bits, stacks, and what it knows of
//! the objects and of the cycle that runs. The words of the heaps are in the campaigns of their
//! crates. Left out by name is what docs/guarantees.md says.

extern crate alloc;
extern crate std;

use alloc::boxed::Box;
use alloc::collections::{BTreeMap, BTreeSet};
use alloc::format;
use alloc::string::String;
use alloc::vec::Vec;
use core::cell::Cell;
use core::mem::MaybeUninit;
use core::panic::AssertUnwindSafe;
use core::ptr::NonNull;
use std::panic::catch_unwind;

use surefit_testkit::Random;
use surefit_testkit::flips::{Verdict, campaign};

use crate::client::{Client, Living, Scanned};
use crate::collector::Collector;
use crate::edges::Edges;
use crate::object::Object;
use crate::space::Space;

// ---- words -------------------------------------------------------------------------------------

/// A word of a table: what it is called, and how it is read and written.
pub(crate) struct Word {
    name: &'static str,
    bytes: usize,
    get: Box<dyn Fn() -> u64>,
    set: Box<dyn Fn(u64)>,
}

impl Word {
    /// What lies at a place, as a number of so many bytes: `write` makes a value of any of them.
    pub(crate) fn coded<T: Copy + 'static>(
        name: &'static str,
        place: &mut T,
        bytes: usize,
        read: fn(T) -> u64,
        write: fn(u64) -> T,
    ) -> Self {
        let place = NonNull::from(place);
        Self {
            name,
            bytes,
            // SAFETY: a field of the collector, or of its region; it stays where it is while it is
            // attacked, and nobody refers to it between two calls.
            get: Box::new(move || read(unsafe { place.read() })),
            // SAFETY: as above.
            set: Box::new(move |value| unsafe { place.write(write(value)) }),
        }
    }

    pub(crate) fn long(name: &'static str, place: &mut u64) -> Self {
        Self::coded(name, place, 8, |value| value, |value| value)
    }

    pub(crate) fn short(name: &'static str, place: &mut u32) -> Self {
        Self::coded(name, place, 4, u64::from, |value| value as u32)
    }

    pub(crate) fn size(name: &'static str, place: &mut usize) -> Self {
        let bytes = size_of::<usize>();
        Self::coded(
            name,
            place,
            bytes,
            |value| value as u64,
            |value| value as usize,
        )
    }

    pub(crate) fn flag(name: &'static str, place: &mut bool) -> Self {
        Self::coded(name, place, 1, u64::from, |value| value & 1 == 1)
    }

    /// None is 0.
    pub(crate) fn object(name: &'static str, place: &mut Option<Object>) -> Self {
        let read = |object: Option<Object>| object.map_or(0, Object::number).into();
        Self::coded(name, place, 4, read, |value| Object::of(value as u32))
    }

    pub(crate) fn cell(name: &'static str, cell: &Cell<u64>) -> Self {
        let place = NonNull::new(cell.as_ptr()).expect("a place");
        Self {
            name,
            bytes: 8,
            // SAFETY: as in `coded`.
            get: Box::new(move || unsafe { place.read() }),
            // SAFETY: as in `coded`.
            set: Box::new(move |value| unsafe { place.write(value) }),
        }
    }

    pub(crate) fn half(name: &'static str, cell: &Cell<u32>) -> Self {
        let mut place = NonNull::new(cell.as_ptr()).expect("a place");
        // SAFETY: as in `coded`.
        Self::short(name, unsafe { place.as_mut() })
    }

    pub(crate) fn table(name: &'static str, table: &mut [u64]) -> impl Iterator<Item = Self> {
        table.iter_mut().map(move |word| Self::long(name, word))
    }
}

/// What has words beside a heap.
pub(crate) trait Words {
    fn add_words(&mut self, words: &mut Vec<Word>);
}

impl<S: Words, K> Words for Collector<'_, S, K> {
    fn add_words(&mut self, words: &mut Vec<Word>) {
        words.extend(Word::table("live bits", self.live.words_mut()));
        words.extend(Word::table("mark bits", self.marks.words_mut()));
        words.extend(Word::table("mark stack", self.stack));
        self.space.add_words(words);
    }
}

/// The name of a word, what it was, and what it is now.
pub(crate) type Changed = (&'static str, u64, u64);

/// What is attacked: something at a place, its words, and its region.
pub(crate) struct Target<T> {
    pub(crate) subject: NonNull<T>,
    pub(crate) words: Vec<Word>,
    pub(crate) region: (NonNull<u8>, usize),
}

/// Changes the words. `is_sound` checks, `drive` returns what was served; `leaves_out` says which
/// changes are left out.
pub(crate) fn attack<T, R: PartialEq>(
    name: &str,
    target: &Target<T>,
    slice: usize,
    mut is_sound: impl FnMut(&mut T) -> bool,
    mut drive: impl FnMut(&mut T) -> Result<R, String>,
    leaves_out: impl Fn(&[Changed]) -> bool,
) {
    let Target { words, region, .. } = target;
    let own = (target.subject.cast(), size_of::<T>());
    let images = [own, *region].map(|(place, bytes)| {
        let bytes = NonNull::slice_from_raw_parts(place.cast::<MaybeUninit<u8>>(), bytes);
        // SAFETY: the collector, or its region; some of their bytes may not be initialised.
        (place, Vec::from(unsafe { bytes.as_ref() }))
    });
    let restore = || {
        for (place, bytes) in &images {
            // SAFETY: as above; nobody refers to them now.
            unsafe { bytes.as_ptr().copy_to(place.as_ptr().cast(), bytes.len()) };
        }
    };
    let mut place = target.subject;
    // SAFETY: the collector, which nobody else uses while it is attacked.
    let mut subject = || unsafe { place.as_mut() };
    assert!(is_sound(subject()), "{name}");
    restore();
    let reference = drive(subject());
    assert!(reference.is_ok(), "{name}: {:?}", reference.err());
    restore();
    let (mut table, mut ranges) = (Vec::new(), Vec::new());
    for word in words {
        ranges.push(table.len()..table.len() + word.bytes);
        table.extend_from_slice(&(word.get)().to_le_bytes()[..word.bytes]);
    }
    campaign(name, &table, &ranges, slice, &mut |changed, changes| {
        let (mut what, mut all) = (String::new(), Vec::new());
        for change in changes {
            let at = ranges.partition_point(|range| range.start < change.at);
            let mut value = [0; 8];
            value[..change.bytes].copy_from_slice(&changed[ranges[at].clone()]);
            let (word, wrong) = (&words[at], u64::from_le_bytes(value));
            let right = (word.get)();
            what += &format!("{} {right:#x} -> {wrong:#x}, ", word.name);
            all.push((word.name, right, wrong));
            (word.set)(wrong);
        }
        let verdict = match catch_unwind(AssertUnwindSafe(|| is_sound(subject()))) {
            Ok(false) => Verdict::Told,
            Err(_) => Verdict::Silent(what + "check panics"),
            Ok(true) if leaves_out(&all) => Verdict::LeftOut,
            Ok(true) => match catch_unwind(AssertUnwindSafe(|| drive(subject()))) {
                Ok(seen) if seen == reference => Verdict::Harmless,
                Ok(Ok(_)) => Verdict::Silent(what + "served otherwise"),
                Ok(Err(error)) => Verdict::Silent(what + &error),
                Err(_) => Verdict::Silent(what + "the drive panics"),
            },
        };
        restore();
        verdict
    });
}

// ---- programs of words -------------------------------------------------------------------------

/// A collector of words under the campaign.
pub(crate) trait Subject {
    fn is_sound(&mut self) -> bool;
    fn alloc(&mut self, program: &mut Program, bytes: usize) -> Option<Object>;
    /// With the barrier.
    fn store(&mut self, object: Object, word: u32, to: Option<Object>);
    fn store_data(&mut self, object: Object, word: u32, value: u32);
    fn load(&mut self, object: Object, word: u32) -> u32;
    /// What a weak reference leads to.
    fn upgrade(&mut self, object: Object) -> bool;
    /// A part of a collection.
    fn work(&mut self, program: &mut Program);
    fn collect(&mut self, program: &mut Program);
    fn live(&mut self) -> usize;
}

/// References in an object; its other words are data.
const SLOTS: u32 = 2;

/// The roots and the weak references of a program.
#[derive(Clone, Debug, Default)]
pub(crate) struct Program {
    roots: Vec<Object>,
    weak: Vec<Object>,
}

impl<S: Space> Client<S> for Program {
    fn roots(&mut self, edges: &mut Edges<'_>) {
        self.roots.iter().for_each(|&root| edges.report(root));
    }

    fn scan(&mut self, object: &Scanned<'_, S>, from: u32, edges: &mut Edges<'_>) {
        if from + 1 < SLOTS {
            edges.again_from(from + 1);
        }
        if let Some(target) = object.reference(from) {
            edges.report(target);
        }
    }

    fn weak(&mut self, living: &Living<'_>) {
        self.weak.retain(|&object| living.contains(object));
    }
}

/// An object as the model knows it.
#[derive(Clone, Debug)]
struct Node {
    slots: [u32; SLOTS as usize],
    words: u32,
    seed: u32,
}

impl Node {
    /// What a word of data must be: no object has such a number.
    fn word(&self, word: u32) -> u32 {
        self.seed.wrapping_mul(0x0100_0193) ^ word | 1 << 31
    }
}

/// A collector, its program, and the model.
pub(crate) struct Drive<'s> {
    subject: &'s mut dyn Subject,
    state: State,
    granted: Vec<bool>,
}

#[derive(Clone, Debug)]
pub(crate) struct State {
    pub(crate) program: Program,
    nodes: BTreeMap<Object, Node>,
    random: u64,
}

impl<'s> Drive<'s> {
    pub(crate) fn new(subject: &'s mut dyn Subject) -> Self {
        let state = State {
            program: Program::default(),
            nodes: BTreeMap::new(),
            random: 3,
        };
        Self::on(subject, state)
    }

    fn on(subject: &'s mut dyn Subject, state: State) -> Self {
        let granted = Vec::new();
        Self {
            subject,
            state,
            granted,
        }
    }

    pub(crate) fn state(self) -> State {
        self.state
    }

    fn below(&mut self, bound: usize) -> usize {
        let mut random = Random(self.state.random);
        let below = random.below(bound.max(1));
        self.state.random = random.0;
        below
    }

    /// What the roots lead to. The model forgets all else.
    fn reached(&mut self) -> Vec<Object> {
        let (mut seen, mut queue) = (BTreeSet::new(), self.state.program.roots.clone());
        while let Some(object) = queue.pop() {
            if seen.insert(object) {
                let slots = self.state.nodes[&object].slots;
                queue.extend(slots.into_iter().filter_map(Object::of));
            }
        }
        self.state.nodes.retain(|object, _| seen.contains(object));
        seen.into_iter().collect()
    }

    /// Looks at all that the roots lead to.
    fn look(&mut self) -> Result<(), String> {
        for object in self.reached() {
            let node = &self.state.nodes[&object];
            let slots = node
                .slots
                .into_iter()
                .chain((SLOTS..node.words).map(|w| node.word(w)));
            for (word, right) in slots.enumerate() {
                if self.subject.load(object, word as u32) != right {
                    return Err(format!("word {word} of {object:?} is lost"));
                }
            }
        }
        Ok(())
    }

    fn alloc(&mut self, words: u32) -> Result<bool, String> {
        let program = &mut self.state.program;
        let object = self.subject.alloc(program, words as usize * 4);
        self.granted.push(object.is_some());
        let Some(object) = object else {
            return Ok(false);
        };
        if self.reached().contains(&object) {
            return Err(format!("{object:?} is given twice"));
        }
        let node = Node {
            slots: [0; SLOTS as usize],
            words,
            seed: self.granted.len() as u32,
        };
        for word in 0..words {
            if self.subject.load(object, word) != 0 {
                return Err(format!("word {word} of {object:?} is not clear"));
            }
        }
        for word in SLOTS..words {
            self.subject.store_data(object, word, node.word(word));
        }
        self.state.nodes.insert(object, node);
        self.state.program.roots.push(object);
        Ok(true)
    }

    fn step(&mut self) -> Result<(), String> {
        let reached = self.reached();
        let [one, other] = [(); 2].map(|()| self.below(reached.len()));
        let word = self.below(SLOTS as usize);
        let root = self.below(self.state.program.roots.len());
        match self.below(12) {
            _ if reached.is_empty() => _ = self.alloc(4)?,
            0..3 => {
                let to = [0, reached[other].number()][usize::from(self.below(4) > 0)];
                let node = self.state.nodes.get_mut(&reached[one]).expect("reached");
                node.slots[word] = to;
                self.subject
                    .store(reached[one], word as u32, Object::of(to));
            }
            3..6 => {
                _ = self
                    .state
                    .program
                    .roots
                    .swap_remove(root.min(self.state.program.roots.len() - 1))
            }
            6 => self.state.program.weak.push(reached[one]),
            7 => {
                // The object that a root leads to is in a slot of another one as well.
                let node = self.state.nodes.get_mut(&reached[one]).expect("reached");
                let root = self.state.program.roots[root];
                node.slots[word] = root.number();
                self.subject.store(reached[one], word as u32, Some(root));
            }
            8 => {
                // Upgraded: a root again, if it is not freed.
                let weak = self.below(self.state.program.weak.len());
                let weak = self.state.program.weak.get(weak).copied();
                if let Some(object) = weak.filter(|object| self.state.nodes.contains_key(object)) {
                    if !self.subject.upgrade(object) {
                        return Err(format!("{object:?} is not upgraded"));
                    }
                    self.state.program.roots.push(object);
                }
            }
            _ => {
                let words = LENS[self.below(LENS.len())];
                self.alloc(words)?;
            }
        }
        Ok(())
    }

    /// So many steps, and work between them.
    pub(crate) fn steps(&mut self, steps: usize) -> Result<(), String> {
        for nth in 0..steps {
            self.step()?;
            if nth % 4 == 3 {
                self.subject.work(&mut self.state.program);
            }
        }
        self.look()
    }

    /// A collection: what is reached lives, and nothing else.
    fn collect(&mut self) -> Result<(), String> {
        self.subject.collect(&mut self.state.program);
        self.look()?;
        let (reached, live) = (self.reached(), self.subject.live());
        let weak = &self.state.program.weak;
        match reached.len() == live && weak.iter().all(|weak| reached.contains(weak)) {
            true => Ok(()),
            false => Err(format!("{live} live of {}", reached.len())),
        }
    }

    /// Everything that calls can do: to the end, nothing lives.
    pub(crate) fn whole(mut self) -> Result<Vec<bool>, String> {
        self.look()?;
        self.steps(40)?;
        self.collect()?;
        for nth in 0..400 {
            let granted = self.alloc(LENS[nth % LENS.len()])?;
            if !granted
                && self
                    .granted
                    .iter()
                    .rev()
                    .take_while(|&&granted| !granted)
                    .count()
                    > 3
            {
                break;
            }
        }
        self.look()?;
        let half = self.state.program.roots.len() / 2;
        self.state.program.roots.truncate(half);
        self.steps(40)?;
        self.collect()?;
        self.state.program.roots.clear();
        self.collect()?;
        let sound = self.subject.is_sound();
        sound
            .then_some(self.granted)
            .ok_or("check objects later".into())
    }
}

/// Attacks a collector of words in a state that a program led to.
pub(crate) fn attack_words<T: Subject + Words>(
    name: &str,
    (subject, region): (&mut T, (NonNull<u8>, usize)),
    state: &State,
    slice: usize,
    leaves_out: impl Fn(&[Changed]) -> bool,
) {
    let mut words = Vec::new();
    subject.add_words(&mut words);
    let subject = NonNull::from(subject);
    let target = Target {
        subject,
        words,
        region,
    };
    let drive = |subject: &mut T| Drive::on(subject, state.clone()).whole();
    attack(name, &target, slice, T::is_sound, drive, leaves_out);
}

/// Memory that holds junk, at a page.
pub(crate) fn region(bytes: usize) -> (&'static mut [MaybeUninit<u8>], (NonNull<u8>, usize)) {
    let words = alloc::vec![MaybeUninit::new(0x5a5a_5a5a_5a5a_5a5a_u64); bytes / 8 + 512].leak();
    let first = words.as_ptr().align_offset(4096);
    let words = &mut words[first..][..bytes / 8];
    let place = NonNull::from(&mut *words).cast();
    // SAFETY: all of the words, which nobody else refers to.
    let memory = unsafe { NonNull::slice_from_raw_parts(place.cast(), bytes).as_mut() };
    (memory, (place, bytes))
}

impl<S: Space> Subject for Collector<'_, S> {
    fn is_sound(&mut self) -> bool {
        self.check().is_ok()
    }

    fn alloc(&mut self, program: &mut Program, bytes: usize) -> Option<Object> {
        Collector::alloc(self, program, bytes).ok()
    }

    fn store(&mut self, object: Object, word: u32, to: Option<Object>) {
        Collector::store(self, object, word, to);
    }

    fn store_data(&mut self, object: Object, word: u32, value: u32) {
        Collector::store_data(self, object, word, value);
    }

    fn load(&mut self, object: Object, word: u32) -> u32 {
        Collector::load(self, object, word)
    }

    fn upgrade(&mut self, object: Object) -> bool {
        self.contains(object)
    }

    fn work(&mut self, _: &mut Program) {}

    fn collect(&mut self, program: &mut Program) {
        Collector::collect(self, program);
    }

    fn live(&mut self) -> usize {
        self.objects().count()
    }
}

// ---- collectors that stop the program ----------------------------------------------------------

use surefit_compact::{Bound, Config, Geometry, GeometrySpec};
use surefit_freelist::{Bitmap, Deferred, Immediate, Segregated, Tree};

use crate::compact_fit::CompactFit;
use crate::free_list::FreeList;
use crate::settings::Settings;

pub(crate) type Lists = FreeList<'static, Segregated<Bitmap, Immediate, Tree, 16>>;
pub(crate) type Unmerged = FreeList<'static, Segregated<Bitmap, Deferred, Tree, 16>>;

/// Sizes, in words, that are served everywhere; the last one is in pieces over Compact-fit.
pub(crate) const LENS: [u32; 6] = [2, 4, 3, 9, 14, 40];

/// Small pages, and pieces of 64 bytes.
pub(crate) fn config() -> &'static Config {
    let spec = GeometrySpec {
        page_bytes: 1024,
        ..CompactFit::GEOMETRY
    };
    let config = Config::new(Geometry::new(&spec).expect("valid"), Bound::DEFAULT);
    Box::leak(Box::new(
        config.expect("valid").with_pieces(Some(64)).expect("valid"),
    ))
}

pub(crate) fn settings(limit: usize) -> Settings {
    Settings {
        mark_stack: 3,
        limit,
        large_from: 100,
        ..Settings::default()
    }
}

/// A collector after some steps.
pub(crate) fn driven<T: Subject>(mut subject: T) -> (Box<T>, State) {
    let mut drive = Drive::new(&mut subject);
    drive.steps(100).expect("sound");
    let state = drive.state();
    (Box::new(subject), state)
}

/// What a program asked for says how much is left to large objects, and from which size on small
/// ones may lie among them.
pub(crate) fn is_asked(changes: &[Changed]) -> bool {
    let hints = ["reserve", "displaced_from"];
    changes.iter().any(|(name, ..)| hints.contains(name))
}

#[test]
fn flips_of_a_collector_over_lists_are_told_or_harmless() {
    let (memory, place) = region(6 << 10);
    let gc = Collector::<Lists>::new(memory, settings(2 << 10)).expect("large enough");
    let (mut gc, state) = driven(gc);
    let name = "Collector over free lists";
    attack_words(name, (&mut *gc, place), &state, 37, is_asked);
}

#[test]
fn flips_of_a_collector_over_pages_are_told_or_harmless() {
    let (memory, place) = region(12 << 10);
    let gc = Collector::compact_fit(memory, config(), 3).expect("large enough");
    let (mut gc, state) = driven(gc);
    let name = "Collector over Compact-fit";
    attack_words(name, (&mut *gc, place), &state, 37, is_asked);
}

#[test]
fn flips_of_a_collector_with_a_nursery_are_told_or_harmless() {
    let (memory, place) = region(14 << 10);
    let gc = Collector::nursery(memory, config(), 2 << 10, 3).expect("large enough");
    let (mut gc, state) = driven(gc);
    let name = "Collector over Compact-fit with a nursery";
    attack_words(name, (&mut *gc, place), &state, 37, is_asked);
}
