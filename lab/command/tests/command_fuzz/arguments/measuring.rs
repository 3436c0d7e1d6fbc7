//! Verbs that measure, certify and tune.

use rand::Rng;

use super::Line;
use crate::files::{Kind, any};

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

/// What `tune` takes, the more often the more there is to find.
const TUNABLE: [&str; 8] = [
    "cf",
    "cf",
    "cf:width=32",
    "cf:holes=4",
    "cf:pieces=off",
    "segregated",
    "jamaica",
    "cf-direct",
];

impl Line<'_> {
    pub(super) fn replay(&mut self) -> bool {
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

    pub(super) fn compare(&mut self) -> bool {
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

    pub(super) fn certify(&mut self) -> bool {
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

    pub(super) fn tune(&mut self) -> bool {
        self.push("tune");
        let file = self.files.read(self.random, Kind::Trace);
        self.push(file.clone());
        if self.one_in(4) {
            // The same one again, as several runs of one program.
            self.push(file);
        }
        if self.one_in(4) {
            self.push("--judge-halves");
        } else {
            self.option("--judge", 3, |line| {
                line.files.read(line.random, Kind::Trace)
            });
        }
        self.option("--classes", 2, |line| {
            line.mostly(&["3", "8", "64"], &["0", "2", "4294967296", "-1", "x"])
        });
        self.option("--allocator", 2, |line| {
            if line.one_in(8) {
                line.spec()
            } else {
                any(line.random, &TUNABLE).to_owned()
            }
        });
        self.option("-o", 6, |line| line.files.output(line.random));
        if self.one_in(3) {
            let language = any(self.random, &["toml", "rust", "c", "x"]);
            self.push(format!("--emit={language}"));
        } else {
            self.format();
        }
        true
    }

    /// Only lines that are refused: an experiment takes long.
    pub(super) fn experiment(&mut self) -> bool {
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
}
