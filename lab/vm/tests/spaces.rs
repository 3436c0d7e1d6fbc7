//! Programs in every space, under every collector that the space has. What they write is what
//! HotSpot wrote, in `java/expected/`. Each larger program runs in a part of the spaces.

use std::fs;
use std::mem::MaybeUninit;
use std::path::{Path, PathBuf};

use surefit_clients::lists::{Finds, Lists, MERGES};
use surefit_gc::CompactFit;
use surefit_vm::{Call, Collecting, Program, Ran, Refusal, Space, run};

/// The largest heap that is tried.
const LARGEST: usize = 16 << 20;

/// The parts of the spaces. Of so many spaces in sequence, each is in another part.
const PARTS: usize = 4;

fn java() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("java")
}

/// Each of the 26.
fn spaces() -> Vec<Space> {
    let mut spaces = vec![
        Space::FirstFit,
        Space::NextFit,
        Space::BestFit,
        Space::WorstFit,
        Space::TreeFit,
        Space::HalfFit,
        Space::Tlsf,
        Space::CompactFit(Box::new(CompactFit::CONFIG)),
    ];
    for finds in Finds::ALL {
        for merges in MERGES {
            for is_tree in [true, false] {
                let lists = Lists::usual(finds, merges);
                spaces.push(Space::Segregated(Lists { is_tree, ..lists }));
            }
        }
    }
    spaces
}

/// The collectors that a space has, in a heap of so many bytes.
fn collectors(space: &Space, bytes: usize) -> Vec<Collecting> {
    let mut collectors = vec![
        Collecting::AtOnce,
        Collecting::InSteps {
            trigger: bytes as u64 / 2,
            units: 1024,
        },
        Collecting::TwoGenerations {
            nursery: 0,
            young_bytes: u64::MAX,
        },
    ];
    if let Space::CompactFit(_) = space {
        collectors.push(Collecting::TwoGenerations {
            nursery: bytes / 8,
            young_bytes: u64::MAX,
        });
    }
    // Where chunks are never merged, only the first: the others are the same with merging.
    if let Space::Segregated(lists) = space {
        if lists.merges == MERGES[0] {
            collectors.truncate(1);
        }
    }
    collectors
}

struct Input<'i> {
    main: &'i str,
    arguments: Vec<String>,
    expected: String,
}

impl<'i> Input<'i> {
    fn new(main: &'i str, arguments: &str, file: &str) -> Self {
        let file = java().join("expected").join(format!("{file}.txt"));
        Self {
            main,
            arguments: arguments.split_whitespace().map(str::to_owned).collect(),
            expected: fs::read_to_string(file).expect("what HotSpot wrote"),
        }
    }

    fn ran(
        &self,
        program: &Program,
        (space, collecting): (&Space, Collecting),
        region: &mut [MaybeUninit<u8>],
    ) -> (Result<Ran, Refusal>, String) {
        let call = Call {
            program,
            main: self.main,
            arguments: &self.arguments,
            space,
            collecting,
            steps: u64::MAX,
        };
        let (mut out, mut err) = (Vec::new(), Vec::new());
        let ran = run(&call, region, &mut out, &mut err);
        (ran, String::from_utf8(out).expect("UTF-8"))
    }

    /// Runs in the first heap that suffices, of those that are twice as large as the one before.
    /// Returns how often it was collected, in all these spaces under every collector.
    fn runs_in(&self, spaces: impl Iterator<Item = Space>, smallest: usize) -> u64 {
        let program = Program::open(&java().join("programs.jar")).expect("a jar");
        let mut region = vec![MaybeUninit::uninit(); LARGEST];
        let mut collections = 0;
        for space in spaces {
            for place in 0..collectors(&space, smallest).len() {
                let mut bytes = smallest;
                collections += loop {
                    let collecting = collectors(&space, bytes)[place];
                    let heap = &mut region[..bytes];
                    let (ran, out) = self.ran(&program, (&space, collecting), heap);
                    let ran = match ran {
                        // A thread that found no room has ended, and others wait for it.
                        Err(Refusal::Deadlock(_)) => None,
                        ran => Some(ran.expect("it runs")).filter(|ran| !ran.was_full),
                    };
                    if let Some(ran) = ran {
                        let what = format!("{} in {space:?} {collecting:?}", self.main);
                        assert_eq!((ran.status, out), (0, self.expected.clone()), "{what}");
                        break ran.totals.collections;
                    }
                    bytes *= 2;
                    assert!(bytes <= LARGEST, "{} in {space:?}", self.main);
                };
            }
        }
        collections
    }
}

/// With the arguments in `small.txt`.
fn small_input_runs(main: &str, part: usize, smallest: usize) {
    let small = fs::read_to_string(java().join("small.txt")).expect("a list");
    let mut lines = small.lines().filter_map(|line| line.split_once(' '));
    let (_, arguments) = lines.find(|(name, _)| *name == main).expect("it is there");
    let input = Input::new(main, arguments, &format!("small/{main}"));
    let spaces = spaces().into_iter().skip(part).step_by(PARTS);
    let collections = input.runs_in(spaces, smallest);
    assert!(collections > 3, "{main}: {collections}");
}

macro_rules! runs {
    ($($test:ident: $main:literal, part $part:literal in $smallest:expr,)*) => {
        $(
            #[test]
            fn $test() {
                small_input_runs($main, $part, $smallest);
            }
        )*
    };
}

runs! {
    compile: "Compile", part 0 in 256 << 10,
    compress: "Compress", part 1 in 1 << 20,
    database: "Database", part 2 in 128 << 10,
    generate: "Generate", part 3 in 512 << 10,
    raytrace: "Raytrace", part 0 in 64 << 10,
    raytrace_on_two_threads: "RaytraceThreads", part 1 in 64 << 10,
    rules: "Rules", part 3 in 256 << 10,
}

/// Deep recursions that are caught, weak references, threads.
#[test]
fn what_is_special_runs_everywhere() {
    for main in ["Exceptions", "Weak", "Threads"] {
        Input::new(main, "", main).runs_in(spaces().into_iter(), 512 << 10);
    }
}

/// What does not fit is said, and caught; afterwards there is room again.
#[test]
fn a_full_heap_is_survived_everywhere() {
    let program = Program::open(&java().join("programs.jar")).expect("a jar");
    let input = Input::new("Memory", "", "Memory");
    let mut region = vec![MaybeUninit::uninit(); 2 << 20];
    for space in spaces() {
        for collecting in collectors(&space, region.len()) {
            let (ran, out) = input.ran(&program, (&space, collecting), &mut region);
            assert_eq!(out, input.expected, "{space:?} {collecting:?}");
            assert!(ran.expect("it runs").was_full, "{space:?} {collecting:?}");
        }
    }
}
