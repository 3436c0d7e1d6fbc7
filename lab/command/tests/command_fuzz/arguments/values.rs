//! Sizes, heaps, rounds and numbers, mostly usual ones.

use super::Line;
use crate::files::{NUMBERS, any};

const SIZES: [&str; 8] = ["64", "1K", "4K", "16K", "64K", "1M", "4M", "64M"];

const SIZES_AT_THE_ENDS: [&str; 20] = [
    "0", "1", "7", "8", "63", "100", "10000", "100000", "16M", "1G", "100G", "1024G", "1025G",
    "nan", "1e300", "-1", "K", "1.5", "", "1e-300M",
];

const HEAPS: [&str; 4] = ["1.1x", "2x", "4x", "64x"];

const HEAPS_AT_THE_ENDS: [&str; 7] = ["1x", "0.001x", "1e6x", "1e7x", "infx", "x", "é"];

impl Line<'_> {
    pub(super) fn number(&mut self) -> String {
        any(self.random, &NUMBERS).to_owned()
    }

    /// One of the usual values, or now and then one at the ends.
    pub(super) fn mostly(&mut self, usual: &[&str], ends: &[&str]) -> String {
        let values = if self.one_in(8) { ends } else { usual };
        any(self.random, values).to_owned()
    }

    pub(super) fn size(&mut self) -> String {
        self.mostly(&SIZES, &SIZES_AT_THE_ENDS)
    }

    pub(super) fn rounds(&mut self) {
        let rounds = self.mostly(&["1", "2"], &["0", "1001", "x", "-1", "4294967297"]);
        self.push("--rounds");
        self.push(rounds);
    }

    pub(super) fn heap(&mut self) -> String {
        if self.one_in(3) {
            return self.mostly(&HEAPS, &HEAPS_AT_THE_ENDS);
        }
        self.size()
    }
}
