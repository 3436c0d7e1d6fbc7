//! Verbs on object graphs and scripts.

use super::Line;
use crate::files::{Kind, any};

const PROGRAMS: [&str; 7] = [
    "trees",
    "scheduler",
    "constraints",
    "loops",
    "json",
    "rays",
    "words",
];

impl Line<'_> {
    pub(super) fn gc_replay(&mut self) -> bool {
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

    pub(super) fn lua(&mut self) -> bool {
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

    pub(super) fn record(&mut self) -> bool {
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
}
