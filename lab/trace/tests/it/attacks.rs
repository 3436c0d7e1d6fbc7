//! Hostile callers: readers and writers that lie and unwind, events that break every rule and go
//! on, numbers to the largest, bytes that claim more than there is.

use std::io::{self, Read, Write};
use std::panic::{AssertUnwindSafe, catch_unwind};

use surefit_trace::generate::{self, Churn, GenerateError, Options, Phases, Program};
use surefit_trace::graph::{self, Change, Class, Object, Reference, Step, Walk};
use surefit_trace::{
    Align, Call, Calls, CheckedReader, Checker, Counts, Event, Header, MAX_SIZE, Op, Peak,
    Position, Problem, Reader, SizeCount, Stats, Trace, Writer, check_bytes, open_file,
};

const NUMBERS: [u64; 11] = [
    0,
    1,
    40,
    1 << 31,
    u32::MAX as u64,
    MAX_SIZE,
    MAX_SIZE + 1,
    (1 << 63) - 1,
    1 << 63,
    u64::MAX - 1,
    u64::MAX,
];

/// Seeded numbers.
struct Chance(u64);

impl Chance {
    fn below(&mut self, bound: usize) -> usize {
        self.0 = self.0.wrapping_mul(6_364_136_223_846_793_005) + 1_442_695_040_888_963_407 % 97;
        (self.0 >> 33) as usize % bound
    }

    fn of<T: Copy>(&mut self, items: &[T]) -> T {
        items[self.below(items.len())]
    }

    /// Mostly the object that is next or one that was, with a request that may be none.
    fn event(&mut self, next: u32) -> Event {
        let ids = [next, next, 0, next / 2, next.saturating_sub(1), u32::MAX];
        let (id, size) = (self.of(&ids), self.of(&NUMBERS));
        let aligned = Call::Aligned(Align::from_log2(30).expect("the strictest"));
        let call = self.of(&[Call::Malloc, Call::Calloc, aligned]);
        let thread = self.of(&[0, 0, 0, 1, 2, u16::MAX]);
        let op = match self.below(4) {
            0 | 1 => Op::Alloc { id, size, call },
            2 => Op::Realloc { id, size },
            _ => Op::Free { id },
        };
        Event::new(thread, op)
    }
}

/// All that a checker says.
fn state(checker: &Checker) -> (Counts, Option<Peak>, u64, u64) {
    let live = (checker.live_objects(), checker.live_bytes());
    (checker.counts(), checker.peak(), live.0, live.1)
}

#[test]
fn a_checker_takes_a_broken_event_for_none_and_goes_on() {
    for seed in 0..200 {
        let (mut chance, mut checker, mut sound) = (Chance(seed), Checker::new(), Vec::new());
        for _ in 0..400 {
            let event = chance.event(checker.counts().objects as u32);
            let before = state(&checker);
            match checker.accept(event) {
                Ok(()) => sound.push(event),
                Err(_) => assert_eq!(state(&checker), before, "{event:?}"),
            }
        }
        let trace = Trace::new("sound", sound).expect("each was accepted");
        assert_eq!(checker.verify(&trace.header().counts).ok(), Some(()));
        assert!(trace.events().len() > 20, "seed {seed}");
        assert_eq!(Trace::from_bytes(&trace.to_bytes()).ok(), Some(trace));
    }
}

#[test]
fn a_writer_leaves_broken_events_out() {
    for seed in 0..100 {
        let (mut chance, mut checker) = (Chance(seed), Checker::new());
        let mut events = Vec::new();
        for _ in 0..300 {
            let event = chance.event(checker.counts().objects as u32);
            let _ = checker.accept(event);
            events.push(event);
        }
        let (name, counts) = ("left out".to_owned(), checker.counts());
        let mut writer = Writer::new(Vec::new(), &Header { name, counts }).expect("a short name");
        let refused = events.iter().filter(|&&event| writer.write(event).is_err());
        let refused = refused.count() as u64;
        let bytes = writer.finish().expect("the header is theirs");
        assert_eq!(refused + counts.events, 300);
        assert_eq!(check_bytes(&bytes).expect("sound").counts, counts);
    }
}

