//! Verbs that read, convert and make traces.

use rand::Rng;

use super::Line;
use crate::files::{Kind, any};

impl Line<'_> {
    pub(super) fn trace(&mut self) -> bool {
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

    pub(super) fn generate(&mut self) -> bool {
        self.push("gen");
        let name = any(
            self.random,
            &[
                "emacs-paper",
                "hummingbird-paper",
                "emacs-lives",
                "hummingbird-lives",
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
}
