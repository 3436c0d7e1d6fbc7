//! The Lua programs that come with surefit. Each takes one number, which says how much it does.
#![deny(unsafe_code)]

use core::ffi::CStr;

use super::vm::Script;

/// A program that comes with surefit.
#[derive(Clone, Copy, Debug)]
pub struct Program {
    /// Its name.
    pub name: &'static str,
    /// A description.
    pub what: &'static str,
    /// Its text.
    pub source: &'static str,
    /// The number for a run of a few milliseconds.
    pub small: &'static str,
    /// The number for a run of some tens of milliseconds.
    pub usual: &'static str,
    chunk: &'static CStr,
}

impl Program {
    /// The program as a script with these arguments.
    #[must_use]
    pub const fn script<'a>(&self, arguments: &'a [&'a [u8]]) -> Script<'a> {
        Script {
            name: self.chunk,
            source: self.source.as_bytes(),
            arguments,
        }
    }
}

macro_rules! programs {
    ($($name:literal $what:literal $small:literal $usual:literal;)*) => {
        /// All programs. Their output depends only on their number.
        pub const PROGRAMS: &[Program] = &[$(Program {
            name: $name,
            what: $what,
            source: include_str!(concat!("../../lua/", $name, ".lua")),
            small: $small,
            usual: $usual,
            chunk: {
                const NAME: &str = concat!("@", $name, ".lua\0");
                match CStr::from_bytes_with_nul(NAME.as_bytes()) {
                    Ok(name) => name,
                    Err(_) => panic!("a name has no zeros"),
                }
            },
        },)*];
    };
}

programs! {
    "binary_trees" "complete binary trees, made and walked while one stays" "8" "12";
    "richards" "the scheduler of an operating system: tasks, queues, packets" "1" "6";
    "deltablue" "a solver of one-way constraints, by strength" "30" "300";
    "havlak" "loops of control-flow graphs, by union of sets" "2" "40";
    "json" "documents, written as text and read again" "10" "100";
    "raytrace" "spheres over a floor, every vector an object" "16" "60";
    "strings" "words: split, counted, sorted, replaced, joined" "4" "60";
}