#[test]
fn the_sum_of_all_requests_is_told_and_never_wraps() {
    let mut checker = Checker::new();
    let alloc = |id| {
        Event::new(
            0,
            Op::Alloc {
                id,
                size: MAX_SIZE,
                call: Call::Malloc,
            },
        )
    };
    (0..255).for_each(|id| assert!(checker.accept(alloc(id)).is_ok()));
    assert!(checker.accept(alloc(255)).is_err());
    let most = Event::new(
        0,
        Op::Realloc {
            id: 7,
            size: MAX_SIZE,
        },
    );
    assert!(matches!(checker.accept(most), Err(Problem::SumOverflow)));
    (0..255).for_each(|id| assert!(checker.accept(Event::new(0, Op::Free { id })).is_ok()));
    assert_eq!((checker.live_bytes(), checker.live_objects()), (0, 0));
}

/// A source that says it read more than there was room for, or nothing but errors, or unwinds.
struct Liar<'b> {
    bytes: &'b [u8],
    honest: usize,
    lie: Lie,
}

#[derive(Clone, Copy, Debug)]
enum Lie {
    MoreThanRoom,
    Everything,
    Unwinds,
    Fails,
}

impl Read for Liar<'_> {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        if let Some(left) = self.honest.checked_sub(1) {
            self.honest = left;
            let one = buffer.len().min(1);
            return self.bytes.read(&mut buffer[..one]);
        }
        match self.lie {
            Lie::MoreThanRoom => Ok(buffer.len() + 1),
            Lie::Everything => Ok(usize::MAX),
            Lie::Unwinds => panic!("the source unwinds"),
            Lie::Fails => Err(io::ErrorKind::WouldBlock.into()),
        }
    }
}

/// A sound trace, plain and packed.
fn sound() -> [Vec<u8>; 2] {
    let churn = Churn {
        allocations: 500,
        ..Churn::EMACS
    };
    let trace = generate::emacs_paper(&churn).expect("valid");
    let mut packed = Vec::new();
    trace
        .write_compressed(&mut packed, 3, |_| {})
        .expect("memory");
    [trace.to_bytes(), packed]
}

/// A trace that claims more events than a source is asked for at once.
fn long() -> Vec<u8> {
    claiming([1 << 20, 1 << 20, 1, 0, 1 << 20, 1 << 20, 0], &[0; 100])
}

#[test]
fn a_source_may_lie_fail_and_unwind() {
    let [plain, packed] = sound();
    for (bytes, lie) in [plain, packed, long()].iter().flat_map(|bytes| {
        let lies = [Lie::MoreThanRoom, Lie::Everything, Lie::Unwinds, Lie::Fails];
        lies.map(|lie| (bytes, lie))
    }) {
        for honest in 0..60 {
            let liar = || Liar { bytes, honest, lie };
            let read = catch_unwind(AssertUnwindSafe(|| Trace::read(liar()).is_err()));
            let graph = catch_unwind(AssertUnwindSafe(|| {
                graph::Reader::new(liar())
                    .and_then(|reader| reader.layouts())
                    .is_err()
            }));
            // The standard library takes the first four bytes, and all of a frame, and unwinds
            // where its source lies.
            let by_others = honest < 5 || bytes[0] != b'S';
            let may_unwind = matches!(lie, Lie::Unwinds) || by_others;
            assert!(read.unwrap_or(may_unwind), "{lie:?} after {honest}");
            assert!(graph.unwrap_or(may_unwind), "{lie:?} after {honest}");
        }
    }
}

#[test]
fn a_reader_that_unwound_can_be_asked_again() {
    let [plain, _] = sound();
    let liar = Liar {
        bytes: &plain,
        honest: 40,
        lie: Lie::Unwinds,
    };
    let mut reader = CheckedReader::new(liar).expect("a header");
    let mut unwound = 0;
    for _ in 0..50 {
        let next = catch_unwind(AssertUnwindSafe(|| reader.next()));
        unwound += u32::from(next.is_err());
    }
    assert!(unwound > 0);
    assert!(reader.position().byte.is_some_and(|byte| byte <= 41) && reader.peak().is_some());
}

