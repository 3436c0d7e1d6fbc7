//! Mixed pages: sizes drift, and what is free between the objects that are left serves others.

use super::super::division::{GRANULES, LINE_GRANULES, LINES};
use super::super::instance::Instance;
use super::super::memory::{Kind, Record, Span};
use super::super::sizes::{Class, Slot};
use super::source::random;
use super::*;

/// An object, and the byte that is written all over it.
struct Live {
    at: NonNull<u8>,
    bytes: usize,
    align: usize,
    mark: u8,
}

impl Live {
    fn write(&self) {
        // SAFETY: it is live and has so many bytes.
        unsafe { self.at.write_bytes(self.mark, self.bytes) };
    }

    fn read(&self, bytes: usize) {
        // SAFETY: as above.
        let all = unsafe { core::slice::from_raw_parts(self.at.as_ptr(), bytes) };
        assert!(all.iter().all(|byte| *byte == self.mark));
        assert_eq!(self.at.addr().get() % self.align.max(GRANULE), 0);
    }
}

/// Threads, in turn, whose sizes grow from phase to phase.
struct Drift<'h, S: Source> {
    locals: Vec<Local<'h, RawMutex, S>>,
    live: Vec<Live>,
    bytes: usize,
    random: &'h mut dyn FnMut(usize) -> usize,
}

impl<S: Source> Drift<'_, S> {
    /// Allocates until so many bytes live, of sizes around 32 · 1.7ᵖʰᵃˢᵉ.
    fn fill(&mut self, phase: usize, most: usize, aligned: bool) {
        let middle = (0..phase).fold(32, |size, _| size * 17 / 10);
        while self.bytes < most {
            let bytes = middle * (750 + (self.random)(500)) / 1000;
            let align = if aligned { 1 << (self.random)(9) } else { 1 };
            let thread = (self.random)(self.locals.len());
            let at = self.locals[thread].allocate(bytes, align).unwrap();
            let mark = (self.random)(256) as u8;
            let object = Live {
                at,
                bytes,
                align,
                mark,
            };
            object.write();
            self.bytes += bytes;
            self.live.push(object);
        }
    }

    /// Frees a random four fifths, by whichever thread.
    fn thin(&mut self) {
        let mut kept = Vec::new();
        for object in core::mem::take(&mut self.live) {
            object.read(object.bytes);
            if (self.random)(5) == 0 {
                kept.push(object);
            } else {
                let thread = (self.random)(self.locals.len());
                free(&self.locals[thread], object.at).unwrap();
                self.bytes -= object.bytes;
            }
        }
        self.live = kept;
    }

    /// Resizes some, by whichever thread.
    fn resize(&mut self) {
        for _ in 0..self.live.len() / 8 {
            let place = (self.random)(self.live.len());
            let bytes = 1 + (self.random)(600);
            let thread = (self.random)(self.locals.len());
            let object = &mut self.live[place];
            // SAFETY: the object is live, and has this alignment.
            let new = unsafe { self.locals[thread].resize(object.at, bytes, object.align) };
            object.at = new.unwrap().unwrap();
            object.read(bytes.min(object.bytes));
            self.bytes = self.bytes + bytes - object.bytes;
            object.bytes = bytes;
            object.write();
        }
    }
}

fn kinds<S: Source>(heap: &Heap<'_, S>, kind: Kind) -> usize {
    each_of(heap, kind).count()
}

fn first_of<S: Source>(heap: &Heap<'_, S>, kind: Kind) -> Option<Span> {
    each_of(heap, kind).next()
}

fn each_of<S: Source>(heap: &Heap<'_, S>, kind: Kind) -> impl Iterator<Item = Span> {
    let memory = heap.common().memory();
    let units = memory.first().number()..memory.committed();
    let spans = units.map(|unit| memory.span(unit));
    spans.filter(move |span| memory.record(*span).kind() == kind)
}

