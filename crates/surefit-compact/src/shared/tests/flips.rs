//! Every word of a heap that threads share is changed: groups, instances, entries, pages, the pool
//! and the buffers. `check` tells it, or a drive beside a naive model finds it harmless.
#![allow(unsafe_code, reason = "changes words below their types")]

extern crate alloc;

use alloc::format;
use alloc::string::String;
use alloc::vec::Vec;
use core::ptr::NonNull;

use surefit_classes::{Bound, PageOrder};
use surefit_testkit::{JunkRegion, layout};

use crate::check::tests::flips::{Changed, Images, LENS, Named, Subject, attack, config};
use crate::check::tests::{Duty, Field, bounds};
use crate::handle::{Bytes, HeapId, Name};
use crate::page::{Page, SMALL_BLOCKS};
use crate::shared::config::SharedConfig;
use crate::shared::in_motion::put_in_motion;
use crate::shared::local::Local;
use crate::shared::lock::{Granularity, PerClass, PerPage};
use crate::shared::machinery::build::Outlive;
use crate::shared::machinery::bytes::{copy_in, copy_out};
use crate::shared::machinery::engine::SharedEngine;
use crate::shared::machinery::entry_list::NIL;
use crate::shared::machinery::objects::Objects;
use crate::shared::machinery::pool::NO_SLOT;
use crate::shared::machinery::slack::Slack;
use crate::width::{Spread, Wide};