/// A sink that takes so many bytes and then fails, or unwinds.
struct Full {
    room: usize,
    unwinds: bool,
}

impl Write for Full {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        let taken = bytes.len().min(self.room);
        self.room -= taken;
        assert!(taken > 0 || !self.unwinds, "the sink unwinds");
        Ok(taken)
    }

    fn flush(&mut self) -> io::Result<()> {
        Err(io::ErrorKind::StorageFull.into())
    }
}

#[test]
fn a_sink_may_fail_and_unwind() {
    let [plain, _] = sound();
    let trace = Trace::from_bytes(&plain).expect("sound");
    for (room, unwinds) in (0..200)
        .step_by(9)
        .flat_map(|room| [(room, false), (room, true)])
    {
        let write = || trace.write(Full { room, unwinds }).is_err();
        assert!(catch_unwind(write).unwrap_or(unwinds));
        let packed = || {
            trace
                .write_compressed(Full { room, unwinds }, 1, |_| {})
                .is_err()
        };
        assert!(catch_unwind(AssertUnwindSafe(packed)).unwrap_or(unwinds));
        let mut writer = graph::Writer::new(Full { room, unwinds });
        let found = Object {
            id: 1,
            class: 0,
            bytes: 16,
            slots: 1,
        };
        let written = writer.write(&Step::Find(found));
        let finish = catch_unwind(AssertUnwindSafe(|| writer.finish().is_err()));
        assert!(written.is_ok() && finish.unwrap_or(unwinds));
    }
    let told = catch_unwind(AssertUnwindSafe(|| {
        trace.write_compressed(Vec::new(), 1, |_| panic!("progress unwinds"))
    }));
    assert!(told.is_err());
    for level in [i32::MIN, -1, 0, 99, i32::MAX] {
        let _ = trace.write_compressed(Vec::new(), level, |_| {});
        let _ = graph::compressed(&plain, level);
    }
}

/// A header named `t` with these counters, and the bytes that follow.
fn claiming(counts: [u64; 7], records: &[u8]) -> Vec<u8> {
    let mut bytes = b"SFT1\x01\x01t".to_vec();
    for mut count in counts {
        while count >= 128 {
            bytes.push(count as u8 | 128);
            count >>= 7;
        }
        bytes.push(count as u8);
    }
    bytes.extend(records);
    bytes
}

#[test]
fn counters_of_any_number_reserve_nothing_that_is_not_there() {
    for count in NUMBERS {
        for place in 0..7 {
            let mut counts = [0; 7];
            counts[place] = count;
            let bytes = claiming(counts, b"\x07");
            assert_eq!(check_bytes(&bytes).is_ok(), count == 0, "{place}: {count}");
            assert_eq!(Trace::from_bytes(&bytes).is_ok(), count == 0);
            let stats =
                CheckedReader::new(&bytes[..]).and_then(|mut reader| Stats::read(&mut reader));
            assert_eq!(stats.is_ok(), count == 0);
        }
    }
    let long = b"SFT1\x01\xff\xff\xff\xff\xff\xff\xff\xff\xff\x01";
    assert!(matches!(
        check_bytes(long).expect_err("no name").problem(),
        Problem::NameTooLong(_)
    ));
}

