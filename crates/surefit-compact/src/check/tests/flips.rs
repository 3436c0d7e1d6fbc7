//! A campaign of flips: what `check` does not tell must do no harm in a drive beside a naive model.
//!
//! `Fields` names all words. Here each is flipped bit by bit, set to zeros, ones and to its
//! neighbours, and then two at once, in heaps with full, not full, empty and parked page-blocks,
//! objects in pieces, freed and retired entries. Left out by name is what docs/guarantees.md says.

use core::mem::MaybeUninit;
use core::panic::AssertUnwindSafe;
use core::ptr::NonNull;
use std::panic::catch_unwind;

use surefit_testkit::flips::{Verdict, campaign};
use surefit_testkit::{JunkRegion, Random, layout};

use super::*;
use crate::byte_key::ByteKey;
use crate::contiguous::Contiguous;
use crate::entries::EntryHeap;
use crate::handle::Name;
use crate::key::KeyHeap;
use crate::width::Counted;

/// An object as the model knows it.
#[derive(Clone, Debug)]
pub(crate) struct Named {
    pub(crate) entry: u32,
    pub(crate) key: Option<ByteKey<u8>>,
    /// What else names it, in heaps that threads share: the number of an instance, or a generation.
    pub(crate) number: u32,
    pub(crate) len: usize,
    pub(crate) seed: u8,
}

impl Named {
    pub(crate) fn new(entry: u32, len: usize) -> Self {
        let (key, seed, number) = (None, 0, 0);
        Self {
            entry,
            key,
            number,
            len,
            seed,
        }
    }

    /// What its bytes must be: none is below 128, so that no word of them names an entry.
    fn pattern(&self) -> Vec<u8> {
        let first = self.seed.wrapping_mul(37);
        let byte = |at: usize| first.wrapping_add((at ^ at >> 7) as u8) | 0x80;
        (0..self.len).map(byte).collect()
    }
}

/// What changes in a heap, as bytes: itself and its region, for example.
pub(crate) type Images = Vec<(NonNull<u8>, usize)>;

/// A heap under the campaign.
pub(crate) trait Subject {
    fn is_sound(&self) -> bool;
    fn alloc(&mut self, len: usize) -> Option<Named>;
    fn free(&mut self, object: &Named) -> bool;
    fn resize(&mut self, object: &mut Named, len: usize) -> bool;
    fn write(&mut self, object: &Named, bytes: &[u8]) -> bool;
    fn read(&self, object: &Named, bytes: &mut [u8]) -> bool;
    /// Another call, by a number.
    fn other(&mut self, number: usize);
    fn live(&self) -> u32;
    fn words(&self) -> Vec<Field>;
    /// Brings the heap into a state that calls leave only for a moment, before it is changed.
    fn prepare(&mut self, _: &[Named]) {}
    fn images(&mut self) -> Images;
}

fn images<T, W: Width>(heap: &mut T, engine: impl Fn(&T) -> &Engine<'_, W>) -> Images {
    let memory = &engine(heap).pages.memory;
    // SAFETY: the region's first byte.
    let region = (unsafe { memory.address(0) }, memory.len());
    Vec::from([(NonNull::from(heap).cast(), size_of::<T>()), region])
}

impl<W: Width> Heap<'_, W> {
    fn bytes<B: crate::handle::Byte>(&self, object: &Named) -> Bytes<B> {
        Bytes::new(Name::new(object.entry, self.id), object.len)
    }
}

impl<W: Width> Subject for Heap<'_, W> {
    fn is_sound(&self) -> bool {
        self.check().is_ok()
    }

    fn alloc(&mut self, len: usize) -> Option<Named> {
        let bytes = Heap::alloc(self, layout(len)).ok()?;
        Some(Named::new(bytes.name.index(), len))
    }

    fn free(&mut self, object: &Named) -> bool {
        self.free_bytes(self.bytes::<u8>(object));
        true
    }

    fn resize(&mut self, object: &mut Named, len: usize) -> bool {
        let mut bytes = self.bytes::<u8>(object);
        let resized = Heap::resize(self, &mut bytes, layout(len)).is_ok();
        (object.entry, object.len) = (bytes.name.index(), bytes.len());
        resized
    }

    fn write(&mut self, object: &Named, bytes: &[u8]) -> bool {
        self.write_at(&mut self.bytes::<u8>(object), 0, bytes);
        true
    }

    fn read(&self, object: &Named, bytes: &mut [u8]) -> bool {
        self.read_at(&self.bytes::<u8>(object), 0, bytes);
        true
    }

    fn other(&mut self, number: usize) {
        match number % 3 {
            0 => _ = self.compact(3),
            1 => _ = self.raise_limit(2048),
            _ => _ = self.lower_limit(2 * 2048),
        }
    }

    fn live(&self) -> u32 {
        self.stats().live_blocks
    }

    fn words(&self) -> Vec<Field> {
        Fields::of(self)
    }

    fn images(&mut self) -> Images {
        images(self, |heap| &heap.engine)
    }
}