type Lock = parking_lot::RawMutex;
/// Puts an object in motion.
type Moves<G> = fn(&Objects<'_, Lock, G>, u32);

// ---- words -------------------------------------------------------------------------------------

#[derive(Default)]
struct Places(Vec<Field>);

impl Places {
    fn at(&mut self, name: String, place: *mut u8, bytes: usize) {
        self.0.push(Field::new(name, place, bytes, Duty::All));
    }

    /// The words of four bytes that a value begins with.
    fn words<T>(&mut self, name: &str, value: *const T, words: usize) {
        for word in 0..words {
            let place = value.cast_mut().cast::<u8>().wrapping_add(4 * word);
            self.at(format!("{name}, word {word}"), place, 4);
        }
    }

    fn group<G: Granularity>(&mut self, engine: &SharedEngine<'_, Lock, G>, group: u32) {
        let section = engine.enter(group);
        let name = |what| format!("group {group}, {what}");
        let class = &section.class;
        self.words(&name("class"), class, 6);
        self.at(name("credit"), class.credit.as_ptr().cast(), 2);
        self.at(name("left"), class.left.as_ptr(), 1);
        self.at(name("cap"), class.cap.as_ptr(), 1);
        self.words(&name("spare"), &raw const section.spare, 2);
        self.words(&name("parked"), &raw const section.parked, 2);
        self.words(&name("begun"), section.begun.as_ptr(), 1);
        self.words(&name("pinned_away"), section.pinned_away.as_ptr(), 1);
        let own = section.group();
        self.words(&name("deferred"), own.deferred(), 1);
        self.words(&name("draining"), own.draining(), 1);
        self.words(&name("live_apart"), &raw const own.live_apart, 1);
        self.words(&name("hint"), &raw const own.hint, 1);
        // SAFETY: nobody else refers to the move.
        if let Some(moving) = unsafe { &mut *section.moving.as_ptr() } {
            self.words(&name("moving"), &raw const moving.entry, 1);
            self.words(&name("from"), &raw const moving.from.0, 1);
            self.words(&name("from block"), &raw const moving.from.1, 1);
            self.words(&name("to"), &raw const moving.to.0, 1);
            self.words(&name("to block"), &raw const moving.to.1, 1);
            self.words(&name("done"), &raw const moving.done, 1);
            self.words(&name("serial"), &raw const moving.serial, 1);
        }
    }

    fn page<G: Granularity>(&mut self, engine: &SharedEngine<'_, Lock, G>, page: Page<'_, Spread>) {
        let number = page.id.index();
        let name = |what| format!("page {number}, {what}");
        let record = core::ptr::from_ref(page.record).cast_mut().cast::<u8>();
        self.words(&name("links"), record, 2);
        for (what, at, bytes) in [("used", 8, 2), ("small", 10, 1), ("class", 11, 1)] {
            self.at(name(what), record.wrapping_add(at), bytes);
        }
        self.words(&name("references"), record.wrapping_add(12), SMALL_BLOCKS);
        if page.used() == 0 || engine.pages.is_small(page) {
            return;
        }
        // SAFETY: the page lies inside the region.
        let start = unsafe {
            engine
                .pages
                .memory
                .address(number * engine.pages.geometry.page_bytes())
        };
        let at = |offset: u32| start.as_ptr().wrapping_add(offset as usize);
        for leaf in 0..usize::from(page.layout.leaves) {
            let place = at(page.layout.leaf_offset()).wrapping_add(8 * leaf);
            self.at(name("leaf"), place, 8);
        }
        let blocks = page.blocks() as usize;
        self.words(
            &name("back-references"),
            at(page.layout.back_offset()),
            blocks,
        );
    }
}

fn words<G: Granularity>(objects: &Objects<'_, Lock, G>) -> Vec<Field> {
    let engine = &objects.engine;
    let mut places = Places::default();
    // SAFETY: nobody has the lock.
    let pool = unsafe { &*engine.store.pool.0.data_ptr() };
    places.words("pool, pages", &raw const pool.pages, 2);
    places.words("pool, frontier", &raw const pool.frontier, 1);
    places.words("pool, entries", &raw const pool.entries, 2);
    places.words("pool, made", &raw const pool.made, 1);
    let floor = (&raw const pool.floor).cast_mut();
    places.at("pool, floor".into(), floor.cast(), size_of::<usize>());
    places.words("made", engine.table.made(), 1);
    for buffer in engine.store.buffers {
        // SAFETY: as above.
        let buffer = unsafe { &*buffer.0.data_ptr() };
        places.words("buffer, pages", &raw const buffer.pages, 2);
        places.words("buffer, entries", &raw const buffer.entries, 2);
    }
    for instance in engine.instances {
        for (name, word) in instance.words() {
            places.words(name, word, 1);
        }
    }
    if let Some(slack) = &engine.slack {
        places.words("slack", slack.words.as_ptr(), slack.words.len());
    }
    engine
        .all_groups()
        .for_each(|group| places.group(engine, group));
    for page in (0..engine.pages.count()).filter_map(|number| engine.pages.page(number)) {
        places.page(engine, page);
    }
    for index in 0..pool.made {
        let entry = core::ptr::from_ref(engine.entry(index)).cast::<u32>();
        places.words("state", entry, 1);
        places.words("location", entry.wrapping_add(1), 2);
    }
    places.0
}

/// The region, the pool, the number of entries, the slack, and a number of the subject's.
fn images<G: Granularity>(objects: &Objects<'_, Lock, G>, turn: &mut usize) -> Images {
    fn image<T>(value: *const T) -> (NonNull<u8>, usize) {
        let place = NonNull::new(value.cast_mut()).expect("a value");
        (place.cast(), size_of::<T>())
    }
    let engine = &objects.engine;
    let memory = &engine.pages.memory;
    // SAFETY: the region's first byte.
    let region = (unsafe { memory.address(0) }, memory.len());
    let pool = image(engine.store.pool.0.data_ptr());
    let lent = engine.slack.iter().map(|slack| {
        let (place, _) = image(slack.words.as_ptr());
        (place, size_of_val(slack.words))
    });
    let others = [region, pool, image(engine.table.made()), image(turn)];
    others.into_iter().chain(lent).collect()
}

// ---- heaps -------------------------------------------------------------------------------------

/// A heap of one instance or of two, with a thread or two.
struct Threads<'h, 'm, G: Granularity> {
    objects: &'h Objects<'m, Lock, G>,
    locals: Vec<Local<'h, 'm, Lock, G>>,
    turn: usize,
    moves: Option<Moves<G>>,
}

impl<'h, 'm, G: Granularity> Threads<'h, 'm, G> {
    fn next(&mut self) -> &Local<'h, 'm, Lock, G> {
        self.turn += 1;
        &self.locals[usize::from(self.turn % 3 == 0)]
    }
}

fn bytes(object: &Named) -> Bytes<u8> {
    let heap = HeapId::numbered(object.number).expect("a heap's number");
    Bytes::new(Name::new(object.entry, heap), object.len)
}

fn named(bytes: &Bytes<u8>) -> Named {
    Named {
        number: bytes.name.heap_number(),
        ..Named::new(bytes.name.index(), bytes.len())
    }
}

impl<G: Granularity> Subject for Threads<'_, '_, G> {
    fn is_sound(&self) -> bool {
        self.objects.check(false).is_ok()
    }

    fn alloc(&mut self, len: usize) -> Option<Named> {
        let object = self.next().alloc_zeroed(layout(len)).ok()?;
        Some(named(&object))
    }

    fn free(&mut self, object: &Named) -> bool {
        self.next().free_bytes(bytes(object)).is_ok()
    }

    fn resize(&mut self, object: &mut Named, len: usize) -> bool {
        let mut other = bytes(object);
        let resized = self.next().resize(&mut other, layout(len)).is_ok();
        (object.entry, object.number) = (other.name.index(), other.name.heap_number());
        object.len = other.len();
        resized
    }

    fn write(&mut self, object: &Named, source: &[u8]) -> bool {
        let object = bytes(object);
        copy_in(source.len(), 0, source, |at| {
            self.objects.chunk_mut(&object, at)
        })
        .is_ok()
    }

    fn read(&self, object: &Named, target: &mut [u8]) -> bool {
        let object = bytes(object);
        copy_out(target.len(), 0, target, |at| {
            self.objects.chunk(&object, at)
        })
        .is_ok()
    }

    fn other(&mut self, number: usize) {
        let engine = &self.objects.engine;
        match number % 2 {
            0 => _ = engine.compact(NO_SLOT, engine.all_groups(), 3),
            _ => engine.give_back_parked_of(NO_SLOT, engine.all_groups()),
        }
    }

    fn live(&self) -> u32 {
        let engine = &self.objects.engine;
        u32::try_from(engine.stats(engine.all_groups()).live_blocks).expect("few")
    }

    fn words(&self) -> Vec<Field> {
        words(self.objects)
    }

    /// Fills pages and frees some of their objects, the rest of which stay for ever. Puts one in
    /// motion.
    fn prepare(&mut self, _: &[Named]) {
        let (Some(moves), engine) = (self.moves, &self.objects.engine) else {
            return;
        };
        let objects = (0..100).map(|_| self.alloc(40).expect("room"));
        let objects: Vec<_> = objects.collect();
        let (freed, objects): (Vec<_>, Vec<_>) = objects
            .into_iter()
            .partition(|object| object.entry % 4 == 0);
        assert!(freed.iter().all(|object| self.free(object)));
        let movable = |object: &&Named| {
            let entry = engine.entry(object.entry);
            let from = engine.block(entry.location(entry.state())).page;
            let head = engine.enter(entry.state().group()).class.head.get();
            let target = engine.pages.linked(head).expect("a not-full page");
            target.id != from.id && target.free_blocks() > 1 && from.free_blocks() > 0
        };
        let object = objects.iter().find(movable).expect("two not-full pages");
        moves(self.objects, object.entry);
    }

    fn images(&mut self) -> Images {
        images(self.objects, &mut self.turn)
    }
}

/// Pins are what guards that were forgotten leave, and an object under construction has none; the
/// number of an instance has no copy; a quota is what the program says. How far a move has come is
/// known in whole steps.
fn leaves_out(changes: &[Changed<'_>]) -> bool {
    const PINS_AND_FLAGS: u64 = 0xFFFF_000C;
    changes.iter().any(|&(name, right, wrong)| {
        let pins = name.starts_with("state") && (right ^ wrong) & !PINS_AND_FLAGS == 0;
        let said = ["number", "quota"].into_iter();
        pins || name.contains("done") || said.into_iter().any(|said| name.starts_with(said))
    })
}

fn shared_config<G: Granularity>(bound: (Bound, PageOrder)) -> SharedConfig<G> {
    let config = SharedConfig::new(config::<Wide>(bound)).with_locals(3, 2);
    config
        .expect("threads")
        .with_handle_buffer(6)
        .expect("some")
}

fn attack_threads<G: Granularity>(
    name: &str,
    config: &SharedConfig<G>,
    instances: usize,
    moves: Option<Moves<G>>,
) {
    attack_with_slack(name, config, instances, (moves, None));
}

fn attack_with_slack<G: Granularity>(
    name: &str,
    config: &SharedConfig<G>,
    instances: usize,
    (moves, slack): (Option<Moves<G>>, Option<usize>),
) {
    let mut region = JunkRegion::new(80_000, 2048, 5);
    let classes = config.config().geometry().class_count();
    let (slack, memory) = match slack {
        None => (None, region.memory()),
        Some(bytes) => {
            let (slack, rest) = Slack::split(region.memory(), classes, bytes);
            (Some(slack), rest)
        }
    };
    let names = match instances {
        1 => Outlive::Never,
        _ => Outlive::Instances,
    };
    let mut objects = Objects::new(memory, config, instances, names).expect("large enough");
    objects.engine.slack = slack;
    let last = u32::try_from(instances - 1).expect("few");
    let locals = [0, last].map(|instance| Local::new(&objects, instance).expect("a place"));
    let mut threads = Threads {
        objects: &objects,
        locals: locals.into(),
        turn: 0,
        moves,
    };
    attack(name, &mut threads, (&LENS, 110), 251, leaves_out);
}

#[test]
fn flips_of_a_shared_heap_are_told_or_harmless() {
    let steps = shared_config::<PerClass>(bounds()[4]).with_increment(16);
    attack_threads(
        "shared, in steps",
        &steps.expect("valid"),
        1,
        Some(put_in_motion),
    );
    let pages = shared_config::<PerPage>(bounds()[1]);
    attack_threads("shared, page locks", &pages, 1, None);
}

#[test]
fn flips_of_a_shared_heap_with_slack_are_told_or_harmless() {
    let config = shared_config::<PerClass>(bounds()[3]);
    for slack in [3000, usize::MAX >> 1] {
        let name = format!("shared, with {slack} bytes of slack");
        attack_with_slack(&name, &config, 1, (None, Some(slack)));
    }
}

#[test]
fn flips_of_several_instances_are_told_or_harmless() {
    let holes = shared_config::<PerClass>(bounds()[2]);
    attack_threads("shared, two instances", &holes, 2, None);
}

/// Frees by others wait to be drained.
#[test]
fn flips_of_instances_without_a_bound_are_told_or_harmless() {
    let unbounded = shared_config::<PerClass>(bounds()[4]);
    attack_threads("shared, two instances, unbounded", &unbounded, 2, None);
}

/// What is no number, and so in no campaign: whether a move is in flight, and whether a buffer is
/// taken.
#[test]
fn a_move_or_a_buffer_that_nobody_knows_of_is_told() {
    let config = shared_config::<PerClass>(bounds()[4]).with_increment(16);
    let config = config.expect("valid");
    let mut region = JunkRegion::new(40_000, 2048, 5);
    let objects = Objects::<Lock, PerClass>::new(region.memory(), &config, 1, Outlive::Never);
    let objects = objects.expect("large enough");
    let local = Local::new(&objects, 0).expect("a place");
    let engine = &objects.engine;
    let kept: Vec<_> = (0..100)
        .map(|_| local.insert([7_u8; 40]).expect("room"))
        .collect();
    let group = engine.entry(kept[0].name.index()).state().group();
    let set_taken = |taken| engine.store.buffers[0].0.lock().taken = taken;
    objects.check(false).expect("sound");
    set_taken(false);
    assert!(objects.check(false).is_err());
    set_taken(true);
    let mut kept = kept.into_iter();
    // Some of the first page, which becomes the first not-full one, and then one of the second.
    let last = kept.next_back().expect("many");
    for freed in kept.by_ref().take(9) {
        local.free(freed).expect("live");
    }
    objects.check(false).expect("sound");
    assert!(engine.enter(group).class.not_full() > 1);
    put_in_motion(&objects, last.name.index());
    objects.check(false).expect("sound");
    let moving = engine.enter(group).moving.take().expect("in flight");
    assert!(objects.check(false).is_err());
    for other in engine.all_groups().filter(|&other| other != group) {
        engine.enter(other).moving.set(Some(moving));
        assert!(objects.check(false).is_err());
        engine.enter(other).moving.set(None);
    }
    engine.enter(group).moving.set(Some(moving));
    objects.check(false).expect("sound");
    assert!(engine.enter(group).class.head.get() != NIL);
}