/// A small compressed file unpacks to billions of allocations: were each taken into a table, the
/// machine would be out of memory long before the end.
#[test]
fn more_objects_than_tables_are_made_for_are_refused_at_the_first() {
    let (most, live) = (Trace::MAX_OBJECTS, Trace::MAX_LIVE_OBJECTS);
    let cases = [
        (most, live, None),
        (most, live + 1, Some(("live objects", live))),
        (most, u64::MAX, Some(("live objects", live))),
        (most + 1, 1, Some(("objects", most))),
        (u64::MAX, live, Some(("objects", most))),
    ];
    for (objects, peak_objects, refused) in cases {
        let head = claiming([u64::MAX, objects, 1, 0, peak_objects, 0, 0], b"");
        let mut endless = Endless {
            head: &head,
            read: 0,
        };
        let mut reader = CheckedReader::new(&mut endless).expect("a header");
        let first = reader.next().expect("an event");
        let told = first.err().map(|error| {
            assert_eq!(error.position().event, Some(0));
            match *error.problem() {
                Problem::TooMany { what, limit } => (what, limit),
                _ => panic!("{error}"),
            }
        });
        assert_eq!(told, refused, "{objects} {peak_objects}");
        if told.is_some() {
            assert!(reader.next().is_none());
            drop(reader);
            assert!(endless.read < 200_000, "{}", endless.read);
        }
    }
}

/// Whatever the header says of all objects, a table grows only to what it says of the live ones.
#[test]
fn more_live_objects_than_the_header_says_are_refused_at_once() {
    let head = claiming([u64::MAX, 1 << 32, 1, 0, 1000, 0, 0], b"");
    let mut endless = Endless {
        head: &head,
        read: 0,
    };
    let error = CheckedReader::new(&mut endless)
        .expect("a header")
        .find_map(Result::err)
        .expect("refused");
    assert_eq!(error.position().event, Some(1000));
    let problem = error.problem();
    assert!(
        matches!(
            problem,
            Problem::Counter {
                field: "peak_objects",
                ..
            }
        ),
        "{error}"
    );
}

/// Counts what is read of a stream of zero bytes behind a head: each is an allocation of nothing.
struct Endless<'h> {
    head: &'h [u8],
    read: u64,
}

impl Read for Endless<'_> {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        let read = match self.head.is_empty() {
            true => {
                buffer.fill(0);
                buffer.len()
            }
            false => self.head.read(buffer)?,
        };
        self.read += read as u64;
        Ok(read)
    }
}

#[test]
fn a_stream_without_an_end_is_read_no_further_than_it_claims() {
    let head = claiming([1000, 1000, 1, 0, 1000, 1000, 0], b"");
    let mut endless = Endless {
        head: &head,
        read: 0,
    };
    let stopped = Trace::read(&mut endless).expect_err("it has no end");
    assert!(
        matches!(stopped.problem(), Problem::Counter { .. }),
        "{stopped}"
    );
    assert!(endless.read < 200_000, "{}", endless.read);
    // The same in a frame that unpacks to a thousand times its size.
    let mut bomb = head.clone();
    bomb.resize(16 << 20, 0);
    let packed = graph::compressed(&bomb, 19).expect("memory");
    assert!(packed.len() < 10_000);
    let stopped = check_bytes(&packed).expect_err("it has no end");
    assert_eq!(stopped.position().event, Some(1000));
}

#[test]
fn records_of_an_object_graph_claim_nothing_that_is_not_there() {
    let most = b"\xff\xff\xff\xff\xff\xff\xff\xff\xff\x01".as_slice();
    for letter in b"CAHZSERD" {
        for before in [
            &b""[..],
            b"H\x01\x00\x10\x00",
            b"H\x01\x00\x10\x00S\x01\x00\x00",
        ] {
            for numbers in 0..4 {
                let mut bytes = [before, &[*letter]].concat();
                (0..numbers).for_each(|_| bytes.push(1));
                (0..3).for_each(|_| bytes.extend(most));
                let reader = graph::Reader::new(&bytes[..]).expect("bytes");
                assert!(reader.layouts().is_err(), "{bytes:?}");
                let reader = graph::Reader::new(&bytes[..]).expect("bytes");
                assert!(graph::Stats::read(reader).is_err(), "{bytes:?}");
            }
        }
    }
}