#[test]
fn what_is_held_is_about_twice_what_lives_where_sizes_grow() {
    let source = Counted::new(32 << 20);
    let heap = source.heap(SETTINGS);
    let mut random = random(11);
    let mut drift = Drift {
        locals: vec![heap.join().unwrap()],
        live: Vec::new(),
        bytes: 0,
        random: &mut random,
    };
    for phase in 0..8 {
        drift.fill(phase, 3_200_000, false);
        let held = heap.stats().active;
        assert!(
            held * 10 <= 21 * drift.bytes,
            "{held} bytes for {} in phase {phase}",
            drift.bytes
        );
        assert!(phase < 2 || kinds(&heap, Kind::Mixed) > 0, "{phase}");
        assert!(phase < 2 || heap.stats().mixed > 0);
        check(&heap);
        drift.thin();
        check(&heap);
    }
}

/// Moves each object whose hint says so; how many these are.
fn defragment<S: Source>(local: &Local<'_, RawMutex, S>, live: &mut [Live]) -> usize {
    let mut moved = 0;
    for object in live {
        if !local.defrag_hint(object.at, 1) {
            continue;
        }
        object.read(object.bytes);
        let former = object.at;
        object.at = local.allocate(object.bytes, 1).unwrap();
        object.write();
        free(local, former).unwrap();
        moved += 1;
    }
    moved
}

#[test]
fn hints_empty_mixed_pages_of_which_much_is_free_and_come_to_an_end() {
    let source = Counted::new(32 << 20);
    let heap = source.heap(SETTINGS);
    let mut random = random(12);
    let mut drift = Drift {
        locals: vec![heap.join().unwrap()],
        live: Vec::new(),
        bytes: 0,
        random: &mut random,
    };
    for phase in 0..6 {
        drift.fill(phase, 3_200_000, false);
        drift.thin();
    }
    let before = heap.stats();
    let passes: Vec<_> = (0..8)
        .map(|_| {
            let moved = defragment(&drift.locals[0], &mut drift.live);
            check(&heap);
            moved
        })
        .collect();
    let after = heap.stats();
    assert!(before.mixed > before.allocated, "{before:?}");
    assert!(passes[7] * 20 < drift.live.len(), "{passes:?}");
    assert!(
        after.active * 10 < after.allocated * 13,
        "{before:?} {after:?} {passes:?}"
    );
}

#[test]
fn a_region_has_no_mixed_pages() {
    let mut memory = region(16 << 20);
    let heap: Heap<'_, Fixed> = SharedDirect::new(&mut memory, SETTINGS).unwrap();
    let mut random = random(12);
    let mut drift = Drift {
        locals: vec![heap.join().unwrap()],
        live: Vec::new(),
        bytes: 0,
        random: &mut random,
    };
    for phase in 0..4 {
        drift.fill(phase, 1_000_000, false);
        drift.thin();
    }
    assert_eq!(kinds(&heap, Kind::Mixed), 0);
}

#[test]
fn objects_of_mixed_pages_keep_their_bytes_whoever_frees_or_resizes_them() {
    let mut longer = 0;
    for seed in 1..=6 {
        let source = Counted::new(32 << 20);
        let heap = source.heap(SETTINGS);
        let mut random = random(seed);
        let mut drift = Drift {
            locals: (0..3).map(|_| heap.join().unwrap()).collect(),
            live: Vec::new(),
            bytes: 0,
            random: &mut random,
        };
        let mut mixed = 0;
        for phase in [0, 1, 2, 3, 5, 2, 0, 4] {
            drift.fill(phase, 600_000, true);
            mixed += kinds(&heap, Kind::Mixed);
            longer += kinds(&heap, Kind::InsideMixed);
            check(&heap);
            drift.thin();
            check(&heap);
            drift.resize();
            check(&heap);
            // Its objects are freed by others, then served, then the next one has them.
            drop(drift.locals.swap_remove(1));
            check(&heap);
            drift.thin();
            check(&heap);
            drift.locals.push(heap.join().unwrap());
        }
        assert!(mixed > 0, "no page was mixed");
        for object in drift.live.drain(..) {
            object.read(object.bytes);
            free(&drift.locals[0], object.at).unwrap();
        }
        drift.locals.clear();
        heap.purge();
        check(&heap);
        assert_eq!((heap.stats().allocated, heap.stats().active), (0, 0));
    }
    assert!(longer > 0, "no page of several units was mixed");
}