/// A heap whose objects are contiguous.
struct InWindows<'m>(Heap<'m, Wide>);

impl InWindows<'_> {
    fn object(&self, object: &Named) -> Contiguous<u8> {
        Contiguous::new(Name::new(object.entry, self.0.id), object.len)
    }
}

impl Subject for InWindows<'_> {
    fn is_sound(&self) -> bool {
        self.0.check().is_ok()
    }

    fn alloc(&mut self, len: usize) -> Option<Named> {
        let object = self.0.alloc_contiguous_zeroed(layout(len)).ok()?;
        Some(Named::new(object.name.index(), len))
    }

    fn free(&mut self, object: &Named) -> bool {
        self.0.free_contiguous(self.object(object));
        true
    }

    fn resize(&mut self, object: &mut Named, len: usize) -> bool {
        let mut other = self.object(object);
        let resized = self.0.resize_contiguous(&mut other, layout(len)).is_ok();
        (object.entry, object.len) = (other.name.index(), other.len());
        resized
    }

    fn write(&mut self, object: &Named, bytes: &[u8]) -> bool {
        let mut object = self.object(object);
        self.0.contiguous_mut(&mut object).copy_from_slice(bytes);
        true
    }

    fn read(&self, object: &Named, bytes: &mut [u8]) -> bool {
        bytes.copy_from_slice(self.0.contiguous(&self.object(object)));
        true
    }

    fn other(&mut self, number: usize) {
        self.0.other(number);
    }

    fn live(&self) -> u32 {
        self.0.live()
    }

    fn words(&self) -> Vec<Field> {
        self.0.words()
    }

    fn images(&mut self) -> Images {
        self.0.images()
    }
}

impl<W: Width<Generation = ()>, G: Counted> Subject for KeyHeap<'_, W, G> {
    fn is_sound(&self) -> bool {
        self.check().is_ok()
    }

    fn alloc(&mut self, len: usize) -> Option<Named> {
        let key = self.alloc_zeroed(layout(len)).ok();
        let named = |key| Named {
            key: Some(key),
            ..Named::new(0, len)
        };
        key.map(named)
    }

    fn free(&mut self, object: &Named) -> bool {
        object.key.is_some_and(|key| self.free_bytes(key).is_ok())
    }

    fn resize(&mut self, object: &mut Named, len: usize) -> bool {
        let key = object.key.expect("an object of a heap of keys");
        let Ok(key) = KeyHeap::resize(self, key, layout(len)) else {
            return false;
        };
        (object.key, object.len) = (Some(key), len);
        true
    }

    fn write(&mut self, object: &Named, bytes: &[u8]) -> bool {
        object
            .key
            .is_some_and(|key| self.write_at(key, 0, bytes).is_ok())
    }

    fn read(&self, object: &Named, bytes: &mut [u8]) -> bool {
        object
            .key
            .is_some_and(|key| self.read_at(key, 0, bytes).is_ok())
    }

    fn other(&mut self, _: usize) {
        self.compact(3);
    }

    fn live(&self) -> u32 {
        self.stats().live_blocks
    }

    fn words(&self) -> Vec<Field> {
        Fields::of(self.as_heap())
    }

    fn images(&mut self) -> Images {
        images(self, |heap| &heap.as_heap().engine)
    }
}

// ---- the drive ---------------------------------------------------------------------------------

/// A heap and its model.
struct Drive<'s> {
    subject: &'s mut dyn Subject,
    live: Vec<Named>,
    lens: &'s [usize],
    /// What was granted, and the counts.
    seen: Vec<u32>,
    random: Random,
}

impl<'s> Drive<'s> {
    fn new(subject: &'s mut dyn Subject, live: Vec<Named>, lens: &'s [usize], seed: u64) -> Self {
        Self {
            subject,
            live,
            lens,
            seen: Vec::new(),
            random: Random(seed),
        }
    }

