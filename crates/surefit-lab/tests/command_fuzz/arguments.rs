//! Command lines: a verb, its options, values at the ends of what they may be, and now and then anything at all.

use std::ffi::OsString;
use std::os::unix::ffi::OsStringExt;

use rand::{Rng, RngCore};

use crate::Random;
use crate::child::{Case, Stdout};
use crate::files::{Files, Kind, NUMBERS, any};

const NAMES: [&str; 31] = [
    "cf",
    "cf",
    "cf",
    "cf-os",
    "cf-direct",
    "cf-paper",
    "cf-block-table",
    "indirect",
    "1-cf",
    "n-cf",
    "first-fit",
    "best-fit",
    "worst-fit",
    "next-fit",
    "tree-fit",
    "dl-binned",
    "segregated",
    "segregated",
    "half-fit",
    "buddy",
    "jamaica",
    "dl",
    "tlsf",
    "peer-rlsf",
    "peer-talc",
    "peer-dlmalloc",
    "system",
    "compact-fit",
    "preload",
    "",
    "nothing",
];

const KEYS: [&str; 27] = [
    "config",
    "k",
    "holes",
    "frac",
    "page",
    "min",
    "pieces",
    "order",
    "classes",
    "width",
    "keys",
    "branded",
    "frame",
    "block",
    "arrays",
    "index",
    "coalesce",
    "last",
    "lists",
    "threads",
    "threads-per-instance",
    "lock",
    "increment",
    "pins",
    "k",
    "",
    "x",
];

const WORDS: [&str; 24] = [
    "inf",
    "off",
    "newest",
    "original",
    "default",
    "16",
    "32",
    "64",
    "1/16",
    "0/0",
    "1/0",
    "3/4",
    "scan",
    "nht",
    "bitmap",
    "never",
    "deferred",
    "immediate",
    "tree",
    "linear",
    "page",
    "class",
    "",
    "=",
];

const SIZES: [&str; 8] = ["64", "1K", "4K", "16K", "64K", "1M", "4M", "64M"];

const SIZES_AT_THE_ENDS: [&str; 20] = [
    "0", "1", "7", "8", "63", "100", "10000", "100000", "16M", "1G", "100G", "1024G", "1025G",
    "nan", "1e300", "-1", "K", "1.5", "", "1e-300M",
];

const HEAPS: [&str; 4] = ["1.1x", "2x", "4x", "64x"];

const HEAPS_AT_THE_ENDS: [&str; 7] = ["1x", "0.001x", "1e6x", "1e7x", "infx", "x", "é"];

/// What an allocator's keys may be; the others have none.
const OWN_KEYS: [(&str, &[&str]); 9] = [
    (
        "cf",
        &[
            "k=1",
            "k=inf",
            "holes=4",
            "frac=1/16",
            "page=4K",
            "page=64K",
            "min=8",
            "pieces=1K",
            "pieces=off",
            "order=newest",
            "k=3,order=original",
            "width=16",
            "width=24",
            "width=32",
            "keys",
            "branded",
        ],
    ),
    (
        "compact-fit",
        &["k=1", "k=inf", "holes=32,frac=1/2", "page=4K", "pieces=4K"],
    ),
    (
        "cf-block-table",
        &["k=1", "frame=64", "frame=1K", "page=4K"],
    ),
    (
        "cf-os",
        &[
            "k=1",
            "page=4K",
            "limit=1M",
            "limit=64M",
            "delay=0",
            "delay=1000",
        ],
    ),
    ("cf-direct", &["min=8", "min=1024"]),
    ("cf-paper", &["min=16", "min=32"]),
    (
        "segregated",
        &[
            "index=scan",
            "index=nht",
            "coalesce=never",
            "coalesce=deferred",
            "last=linear",
            "lists=16",
            "lists=4096",
        ],
    ),
    (
        "jamaica",
        &["block=16", "block=128", "arrays=off", "arrays=64"],
    ),
    (
        "1-cf",
        &[
            "lock=heap",
            "lock=class",
            "lock=page",
            "increment=64",
            "k=2",
            "page=4K",
            "threads=2",
            "pins=1",
        ],
    ),
];

/// Bounds, and what is none.
const BOUNDS: [&str; 8] = [
    "cf.completed == 1",
    "tlsf.free_ns_max < 20us and cf.moves_total >= 0",
    "nothing: cf.completed == 1",
    "cf.min_heap_over_live <= (1 + 2) * 3",
    "\"cf:k=1\".certified_bytes / 0 < 64M",
    "((((",
    "cf.é < 1",
    "",
];

const MARGINS: [&str; 9] = ["auto", "0", "7.5%", "900", "901", "-1", "nan", "1e99", "x"];

const PROGRAMS: [&str; 7] = [
    "trees",
    "scheduler",
    "constraints",
    "loops",
    "json",
    "rays",
    "words",
];