/// A heap with mixed pages, of an instance that goes on.
fn with_mixed(
    damage: impl FnOnce(&Instance, &Heap<'_, &source::Shared>, Span),
) -> Option<&'static str> {
    let source = Counted::new(8 << 20);
    let heap = source.heap(SETTINGS);
    let local = heap.join().unwrap();
    let few: Vec<_> = (0..4000).map(|_| local.allocate(48, 16).unwrap()).collect();
    for object in few.iter().enumerate().filter(|(place, _)| place % 6 > 0) {
        free(&local, *object.1).unwrap();
    }
    let own = heap.common().instance(local.number());
    let mixed = loop {
        match first_of(&heap, Kind::Mixed) {
            Some(page) => break page,
            None => local.allocate(200, 16).unwrap(),
        };
    };
    if own.first_mixed() == Span::NONE {
        own.list_mixed(heap.common().memory(), mixed);
        heap.common().memory().record(mixed).watch.set(0);
    }
    check(&heap);
    damage(own, &heap, own.first_mixed());
    let found = check::check(heap.common());
    core::mem::forget(local);
    found.err().map(|corruption| corruption.invariant)
}

#[test]
fn damaged_mixed_pages_are_told() {
    type Damage = (fn(&Record), &'static str);
    let damages: [Damage; 9] = [
        (|record| record.opened.set(record.opened.get() + 1), "X2"),
        (|record| record.opened.set(0), "X2"),
        (|record| record.watch.set(1), "X2"),
        (|record| record.set_used(7), "X2"),
        (|record| record.units.set(0), "P1"),
        (|record| record.units.set(2), "M5"),
        (|record| record.units.set(17), "P1"),
        (|record| record.previous.set(Span::of(u32::MAX)), "I2"),
        (|record| record.next.set(Span::of(u32::MAX)), "I2"),
    ];
    for (place, (damage, told)) in damages.into_iter().enumerate() {
        let found = with_mixed(|_, heap, page| damage(heap.common().memory().record(page)));
        assert_eq!(found, Some(told), "{place}");
    }
}

#[test]
fn damaged_divisions_are_told() {
    for what in 0..5 {
        let found = with_mixed(|_, heap, page| {
            let division = heap.common().memory().division(page);
            let used = (0..GRANULES).find(|at| division.is_used(*at)).unwrap();
            let (line, last) = (used / LINE_GRANULES, GRANULES - 1);
            match what {
                // One lies in another.
                0 => division.set_used(used + 1, true),
                // One is of a class that is longer, and lies in the next or behind the page.
                1 => (0..LINES).for_each(|line| division.set_class(line, Class::of(8192).unwrap())),
                // One begins where an object of its class is not aligned.
                2 => {
                    division.set_used(used, false);
                    division.set_class(line, Class::of(32).unwrap());
                    division.set_used(used | 1, true);
                }
                // One is of no class.
                3 => division.clear_class(line),
                // The last one does not end in the page.
                _ => {
                    let class = Class::of(48).unwrap();
                    division.set_class(last / LINE_GRANULES, class);
                    division.set_used(last - 2, false);
                    division.set_used(last - 1, false);
                    division.set_used(last, true);
                }
            }
        });
        assert_eq!(found, Some("X1"), "{what}");
    }
    // One that was used, or was not.
    for used in [true, false] {
        let found = with_mixed(|_, heap, page| {
            let division = heap.common().memory().division(page);
            let is_free = |line: &usize| division.line(*line) == 0 && division.line(line + 1) == 0;
            let free = (1..LINES - 1).find(|line| is_free(line)).unwrap();
            let at = (0..GRANULES).find(|at| division.is_used(*at)).unwrap();
            if used {
                division.set_class(free + 1, Class::of(16).unwrap());
                division.set_used((free + 1) * LINE_GRANULES, true);
            } else {
                division.set_used(at, false);
            }
        });
        assert_eq!(found, Some("X2"), "{used}");
    }
    // The slot of no class that mixed pages have takes nothing.
    let found = with_mixed(|_, heap, page| {
        let memory = heap.common().memory();
        memory.set_slot(page, Slot::NONE, memory.owner(page));
    });
    assert_eq!(found, Some("M5"));
    let found = with_mixed(|own, _, _| own.set_room(Slot::MIXED));
    assert_eq!(found, Some("I1"));
}

#[test]
fn a_region_with_a_mixed_page_is_told() {
    let mut memory = region(1 << 20);
    let heap: Heap<'_, Fixed> = SharedDirect::new(&mut memory, SETTINGS).unwrap();
    let local = heap.join().unwrap();
    let object = local.allocate(48, 16).unwrap();
    let memory = heap.common().memory();
    let page = memory.around(object.as_ptr()).unwrap();
    memory.mix_page(page, 1);
    let found = check::check(heap.common()).unwrap_err();
    assert_eq!(found.invariant, "P1");
    core::mem::forget(local);
}

#[test]
fn lists_of_mixed_pages_that_lead_astray_are_told() {
    let found = with_mixed(|own, heap, _| {
        let page = own.current(Class::of(200).unwrap());
        let page = if page == Span::NONE {
            own.first(Class::of(48).unwrap())
        } else {
            page
        };
        own.list_mixed(heap.common().memory(), page);
    });
    assert_eq!(found, Some("I2"));
    let found = with_mixed(|own, heap, page| own.unlink_mixed(heap.common().memory(), page));
    assert_eq!(found, None, "a page in which nothing fits is in no list");
    let found = with_mixed(|own, _, _| own.end_mixed(Span::NONE));
    assert_eq!(found, Some("I2"));
}

#[test]
fn a_second_free_in_a_mixed_page_is_told_where_its_granules_are_free() {
    let source = Counted::new(8 << 20);
    let heap = source.heap(SETTINGS);
    let (local, other) = (heap.join().unwrap(), heap.join().unwrap());
    let few: Vec<_> = (0..4000).map(|_| local.allocate(48, 16).unwrap()).collect();
    let (left, gone): (Vec<_>, Vec<_>) = few.iter().enumerate().partition(|(at, _)| at % 6 == 0);
    for (_, object) in gone {
        free(&local, *object).unwrap();
    }
    while first_of(&heap, Kind::Mixed).is_none() {
        local.allocate(200, 16).unwrap();
    }
    let memory = heap.common().memory();
    let is_mixed = |object: &NonNull<u8>| {
        let record = memory.record_around(object.as_ptr()).unwrap();
        record.kind() == Kind::Mixed
    };
    let (_, object) = left
        .into_iter()
        .find(|(_, object)| is_mixed(object))
        .unwrap();
    assert_eq!(heap.usable_bytes(object.as_ptr()), Some(48));
    assert_eq!(free(&local, *object), Ok(()));
    local.trim();
    assert_eq!(free(&local, *object), Err(Misuse::NoObject));
    assert_eq!(free(&other, *object), Err(Misuse::NoObject));
    assert_eq!(heap.usable_bytes(object.as_ptr()), None);
    // SAFETY: inside the region; misuse that is found.
    let inside = unsafe { object.add(8) };
    assert_eq!(free(&local, inside), Err(Misuse::NoObject));
    check(&heap);
}

/// What threads hand to each other: address, bytes and mark of each object.
type Handed = std::sync::Mutex<Vec<(usize, usize, u8)>>;

/// A thread whose sizes grow, and that frees meanwhile what another one allocated. Returns the most
/// bytes of mixed pages that it saw.
fn drift_beside_others(
    heap: &Heap<'_, &source::Shared>,
    number: usize,
    boxes: &[Handed; 3],
    phase_begins: &std::sync::Barrier,
) -> usize {
    let local = heap.join().unwrap();
    let mut random = random(number as u64);
    let (mut live, mut mixed) = (Vec::new(), 0);
    let free_all = |all: Vec<(usize, usize, u8)>| {
        for (at, bytes, mark) in all {
            let at = NonNull::new(core::ptr::with_exposed_provenance_mut(at)).unwrap();
            let object = Live {
                at,
                bytes,
                align: 1,
                mark,
            };
            object.read(bytes);
            free(&local, at).unwrap();
        }
    };
    for phase in 0..8 {
        phase_begins.wait();
        let middle = (0..phase).fold(32, |size, _| size * 17 / 10);
        let steps = 1_000_000 / middle;
        for step in 0..steps {
            let bytes = middle * (750 + random(500)) / 1000;
            let object = Live {
                at: local.allocate(bytes, 16).unwrap(),
                bytes,
                align: 16,
                mark: random(256) as u8,
            };
            object.write();
            live.push((object.at.expose_provenance().get(), bytes, object.mark));
            if step % 16 == 0 {
                let mut handed = boxes[number].lock().unwrap();
                let left = handed.len().saturating_sub(1 + handed.len() * 16 / steps);
                free_all(handed.split_off(left));
            }
        }
        free_all(core::mem::take(&mut boxes[number].lock().unwrap()));
        mixed = mixed.max(heap.stats().mixed);
        phase_begins.wait();
        // A fifth stays, another one's frees come from elsewhere in the next phase.
        let (mut kept, mut handed, mut freed) = (Vec::new(), Vec::new(), Vec::new());
        for object in live {
            match random(5) {
                0 => kept.push(object),
                1 => handed.push(object),
                _ => freed.push(object),
            }
        }
        live = kept;
        free_all(freed);
        boxes[(number + 1) % 3].lock().unwrap().extend(handed);
    }
    free_all(live);
    mixed
}

#[test]
fn pages_become_mixed_while_other_threads_free() {
    let source = Counted::new(64 << 20);
    let heap = source.heap(SETTINGS);
    let boxes = [(); 3].map(|()| Handed::default());
    let begins = std::sync::Barrier::new(3);
    let mixed = std::thread::scope(|scope| {
        let threads = [0, 1, 2].map(|number| {
            let (heap, boxes, begins) = (&heap, &boxes, &begins);
            scope.spawn(move || drift_beside_others(heap, number, boxes, begins))
        });
        threads.map(|thread| thread.join().unwrap())
    });
    assert!(mixed.iter().any(|bytes| *bytes > 0), "{mixed:?}");
    check(&heap);
    let local = heap.join().unwrap();
    for (at, _, _) in boxes.into_iter().flat_map(|all| all.into_inner().unwrap()) {
        let at = NonNull::new(core::ptr::with_exposed_provenance_mut(at)).unwrap();
        free(&local, at).unwrap();
    }
    drop(local);
    check(&heap);
}

/// Objects of 48 bytes until a heap has so many or is full, of which a sixth stays.
fn thinned<S: Source>(local: &Local<'_, RawMutex, S>, most: usize) -> usize {
    let few: Vec<_> = (0..most).map_while(|_| local.allocate(48, 16)).collect();
    for object in few.iter().enumerate().filter(|(place, _)| place % 6 > 0) {
        free(local, *object.1).unwrap();
    }
    few.len() * 48
}

#[test]
fn at_the_limit_what_is_free_in_pages_serves_other_sizes() {
    let source = Counted::new(8 << 20);
    let heap = source.heap(SETTINGS);
    let local = heap.join().unwrap();
    heap.set_limit(1 << 20);
    let filled = thinned(&local, usize::MAX);
    check(&heap);
    let mut live = Vec::new();
    while let Some(at) = local.allocate(100, 16) {
        let mark = live.len() as u8;
        let (bytes, align) = (100, 16);
        let object = Live {
            at,
            bytes,
            align,
            mark,
        };
        object.write();
        live.push(object);
    }
    check(&heap);
    let again = live.len() * 112;
    assert!(again * 3 > filled, "{again} of {filled}");
    assert!(heap.stats().active <= 1 << 20);
    assert_eq!(local.allocate(100, 16), None);
    for object in live {
        object.read(100);
        free(&local, object.at).unwrap();
    }
    check(&heap);
}

/// Whether an object could be resized; it has its bytes in any case.
fn resized<S: Source>(local: &Local<'_, RawMutex, S>, object: &mut Live, bytes: usize) -> bool {
    // SAFETY: the object is live, and has this alignment.
    let new = unsafe { local.resize(object.at, bytes, object.align) };
    let Some(at) = new.unwrap() else {
        object.read(object.bytes);
        return false;
    };
    object.at = at;
    object.read(bytes.min(object.bytes));
    object.bytes = bytes;
    object.write();
    true
}

/// Calls of all kinds while a heap is at its limit: what is refused changes nothing.
#[test]
fn at_the_limit_objects_of_any_size_and_alignment_keep_their_bytes() {
    let source = Counted::new(8 << 20);
    let heap = source.heap(SETTINGS);
    heap.set_limit(1 << 20);
    let locals = [heap.join().unwrap(), heap.join().unwrap()];
    let mut random = random(17);
    let (mut live, mut refused, mut refused_resizes): (Vec<Live>, _, _) = (Vec::new(), 0, 0);
    for step in 0..40_000 {
        let local = &locals[random(2)];
        let most = [24, 100, 600, 5000, 33_000, 70_000][(step / 2500 + random(2)) % 6];
        let bytes = random(most);
        match random(8) {
            0..5 => {
                let align = 1 << random(13);
                let mark = random(256) as u8;
                let Some(at) = local.allocate(bytes, align) else {
                    refused += 1;
                    continue;
                };
                let object = Live {
                    at,
                    bytes,
                    align,
                    mark,
                };
                object.write();
                live.push(object);
            }
            5 if !live.is_empty() => {
                let place = random(live.len());
                refused_resizes += usize::from(!resized(local, &mut live[place], bytes));
            }
            _ if !live.is_empty() => {
                let object = live.swap_remove(random(live.len()));
                object.read(object.bytes);
                free(local, object.at).unwrap();
            }
            _ => {}
        }
        assert!(heap.stats().active <= 1 << 20);
        if step % 100 == 0 {
            check(&heap);
        }
    }
    assert!(
        refused > 1000 && refused_resizes > 10,
        "{refused}, {refused_resizes}"
    );
    assert!(kinds(&heap, Kind::Mixed) > 0);
    for object in live {
        object.read(object.bytes);
        free(&locals[0], object.at).unwrap();
    }
    locals.iter().for_each(Local::trim);
    check(&heap);
}

#[test]
fn what_is_too_long_for_mixed_pages_leaves_them_to_shorter_objects() {
    let source = Counted::new(8 << 20);
    let heap = source.heap(SETTINGS);
    let local = heap.join().unwrap();
    heap.set_limit(1 << 20);
    thinned(&local, usize::MAX);
    let live: Vec<_> = core::iter::from_fn(|| local.allocate(100, 16)).collect();
    // Every second one: there is room again in all mixed pages, but none is empty.
    for object in live.iter().step_by(2) {
        free(&local, *object).unwrap();
    }
    check(&heap);
    for _ in 0..200 {
        assert_eq!(local.allocate(30_000, 16), None);
    }
    check(&heap);
    let again = core::iter::from_fn(|| local.allocate(100, 16)).count();
    assert!(again * 3 > live.len(), "{again} of {}", live.len());
}

#[test]
fn what_is_too_long_for_cold_pages_leaves_them_to_shorter_objects() {
    let source = Counted::new(8 << 20);
    let heap = source.heap(SETTINGS);
    let local = heap.join().unwrap();
    thinned(&local, 4000);
    let own = heap.common().instance(local.number());
    let (long, short) = (Class::of(1024).unwrap(), Class::of(112).unwrap());
    // Of the next class, until the one of 48 bytes is cold.
    while own.next_cold(0, short) != Class::of(48) {
        local.allocate(4096, 16).unwrap();
    }
    local.allocate(1024, 16).unwrap();
    assert_eq!(own.next_cold(0, short), Class::of(48));
    assert_eq!(own.next_cold(0, long), None);
    assert_eq!(kinds(&heap, Kind::Mixed), 0);
    local.allocate(112, 16).unwrap();
    assert_eq!(kinds(&heap, Kind::Mixed), 1);
    check(&heap);
}
