//! Files of every kind that the command reads: sound, mutated, and what is no file at all.

use std::path::Path;
use std::process::Command;

use rand::{Rng, RngCore};
use rand_chacha::ChaCha8Rng as Random;
use surefit_trace::{Align, Call, Event, MAX_SIZE, Op, Trace};
use tempfile::TempDir;

/// What a file is meant for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Kind {
    Trace,
    Graph,
    Demand,
    Classes,
    Script,
    Recording,
}

const KINDS: [Kind; 6] = [
    Kind::Trace,
    Kind::Graph,
    Kind::Demand,
    Kind::Classes,
    Kind::Script,
    Kind::Recording,
];

/// Recordings of heaptrack, packed and plain, and of a board.
const RECORDINGS: [&[u8]; 5] = [
    include_bytes!("../../../formats/tests/it/recordings/raw.zst"),
    include_bytes!("../../../formats/tests/it/recordings/interpreted.gz"),
    b"v 10400 3\n+ 28 1 7f00\n+ 10 2 7f40\n- 7f00\n",
    b"v 10400 3\na 28 1\n+ 0\n+ 0\n- 0\n",
    b"\x7e\x00\x0f\xb0\xf7\x7e\x7e\x01\x00\x00\x28\x2f\x4d\x7e",
];

/// A directory of files; each case writes what it needs.
#[derive(Debug)]
pub(crate) struct Files {
    directory: TempDir,
    graph: Vec<u8>,
}

impl Files {
    pub(crate) fn new() -> Self {
        let directory = tempfile::tempdir().expect("a directory");
        let graph = directory.path().join("sound.sfg");
        let recorded = Command::new(env!("CARGO_BIN_EXE_surefit"))
            .args([
                "gc", "record", "trees", "--size", "4", "--every", "4K", "--memory", "16M", "-o",
            ])
            .arg(&graph)
            .output();
        assert!(recorded.expect("the command runs").status.success());
        Self {
            graph: std::fs::read(graph).expect("a recording"),
            directory,
        }
    }

    fn path(&self, name: &str) -> String {
        let path = self.directory.path().join(name);
        path.to_str().expect("a plain name").to_owned()
    }

    /// The path of a file to read: mostly of the kind that is meant.
    pub(crate) fn read(&self, random: &mut Random, kind: Kind) -> String {
        match random.random_range(0..30) {
            0 => self.no_file(random),
            1 => {
                let other = KINDS[random.random_range(0..KINDS.len())];
                self.written(random, other, "x.bin")
            }
            _ => {
                let names: &[&str] = match kind {
                    Kind::Trace => &["t.sft", "t.sft.zst", "-t", "t t:t"],
                    Kind::Graph => &["g.sfg", "g.sfg.zst"],
                    Kind::Demand => &["d.json"],
                    Kind::Classes => &["classes"],
                    Kind::Script => &["s.lua"],
                    Kind::Recording => &["r", "r.zst"],
                };
                let name = any(random, names);
                self.written(random, kind, name)
            }
        }
    }

    /// What cannot be read as a file, or never ends.
    fn no_file(&self, random: &mut Random) -> String {
        match random.random_range(0..8) {
            0 => "/no/such/file".to_owned(),
            1 => self.path("."),
            2 => "/dev/null".to_owned(),
            3 => "/dev/zero".to_owned(),
            4 => "/proc/self/mem".to_owned(),
            5 => self.huge(),
            6 => String::new(),
            _ => "bundled:nothing".to_owned(),
        }
    }

    /// A file of a tebibyte that takes no room.
    fn huge(&self) -> String {
        let path = self.path("huge.sft");
        let file = std::fs::File::create(&path).expect("a file");
        // a file system that has no such files has a shorter one
        let _ = file.set_len(1 << 40);
        path
    }

    fn written(&self, random: &mut Random, kind: Kind, name: &str) -> String {
        let mut bytes = match kind {
            Kind::Trace => trace(random, name.ends_with(".zst")),
            Kind::Graph => self.graph.clone(),
            Kind::Demand => demand(random).into_bytes(),
            Kind::Classes => classes(random).into_bytes(),
            Kind::Script => script(random).to_vec(),
            Kind::Recording => RECORDINGS[random.random_range(0..RECORDINGS.len())].to_vec(),
        };
        if random.random_range(0..8) == 0 {
            mutate(random, &mut bytes);
        }
        let path = self.path(name);
        std::fs::write(&path, bytes).expect("a file");
        path
    }

    /// A place to write to: some cannot be written.
    pub(crate) fn output(&self, random: &mut Random) -> String {
        match random.random_range(0..10) {
            0 => "/dev/full".to_owned(),
            1 => "/no/such/directory/x".to_owned(),
            2 => self.path("."),
            3 => "-".to_owned(),
            4 => "/proc/version".to_owned(),
            5 => "/dev/null".to_owned(),
            6 => self.path("out.zst"),
            _ => self.path("out"),
        }
    }

    pub(crate) fn directory(&self) -> &Path {
        self.directory.path()
    }
}

/// Cuts, flips, repeats and inserts bytes.
fn mutate(random: &mut Random, bytes: &mut Vec<u8>) {
    for _ in 0..random.random_range(1..4) {
        let at = random.random_range(0..bytes.len().max(1));
        match random.random_range(0..6) {
            0 => bytes.truncate(at),
            1 if at < bytes.len() => bytes[at] ^= 1 << random.random_range(0..8),
            2 if at < bytes.len() => bytes[at] = [0, 0x7F, 0x80, 0xFF][random.random_range(0..4)],
            3 => {
                let part = bytes[..at].to_vec();
                bytes.extend(part);
            }
            4 => {
                let mut junk = [0; 16];
                random.fill_bytes(&mut junk);
                let at = at.min(bytes.len());
                bytes.splice(at..at, junk);
            }
            _ => bytes.clear(),
        }
    }
}

