//! Command lines: a verb, its options, values at the ends of what they may be, and now and then
//! anything at all.
//!
//! ```text
//! measuring    replay, compare, report, certify, tune
//! traces       trace, gen
//! collecting   gc replay, gc lua, gc record
//! spoiling     words in any order, lines with a word left out, repeated or exchanged
//! allocators   SPECs
//! values       sizes, heaps, numbers
//! ```

mod allocators;
mod collecting;
mod measuring;
mod spoiling;
mod traces;
mod values;

use std::ffi::OsString;

use rand::Rng;
use rand_chacha::ChaCha8Rng as Random;

use crate::child::{Case, Stdout};
use crate::files::Files;

/// A command line under construction.
struct Line<'a> {
    pub(super) random: &'a mut Random,
    pub(super) files: &'a Files,
    pub(super) words: Vec<OsString>,
    pub(super) json: bool,
}

/// The verb that is to be tried alone.
pub(crate) fn only_verb() -> Option<String> {
    std::env::var("SUREFIT_FUZZ_VERB").ok()
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
    pub(super) fn one_in(&mut self, count: u32) -> bool {
        self.random.random_range(0..count) == 0
    }

    pub(super) fn push(&mut self, word: impl Into<OsString>) {
        self.words.push(word.into());
    }

    /// `--name value`, now and then.
    pub(super) fn option(
        &mut self,
        name: &str,
        chance: u32,
        value: impl FnOnce(&mut Self) -> String,
    ) {
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

    pub(super) fn flag(&mut self, name: &str, chance: u32) {
        if self.one_in(chance) {
            self.push(name);
        }
    }

    /// Writes a verb and its arguments; whether the command could take long if it were another one.
    fn verb(&mut self) -> bool {
        if let Some(only) = only_verb() {
            return self.only(&only);
        }
        match self.random.random_range(0..25) {
            0..6 => self.replay(),
            6..8 => self.compare(),
            8..11 => self.certify(),
            11..15 => self.trace(),
            15..17 => self.generate(),
            17..19 => self.gc_replay(),
            19..21 => self.lua(),
            21 => self.record(),
            22 => self.experiment(),
            23 => self.tune(),
            _ => self.anything(),
        }
    }

    /// Writes one verb only.
    fn only(&mut self, verb: &str) -> bool {
        match verb {
            "replay" => self.replay(),
            "compare" => self.compare(),
            "certify" => self.certify(),
            "tune" => self.tune(),
            "trace" => self.trace(),
            "gen" => self.generate(),
            "gc replay" => self.gc_replay(),
            "gc lua" => self.lua(),
            "gc record" => self.record(),
            "experiment" => self.experiment(),
            other => panic!("SUREFIT_FUZZ_VERB: {other} is no verb that is tried"),
        }
    }

    pub(super) fn format(&mut self) {
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
}
