//! Words of the command's language in any order, and lines that are not quite right.

use std::ffi::OsString;
use std::os::unix::ffi::OsStringExt;

use rand::{Rng, RngCore};

use super::Line;
use crate::files::any;

impl Line<'_> {
    /// Words of the command's language in any order, and bytes of none.
    pub(super) fn anything(&mut self) -> bool {
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

    pub(super) fn junk(&mut self) -> OsString {
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
    pub(super) fn spoil(&mut self) {
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
}