/// A small sound trace, with requests of every size that the format has.
fn trace(random: &mut Random, packed: bool) -> Vec<u8> {
    let (mut events, mut live, mut next) = (Vec::new(), Vec::new(), 0);
    let usual = [100, 1000, 5000, 20_000, 100_000, 1 << 22];
    let largest = match random.random_range(0..10) {
        0 => 1 << 33,
        1 => MAX_SIZE,
        _ => usual[random.random_range(0..usual.len())],
    };
    // few heaps align objects to more than a page
    let most_log2 = if random.random_range(0..4) == 0 {
        30
    } else {
        7
    };
    let threads = random.random_range(1..4);
    let mut seen = 0;
    for _ in 0..random.random_range(0..200) {
        let thread = random.random_range(0..threads).min(seen);
        seen = seen.max(thread + 1);
        let op = match (random.random_range(0..5), live.len()) {
            (0, 1..) => Op::Free {
                id: live.swap_remove(random.random_range(0..live.len())),
            },
            (1, 1..) => Op::Realloc {
                id: live[random.random_range(0..live.len())],
                size: size(random, largest),
            },
            _ => {
                live.push(next);
                next += 1;
                Op::Alloc {
                    id: next - 1,
                    size: size(random, largest),
                    call: call(random, most_log2),
                }
            }
        };
        events.push(Event::new(thread, op));
    }
    let name = ["fuzz", "", "a\nb\u{1b}[31m", "é"][random.random_range(0..4)];
    let trace = Trace::new(name, events).expect("a sound trace");
    if !packed {
        return trace.to_bytes();
    }
    let mut bytes = Vec::new();
    trace
        .write_compressed(&mut bytes, 1, |_| {})
        .expect("memory");
    bytes
}

fn size(random: &mut Random, largest: u64) -> u64 {
    match random.random_range(0..20) {
        0 => 0,
        1 => largest,
        _ => random.random_range(0..=largest.min(4000)),
    }
}

fn call(random: &mut Random, most_log2: u8) -> Call {
    match random.random_range(0..8) {
        0 => Call::Calloc,
        1 => {
            let log2 = random.random_range(0..=most_log2);
            Call::Aligned(Align::from_log2(log2).expect("an alignment"))
        }
        _ => Call::Malloc,
    }
}

/// Numbers at the ends of what is meant.
pub(crate) const NUMBERS: [&str; 18] = [
    "0",
    "1",
    "2",
    "7",
    "8",
    "16",
    "100",
    "4096",
    "65535",
    "65536",
    "1000000",
    "4294967295",
    "4294967296",
    "1000000000000",
    "9223372036854775807",
    "18446744073709551615",
    "18446744073709551616",
    "-1",
];

pub(crate) fn any<'a>(random: &mut Random, of: &[&'a str]) -> &'a str {
    of[random.random_range(0..of.len())]
}

fn demand(random: &mut Random) -> String {
    let mut number = || any(random, &NUMBERS);
    let (a, b, c, d, e, f) = (number(), number(), number(), number(), number(), number());
    match random.random_range(0..6) {
        0 => format!("{{\"objects\": {a}, \"block_bytes\": {b}}}"),
        1 => format!(
            "{{\"objects\": {a}, \"block_bytes\": {b}, \"largest_request_bytes\": {c}, \"resized_bytes\": {d}}}"
        ),
        2 => format!("{{\"per_class\": [{{\"request_bytes\": {a}, \"objects\": {b}}}]}}"),
        3 => format!(
            "{{\"objects\": 1000, \"block_bytes\": 100000, \"per_class\": [{{\"request_bytes\": {a}, \
             \"objects\": {b}, \"align_bytes\": {c}}}, {{\"request_bytes\": {d}, \"objects\": {e}}}]}}"
        ),
        4 => format!("[{a}, {f}]"),
        _ => "[".repeat(100_000),
    }
}

fn classes(random: &mut Random) -> String {
    let count = random.random_range(0..12);
    let mut sizes: Vec<u64> = (0..count)
        .map(|_| random.random_range(0..2000) * 8)
        .collect();
    if random.random() {
        sizes.sort_unstable();
        sizes.dedup();
    }
    let mut text: Vec<_> = sizes.iter().map(u64::to_string).collect();
    if random.random_range(0..4) == 0 {
        text.push(any(random, &NUMBERS).to_owned());
    }
    text.join([" ", "\n", ", ", "\n# "][random.random_range(0..4)])
}

/// Scripts that end by themselves.
fn script(random: &mut Random) -> &'static [u8] {
    const SCRIPTS: [&[u8]; 12] = [
        b"",
        b"print('x', ...)",
        b"error('no')",
        b"error({})",
        b"error()",
        b"local t = {} while true do t[#t + 1] = {} end",
        b"local s = 'x' while true do s = s .. s end",
        b"local function f() return 1 + f() end f()",
        b"return ('x'):rep(1 << 40)",
        b"#! first line\nreturn",
        b"\x1bLua\x54\x00\x19\x93\r\n\x1a\n",
        b"local t = setmetatable({}, { __gc = function() error('gc') end }) t = nil collectgarbage()",
    ];
    SCRIPTS[random.random_range(0..SCRIPTS.len())]
}