    fn fill(&mut self, object: &mut Named) -> Result<(), String> {
        object.seed = self.seen.len() as u8;
        let written = self.subject.write(object, &object.pattern());
        written.then_some(()).ok_or("an object is not found".into())
    }

    fn look(&self, object: &Named) -> Result<(), String> {
        let mut bytes = Vec::from_iter(core::iter::repeat_n(0, object.len));
        let found = self.subject.read(object, &mut bytes) && bytes == object.pattern();
        found.then_some(()).ok_or("an object lost its bytes".into())
    }

    fn look_at_all(&self) -> Result<(), String> {
        self.live.iter().try_for_each(|object| self.look(object))
    }

    fn alloc(&mut self, len: usize) -> Result<bool, String> {
        let object = self.subject.alloc(len);
        let granted = object.is_some();
        self.seen.push(granted.into());
        if let Some(mut object) = object {
            self.fill(&mut object)?;
            self.live.push(object);
        }
        Ok(granted)
    }

    fn free(&mut self, at: usize) -> Result<(), String> {
        let object = self.live.swap_remove(at);
        self.look(&object)?;
        let freed = self.subject.free(&object);
        freed.then_some(()).ok_or("an object is not freed".into())
    }

    fn resize(&mut self, at: usize, len: usize) -> Result<(), String> {
        let mut object = self.live.swap_remove(at);
        self.look(&object)?;
        let mut bytes = object.pattern();
        let resized = self.subject.resize(&mut object, len);
        self.seen.push(resized.into());
        let kept = object.len.min(bytes.len());
        let mut now = Vec::from_iter(core::iter::repeat_n(0, object.len));
        bytes.truncate(kept);
        if !self.subject.read(&object, &mut now) || now[..kept] != bytes {
            return Err("a resize lost bytes".into());
        }
        self.fill(&mut object)?;
        self.live.push(object);
        Ok(())
    }

    fn steps(&mut self, steps: usize) -> Result<(), String> {
        for step in 0..steps {
            let len = self.lens[self.random.below(self.lens.len())];
            let at = self.random.below(self.live.len().max(1));
            match self.random.below(8) {
                0..3 if !self.live.is_empty() => self.free(at)?,
                3 if !self.live.is_empty() => self.resize(at, len)?,
                _ => _ = self.alloc(len)?,
            }
            if step % 16 == 15 {
                self.subject.other(step / 16);
            }
        }
        self.seen.push(self.subject.live());
        self.look_at_all()
    }

    /// Everything that calls can do: to the end, the heap is empty.
    fn whole(mut self) -> Result<Vec<u32>, String> {
        self.look_at_all()?;
        self.steps(48)?;
        let mut refused = 0;
        for number in 0.. {
            if refused == self.lens.len() {
                break;
            }
            let granted = self.alloc(self.lens[number % self.lens.len()])?;
            refused = if granted { 0 } else { refused + 1 };
        }
        self.look_at_all()?;
        for at in (0..self.live.len()).step_by(2).rev() {
            self.free(at)?;
        }
        self.steps(48)?;
        while !self.live.is_empty() {
            self.free(self.live.len() / 2)?;
        }
        self.steps(0)?;
        let sound = self.subject.is_sound();
        sound
            .then_some(self.seen)
            .ok_or("check objects later".into())
    }
}

/// The bytes of a heap and of its region.
fn images_of(subject: &mut dyn Subject) -> Vec<(NonNull<u8>, Vec<MaybeUninit<u8>>)> {
    let images = subject.images().into_iter().map(|(place, bytes)| {
        // SAFETY: the heap and its region; some of their bytes may not be initialised.
        let bytes = unsafe { NonNull::slice_from_raw_parts(place.cast(), bytes).as_ref() };
        (place, Vec::from(bytes))
    });
    images.collect()
}

/// The name of a word, what it was, and what it is now.
pub(crate) type Changed<'a> = (&'a str, u64, u64);