/// A command line under construction.
struct Line<'a> {
    random: &'a mut Random,
    files: &'a Files,
    words: Vec<OsString>,
    json: bool,
}

/// One command line.
pub(crate) fn case(random: &mut Random, files: &Files) -> Case {
    let mut line = Line {
        random,
        files,
        words: Vec::new(),
        json: false,
    };
    let is_long = line.verb();
    // what is left out of a long command could make it the full one
    let is_spoilt = !is_long && line.one_in(10);
    if is_spoilt {
        line.spoil();
    }
    let stdout = if line.one_in(12) {
        Stdout::Full
    } else {
        Stdout::Kept
    };
    let counts = line
        .words
        .iter()
        .any(|word| word == "counting" || word == "--only=counting");
    let json = line.json && !is_spoilt && !counts;
    let words = line.words;
    Case {
        stdout: if prints(&words) { stdout } else { Stdout::Kept },
        figures_on_stderr: words.iter().any(|word| word == "lua"),
        json,
        arguments: words,
    }
}

/// Whether a line that succeeds prints something to standard output for certain.
fn prints(words: &[OsString]) -> bool {
    let silent = [
        "lua",
        "export",
        "import",
        "-",
        "gen",
        "record",
        "/dev/null",
        "counting",
        "--only=counting",
    ];
    !words
        .iter()
        .any(|word| silent.iter().any(|silent| word == silent))
}