#[test]
fn a_graph_writer_goes_on_after_any_step() {
    let ids = [0, 1, 2, 3, 7, u32::MAX - 1, u32::MAX];
    for seed in 0..300 {
        let (mut chance, mut writer) = (Chance(seed), graph::Writer::new(Vec::new()));
        let (mut written, mut next) = (0, 1);
        for _ in 0..80 {
            let id = if chance.below(2) == 0 {
                next
            } else {
                chance.of(&ids)
            };
            let (class, bytes, slots) = (chance.of(&ids), chance.of(&[0, 16, 24, 1 << 31]), 1);
            let object = Object {
                id,
                class,
                bytes,
                slots,
            };
            let step = match chance.below(6) {
                0 => Step::Class(Class {
                    id,
                    fields: chance.of(&ids),
                    signature: chance
                        .of(&["", "[", "[L", "Lx;"])
                        .repeat(chance.of(&[1, 70_000])),
                }),
                1 => Step::Allocate(object),
                2 | 3 => Step::Find(Object {
                    class: 0,
                    bytes: 16,
                    ..object
                }),
                4 => Step::Revive(object),
                _ => Step::Walk(Box::new(walk(&mut chance, &ids))),
            };
            let gives = matches!(step, Step::Allocate(_) | Step::Find(_));
            let done = writer.write(&step);
            next += u32::from(gives && done.is_ok());
            written += u32::from(done.is_ok());
        }
        assert!(written > 2, "seed {seed}: {written}");
        let _ = writer.finish();
    }
}

/// A walk that names whatever it likes.
fn walk(chance: &mut Chance, ids: &[u32]) -> Walk {
    let mut walk = Walk::default();
    for list in [&mut walk.roots_gained, &mut walk.roots_lost, &mut walk.dead] {
        list.extend((0..chance.below(3)).map(|_| chance.of(ids)));
    }
    for _ in 0..chance.below(3) {
        let (slot, target) = (chance.of(ids), chance.of(ids));
        let references = [Reference { slot, target }; 2];
        let (object, most) = (chance.of(ids), chance.below(3));
        walk.add_change(Change {
            object,
            references: &references[..most],
            class_level: &ids[..most],
        });
    }
    assert!(walk.changes().all(|change| change.references.len() < 3));
    walk
}

/// Statistics that nobody counted.
fn forged(number: u64) -> Stats {
    Stats {
        name: String::new(),
        counts: Counts {
            objects: number,
            ..Counts::default()
        },
        peak: Peak::default(),
        calls: Calls {
            realloc: number,
            free: number,
            ..Calls::default()
        },
        lives_events: number,
        foreign_frees: number,
        thread_switches: number,
        sizes: vec![
            SizeCount {
                size: number,
                requests: number,
                live_at_peak: number
            };
            3
        ],
        alignments: Vec::new(),
    }
}

#[test]
fn figures_of_any_number_do_not_wrap() {
    for number in NUMBERS {
        let stats = forged(number);
        assert!(stats.requests() >= number);
        assert_eq!(stats.max_size(), Some(number));
        assert!(stats.mean_life_events().is_none_or(f64::is_finite));
        assert_eq!(stats.top_sizes(usize::MAX).len(), 3);
        assert!(stats.top_sizes(0).is_empty());
        let classes = stats.histogram();
        assert_eq!(classes.len(), 1);
        assert!(classes[0].requests >= number && classes[0].live_at_peak >= number);
        assert!(classes[0].up_to >= number.min(1 << 63), "{number}");
        let bytes = number as u32;
        let graph = graph::Stats {
            allocations: number,
            sizes: vec![
                graph::SizeCount {
                    bytes,
                    allocations: number
                };
                3
            ],
            ..graph::Stats::default()
        };
        for percent in [0, 1, 99, 100, 101, u32::MAX] {
            assert!(graph.sizes_for(percent) <= 3);
        }
        let counted = graph::Stats::of_sizes([bytes; 3]);
        assert_eq!((counted.allocations, counted.sizes_for(100)), (3, 1));
        assert_eq!(counted.bytes, 3 * u64::from(bytes));
    }
}