/// Flips the words of a heap after some steps. `leaves_out` says which changes are left out.
pub(crate) fn attack(
    name: &str,
    subject: &mut dyn Subject,
    (lens, steps): (&[usize], usize),
    slice: usize,
    leaves_out: fn(&[Changed<'_>]) -> bool,
) {
    let mut first = Drive::new(subject, Vec::new(), lens, 3);
    first.steps(steps).expect("sound");
    let Drive { subject, live, .. } = first;
    subject.prepare(&live);
    assert!(subject.is_sound(), "{name}");
    let images = images_of(subject);
    let restore = || {
        for (place, bytes) in &images {
            // SAFETY: as in `images_of`; nobody refers to them now.
            unsafe { bytes.as_ptr().copy_to(place.as_ptr().cast(), bytes.len()) };
        }
    };
    let drive = |subject: &mut dyn Subject| Drive::new(subject, live.clone(), lens, 5).whole();
    let reference = drive(subject).expect("sound");
    restore();
    let words = subject.words();
    let (mut heap, mut ranges) = (Vec::new(), Vec::new());
    for word in &words {
        ranges.push(heap.len()..heap.len() + word.bytes);
        heap.extend_from_slice(&word.get().to_le_bytes()[..word.bytes]);
    }
    campaign(name, &heap, &ranges, slice, &mut |changed, changes| {
        let mut what = String::new();
        let mut all = Vec::new();
        for change in changes {
            let at = ranges.partition_point(|range| range.start < change.at);
            let mut value = [0; 8];
            value[..change.bytes].copy_from_slice(&changed[ranges[at].clone()]);
            let (word, wrong) = (&words[at], u64::from_le_bytes(value));
            let right = word.get();
            what += &format!("{} {right:#x} -> {wrong:#x}, ", word.name);
            all.push((&*word.name, right, wrong));
            word.set(wrong);
        }
        let verdict = match catch_unwind(AssertUnwindSafe(|| subject.is_sound())) {
            Ok(false) => Verdict::Told,
            Err(_) => Verdict::Silent(what + "check panics"),
            Ok(true) if leaves_out(&all) => Verdict::LeftOut,
            Ok(true) => match catch_unwind(AssertUnwindSafe(|| drive(subject))) {
                Ok(Ok(seen)) if seen == reference => Verdict::Harmless,
                Ok(Ok(_)) => Verdict::Silent(what + "served otherwise"),
                Ok(Err(error)) => Verdict::Silent(what + &error),
                Err(_) => Verdict::Silent(what + "the drive panics"),
            },
        };
        restore();
        verdict
    });
}

// ---- heaps -------------------------------------------------------------------------------------

/// Of every size-class, in pieces of two sizes, and some that are as long as many pages.
pub(crate) const LENS: [usize; 9] = [3, 40, 100, 152, 250, 500, 900, 2048, 5300];

pub(crate) fn config<W: Width>((bound, order): (Bound, PageOrder)) -> Config {
    let config = Config::new(geometry(W::WORD_BYTES), bound).expect("valid");
    let config = config.with_order(order).expect("valid");
    let config = config.with_pieces(Some(512)).expect("valid");
    config.with_large_pieces(2048).expect("valid")
}

/// The generation of an entry has no copy, whatever it is: a wrong one makes keys stale. The limit
/// is what the program said last: every number of pages between the opened ones and the last is one
/// that it could have said. So is the place of an outside entry.
fn leaves_out(changes: &[Changed<'_>]) -> bool {
    let is_place = |word: u64| word >> 31 == 1 && word != u64::from(u32::MAX);
    changes.iter().any(|&(name, right, wrong)| {
        let places = name.starts_with("entry ") && is_place(right) && is_place(wrong);
        places || name.starts_with("generation ") || name == "limit"
    })
}

fn said(bound: Bound) -> String {
    match bound {
        Bound::Holes { base, .. } => format!("from {base} holes on"),
        bound => format!("{bound:?}"),
    }
}

fn attack_plain<W: Width>(kind: &str, bounds: &[(Bound, PageOrder)], slice: usize) {
    for &bound in bounds {
        let config = config::<W>(bound);
        let mut region = JunkRegion::new(40_000, 2048, 5);
        let mut heap = Heap::<W>::new(region.memory(), &config).expect("large enough");
        let name = format!("Heap, {kind} words, {}", said(bound.0));
        attack(&name, &mut heap, (&LENS, 110), slice, leaves_out);
    }
}

#[test]
fn flips_of_a_heap_are_told_or_harmless() {
    let bounds = bounds();
    attack_plain::<Wide>("wide", &[bounds[0], bounds[3], bounds[1]], 101);
    attack_plain::<Medium>("medium", &[bounds[2]], 101);
    attack_plain::<Narrow>("narrow", &[bounds[3], bounds[4]], 101);
}

#[test]
fn flips_of_a_heap_with_a_limit_are_told_or_harmless() {
    let config = config::<Wide>(bounds()[3]);
    let mut region = JunkRegion::new(50_000, 2048, 5);
    let heap = Heap::<Wide>::with_limit(region.memory(), &config, 26_000, 400);
    let mut heap = EntryHeap::from(heap.expect("large enough"));
    for place in [0, 7, 300] {
        heap.add_outside_entry(place).expect("room");
    }
    attack(
        "Heap, with a limit",
        &mut *heap,
        (&LENS, 110),
        101,
        leaves_out,
    );
}

#[test]
fn flips_of_a_heap_with_slack_are_told_or_harmless() {
    let config = config::<Wide>(bounds()[3]);
    for slack in [3000, usize::MAX >> 1] {
        let mut region = JunkRegion::new(40_000, 2048, 5);
        let mut heap = Heap::<Wide>::with_slack(region.memory(), &config, slack).expect("enough");
        let name = format!("Heap, with {slack} bytes of slack");
        attack(&name, &mut heap, (&LENS, 110), 101, leaves_out);
    }
}

#[test]
fn flips_of_windows_are_told_or_harmless() {
    let lens = [3, 40, 152, 500, 1500, 2500, 5000, 9000, 4096];
    for bound in [bounds()[0], bounds()[3]] {
        let config = config::<Wide>(bound);
        let mut region = JunkRegion::new(60_000, 2048, 5);
        let heap = Heap::<Wide>::new(region.memory(), &config).expect("large enough");
        let name = format!("contiguous objects, {}", said(bound.0));
        attack(&name, &mut InWindows(heap), (&lens, 60), 101, leaves_out);
    }
}

#[test]
fn flips_of_a_key_heap_are_told_or_harmless() {
    fn attack_keys<W: Width<Generation = ()>>(name: &str, bound: (Bound, PageOrder)) {
        let config = config::<W>(bound);
        let mut region = JunkRegion::new(40_000, 2048, 5);
        let mut heap = KeyHeap::<W, u8>::new(region.memory(), &config).expect("large enough");
        for n in 0..800_u32 {
            let keys = [heap.insert(n), heap.insert(n)].map(|key| key.expect("room"));
            for key in keys {
                heap.remove(key).expect("live");
            }
        }
        assert!(heap.stats().retired_keys > 1);
        attack(name, &mut heap, (&LENS, 110), 101, leaves_out);
    }
    attack_keys::<Wide>("KeyHeap, wide words", bounds()[3]);
    attack_keys::<Narrow>("KeyHeap, narrow words", bounds()[1]);
}

/// Whether the head of a window is parked is asked only once the links of what is parked lead
/// somewhere.
#[test]
fn links_of_what_is_parked_are_looked_at_before_windows() {
    let config = config::<Wide>(bounds()[3]);
    let mut region = JunkRegion::new(40_000, 2048, 5);
    let mut heap = Heap::<Wide>::new(region.memory(), &config).expect("large enough");
    let _kept = heap.alloc_contiguous(layout(5000)).expect("room");
    let state = heap.engine.class_state(config.geometry().largest());
    state.left.set(u8::MAX);
    state.top.set(u32::MAX - 255);
    assert!(heap.check().is_err());
}

/// An entry that is retired and takes the place of a live one: all counts are right.
#[test]
fn a_retired_entry_that_is_live_is_told() {
    let config = config::<Wide>(bounds()[0]);
    let mut region = JunkRegion::new(40_000, 2048, 5);
    let mut heap = KeyHeap::<Wide, u8>::new(region.memory(), &config).expect("large enough");
    while heap.stats().retired_keys == 0 {
        let key = heap.insert(1_u32).expect("room");
        heap.remove(key).expect("live");
    }
    heap.insert(2_u32).expect("room");
    heap.check().expect("sound");
    let engine = &heap.as_heap().engine;
    let named = |&entry: &u32| engine.named(entry).is_some();
    let live = (0..8).find(named).expect("a live entry");
    let retired = |&entry: &u32| heap.generation(entry) == u32::from(u8::MAX);
    let retired = (0..8).find(retired).expect("a retired entry");
    let block = engine.block_of(live);
    engine.locate(retired, block);
    engine.pages.set_back_reference(block, retired);
    assert!(heap.check().is_err());
}