impl Line<'_> {
    fn one_in(&mut self, count: u32) -> bool {
        self.random.random_range(0..count) == 0
    }

    fn push(&mut self, word: impl Into<OsString>) {
        self.words.push(word.into());
    }

    /// `--name value`, now and then.
    fn option(&mut self, name: &str, chance: u32, value: impl FnOnce(&mut Self) -> String) {
        if self.one_in(chance) {
            let value = value(self);
            if self.random.random() {
                self.push(format!("{name}={value}"));
            } else {
                self.push(name);
                self.push(value);
            }
        }
    }

    fn flag(&mut self, name: &str, chance: u32) {
        if self.one_in(chance) {
            self.push(name);
        }
    }

    /// Writes a verb and its arguments; whether the command could take long if it were another one.
    fn verb(&mut self) -> bool {
        match self.random.random_range(0..24) {
            0..6 => self.replay(),
            6..8 => self.compare(),
            8..11 => self.certify(),
            11..15 => self.trace(),
            15..17 => self.generate(),
            17..19 => self.gc_replay(),
            19..21 => self.lua(),
            21 => self.record(),
            22 => self.experiment(),
            _ => self.anything(),
        }
    }

    fn format(&mut self) {
        let format = match self.random.random_range(0..8) {
            0 => "table",
            1..4 => "json",
            4 if self.one_in(4) => "yaml",
            _ => return,
        };
        self.json = format == "json";
        self.push("--format");
        self.push(format);
    }

    fn replay(&mut self) -> bool {
        // What a measuring command tells its children.
        let is_child = self.one_in(8);
        self.push(if is_child {
            "replay-as-child"
        } else {
            "replay"
        });
        let file = self.files.read(self.random, Kind::Trace);
        self.push(file);
        let spec = self.spec();
        self.push("--allocator");
        self.push(spec);
        self.flag("--threads", 8);
        self.flag("--no-touch", 8);
        self.option("--heap", 2, Self::heap);
        self.option("--largest", 4, Self::size);
        self.rounds();
        if !is_child {
            self.format();
            return false;
        }
        self.option("--only", 2, |line| {
            any(
                line.random,
                &["checking", "timing,access", "x", "", "counting"],
            )
            .to_owned()
        });
        self.flag("--fed", 8);
        false
    }

    fn compare(&mut self) -> bool {
        let is_report = self.one_in(4);
        self.push(if is_report { "report" } else { "compare" });
        for _ in 0..self.random.random_range(1..3) {
            let file = self.files.read(self.random, Kind::Trace);
            self.push(file);
        }
        let count = self.random.random_range(1..4);
        let specs: Vec<_> = (0..count).map(|_| self.spec()).collect();
        self.push("--allocators");
        self.push(specs.join(","));
        self.option("--baseline", 6, |line| {
            if line.random.random() {
                specs[0].clone()
            } else {
                line.spec()
            }
        });
        self.rounds();
        self.option("--heap", 3, Self::heap);
        self.option("--largest", 4, Self::size);
        if is_report {
            self.option("-o", 1, |line| line.files.output(line.random));
            return true;
        }
        self.flag("--find-min-heap", 8);
        self.option("--report", 8, |line| line.files.output(line.random));
        self.option("--assert", 4, |line| any(line.random, &BOUNDS).to_owned());
        self.option("--save", 8, |line| line.files.output(line.random));
        self.option("--against", 8, |line| {
            line.files.read(line.random, Kind::Demand)
        });
        self.flag("--again", 12);
        self.format();
        true
    }

    fn certify(&mut self) -> bool {
        self.push("certify");
        let (option, kind) = match self.random.random_range(0..2) {
            0 => ("--trace", Kind::Trace),
            _ => ("--demand", Kind::Demand),
        };
        let file = self.files.read(self.random, kind);
        self.push(option);
        self.push(file);
        self.option("--allocator", 2, |line| {
            if line.one_in(8) {
                line.spec()
            } else {
                format!("cf{}", line.keys("cf"))
            }
        });
        self.option("--margin", 4, |line| any(line.random, &MARGINS).to_owned());
        self.option("--threads", 8, |line| any(line.random, &MARGINS).to_owned());
        self.option("--pins", 8, |line| any(line.random, &MARGINS).to_owned());
        self.format();
        false
    }

    fn trace(&mut self) -> bool {
        self.push("trace");
        let verb = any(self.random, &["stats", "check", "head", "export", "import"]);
        self.push(verb);
        let kind = match self.random.random_range(0..5) {
            _ if verb == "import" => Kind::Recording,
            0 => Kind::Graph,
            _ => Kind::Trace,
        };
        let file = self.files.read(self.random, kind);
        self.push(file);
        match verb {
            "import" => {
                self.option("-o", 20, |line| line.files.output(line.random));
                self.option("--name", 3, Self::number);
                self.format();
                return false;
            }
            "stats" => self.option("--sizes", 3, Self::number),
            "head" => self.option("-n", 2, Self::number),
            "export" => {
                self.option("--to", 3, |line| {
                    any(line.random, &["csv", "jsonl", "heaptrack", "pprof", "x"]).to_owned()
                });
                self.option("-o", 3, |line| line.files.output(line.random));
                return false;
            }
            _ => {}
        }
        for _ in 0..self.random.random_range(0..5) {
            let file = self.files.read(self.random, kind);
            self.push(file);
        }
        self.format();
        false
    }

    fn generate(&mut self) -> bool {
        self.push("gen");
        let name = any(
            self.random,
            &[
                "emacs-paper",
                "hummingbird-paper",
                "phase",
                "java-like",
                "lua-like",
            ],
        );
        self.push(name);
        self.option("--seed", 2, Self::number);
        // phase has no --allocations: the live bytes say how long it takes
        if name != "phase" || self.one_in(4) {
            let ends = [
                "0",
                "67108864",
                "1000000000000",
                "18446744073709551615",
                "x",
            ];
            let count = self.mostly(&["1", "10", "1000"], &ends);
            self.push("--allocations");
            self.push(count);
        }
        let live = self.mostly(&["64K", "256K", "1M"], &["0", "1", "1K", "1024G", "x"]);
        self.push("--live");
        self.push(live);
        let output = self.files.output(self.random);
        self.push("-o");
        let is_stream = output == "-";
        self.push(output);
        self.format();
        self.json &= !is_stream;
        true
    }

    fn gc_replay(&mut self) -> bool {
        self.push("gc");
        self.push("replay");
        let file = self.files.read(self.random, Kind::Graph);
        self.push(file);
        self.option("--space", 1, Self::spec);
        self.option("--heap", 2, Self::heap);
        self.option("--sweep", 4, |line| {
            any(line.random, &["walk", "leap", "x"]).to_owned()
        });
        self.option("--clock", 4, |line| {
            any(line.random, &["batch", "each", "x"]).to_owned()
        });
        self.flag("--find-min-heap", 8);
        self.flag("--check", 4);
        self.format();
        false
    }

    fn lua(&mut self) -> bool {
        self.push("gc");
        self.push("lua");
        let file = self.files.read(self.random, Kind::Script);
        self.push(file);
        self.option("--space", 2, Self::spec);
        self.option("--heap", 2, Self::size);
        self.format();
        self.json = false;
        false
    }

    fn record(&mut self) -> bool {
        self.push("gc");
        self.push("record");
        let name = any(self.random, &PROGRAMS);
        self.push(name);
        self.push("--size");
        let size = self.mostly(&["1", "2", "3"], &["0", "1000000", "4294967295", "x"]);
        self.push(size);
        self.option("--every", 3, |line| {
            any(line.random, &["0", "1", "64", "64K", "1024G", "x"]).to_owned()
        });
        self.push("--memory");
        let memory = any(self.random, &["1", "100", "4K", "64K", "1M", "8M", "1024G"]);
        self.push(memory);
        let output = self.files.output(self.random);
        self.push("-o");
        self.push(output);
        true
    }

    /// Only lines that are refused: an experiment takes long.
    fn experiment(&mut self) -> bool {
        self.push("experiment");
        let name = any(
            self.random,
            &[
                "figure-10",
                "table-3",
                "nht",
                "gc-lua",
                "bounds",
                "small-heaps",
                "all",
                "overview",
                "x",
            ],
        );
        self.push(name);
        self.flag("--quick", 2);
        let wrong = [
            "--rounds=0",
            "--rounds=1001",
            "--rounds=x",
            "--format=x",
            "--no-such-option",
            "--help",
            "--quick=x",
            "--plot",
            "-o",
        ];
        let wrong = any(self.random, &wrong);
        self.push(wrong);
        true
    }

    /// Words of the command's language in any order, and bytes of none.
    fn anything(&mut self) -> bool {
        let first = [
            "trace",
            "gc",
            "certify",
            "gen",
            "help",
            "--version",
            "-",
            "--",
            "",
        ];
        let first = any(self.random, &first);
        self.push(first);
        for _ in 0..self.random.random_range(0..5) {
            let word = self.junk();
            self.push(word);
        }
        self.words.truncate(8);
        true
    }

    fn junk(&mut self) -> OsString {
        match self.random.random_range(0..6) {
            0 => self.number().into(),
            1 => self.spec().into(),
            2 => self.files.directory().into(),
            3 => "x".repeat(100_000).into(),
            4 => any(
                self.random,
                &["--help", "--format", "json", "a\nb", "\u{1b}[2J", "-o"],
            )
            .into(),
            _ => {
                let mut bytes = vec![0; self.random.random_range(0..20)];
                self.random.fill_bytes(&mut bytes);
                bytes.retain(|byte| *byte != 0);
                OsString::from_vec(bytes)
            }
        }
    }

    /// Leaves out, repeats, exchanges or replaces a word.
    fn spoil(&mut self) {
        let at = self.random.random_range(0..self.words.len());
        match self.random.random_range(0..4) {
            0 => {
                self.words.remove(at);
            }
            1 => {
                let word = self.words[at].clone();
                self.words.insert(at, word);
            }
            2 => {
                let other = self.random.random_range(0..self.words.len());
                self.words.swap(at, other);
            }
            _ => self.words[at] = self.junk(),
        }
    }

    fn number(&mut self) -> String {
        any(self.random, &NUMBERS).to_owned()
    }

    /// One of the usual values, or now and then one at the ends.
    fn mostly(&mut self, usual: &[&str], ends: &[&str]) -> String {
        let values = if self.one_in(8) { ends } else { usual };
        any(self.random, values).to_owned()
    }

    fn size(&mut self) -> String {
        self.mostly(&SIZES, &SIZES_AT_THE_ENDS)
    }

    fn rounds(&mut self) {
        let rounds = self.mostly(&["1", "2"], &["0", "1001", "x", "-1", "4294967297"]);
        self.push("--rounds");
        self.push(rounds);
    }

    fn heap(&mut self) -> String {
        if self.one_in(3) {
            return self.mostly(&HEAPS, &HEAPS_AT_THE_ENDS);
        }
        self.size()
    }

    fn spec(&mut self) -> String {
        let name = any(self.random, &NAMES);
        match name {
            "preload" => {
                let file = self.files.read(self.random, Kind::Script);
                format!("preload:{file}")
            }
            _ if self.one_in(2) => name.to_owned(),
            _ => format!("{name}{}", self.keys(name)),
        }
    }

    /// Keys with values that the allocator has, or now and then any keys with any values.
    fn keys(&mut self, name: &str) -> String {
        let own = OWN_KEYS.iter().find(|(known, _)| *known == name);
        let Some((_, own)) = own.filter(|_| !self.one_in(6)) else {
            return self.any_keys();
        };
        let mut keys = vec![any(self.random, own).to_owned()];
        if self.one_in(3) {
            keys.push(any(self.random, own).to_owned());
        }
        if name == "cf" && self.one_in(6) {
            let file = self.files.read(self.random, Kind::Classes);
            keys.push(format!("classes={file}"));
        }
        format!(":{}", keys.join(","))
    }

    fn any_keys(&mut self) -> String {
        let mut text = String::new();
        for place in 0..self.random.random_range(0..4) {
            text.push(if place == 0 { ':' } else { ',' });
            let key = any(self.random, &KEYS);
            let value = match (key, self.random.random_range(0..8)) {
                ("classes" | "config", 1..) => self.files.read(self.random, Kind::Classes),
                ("page" | "pieces" | "frame" | "min" | "increment" | "arrays", 2..) => self.size(),
                ("k" | "holes" | "lists" | "block" | "threads" | "pins", 2..) => self.number(),
                _ => any(self.random, &WORDS).to_owned(),
            };
            text.push_str(&format!("{key}={value}"));
        }
        text
    }
}