#[test]
fn programs_of_any_number_are_made_or_refused() {
    for program in Program::ALL {
        for (allocations, live_bytes) in NUMBERS.into_iter().flat_map(|a| NUMBERS.map(|b| (a, b))) {
            // What would take minutes is not asked for: at most 40 objects, or none but a refusal.
            if (41..=Churn::MAX_ALLOCATIONS).contains(&allocations) {
                continue;
            }
            let options = Options {
                seed: allocations ^ live_bytes,
                allocations: Some(allocations).filter(|_| program != Program::Phase),
                live_bytes: Some(live_bytes),
            };
            let made = program.generate(&options);
            if allocations <= 40 {
                let mut played = Vec::new();
                let done = program.play(&options, |event| played.push(event));
                assert_eq!(done.is_ok(), made.is_ok());
                assert!(made.as_ref().is_ok_and(|trace| trace.events() == played) || done.is_err());
            }
            match made {
                Ok(trace) => assert!(trace.header().counts.peak_bytes <= live_bytes),
                Err(error) => assert!(!error.to_string().is_empty()),
            }
        }
    }
    for phases in [0, 20, u32::MAX] {
        let refused = generate::phase(&Phases {
            phases,
            ..Phases::SMALL
        });
        assert!(matches!(refused, Err(GenerateError::Phases { .. })));
    }
    for make in [
        generate::emacs_lives,
        generate::hummingbird_lives,
        generate::hummingbird_paper,
        generate::java_like,
        generate::lua_like,
    ] {
        let churn = |allocations| Churn {
            seed: u64::MAX,
            allocations,
            live_bytes: u64::MAX,
        };
        assert!(make(&churn(u64::MAX)).is_err() && make(&churn(30)).is_ok());
    }
}

#[test]
fn alignments_of_any_number_are_powers_of_two_or_none() {
    for log2 in 0..=u8::MAX {
        let align = Align::from_log2(log2);
        assert_eq!(align.is_some(), log2 <= Align::MAX_LOG2);
        let bytes = align.map_or(1, Align::bytes);
        assert_eq!(align.map(Align::log2), align.map(|_| bytes.ilog2() as u8));
    }
    for bytes in NUMBERS {
        let align = Align::new(bytes as usize);
        assert_eq!(align.is_some(), bytes.is_power_of_two() && bytes <= 1 << 30);
        let call = align.map_or(Call::Calloc, Call::Aligned);
        assert!(
            call.align_at_least(usize::MAX) == usize::MAX
                && call.align_at_least(0) as u64 <= 1 << 30
        );
        assert_eq!(call.is_zeroed(), align.is_none());
    }
}

#[test]
fn names_and_paths_may_be_anything() {
    let long = "n".repeat(Header::MAX_NAME_BYTES + 1);
    assert!(Trace::new(&long, Vec::new()).is_err());
    let header = Header {
        name: long,
        ..Header::default()
    };
    assert!(Writer::new(Vec::new(), &header).is_err());
    let path = std::path::Path::new("no\nsuch\0file");
    assert!(open_file(path).is_err() && Trace::load(path).is_err());
    assert!(Reader::open(path).is_err() && CheckedReader::open(path).is_err());
    assert!(graph::Reader::open(path).is_err());
    let folder = open_file(std::path::Path::new(".")).expect("a folder opens");
    assert!(Reader::named(folder, path).is_err());
    assert_eq!(Program::from_name("\0"), None);
    let told = Trace::load(path).expect_err("no file").in_file(path);
    assert!(told.file() == Some(path) && told.position() == Position::default());
    assert!(!told.problem().mend().is_empty());
    for signature in ["", "[", "[[", "\0[L", "[L", "\u{fffd}"].map(str::to_owned) {
        let (id, fields) = (u32::MAX, u32::MAX);
        let (starts, of_references) = (signature.starts_with('['), signature.len() > 1);
        let class = Class {
            id,
            fields,
            signature,
        };
        assert_eq!(
            (class.is_array(), class.is_array_of_references()),
            (starts, starts && of_references)
        );
    }
}
