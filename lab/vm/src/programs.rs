//! The programs that measure collectors: `java/programs`.

use std::sync::LazyLock;

use crate::program::Program;

/// A program that measures collectors.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Measuring {
    /// The class whose `main` is run.
    pub main: &'static str,
    /// The program of SPECjvm98 whose published description it follows.
    pub like: &'static str,
    /// What it is given where it runs many times, in heaps of many sizes: little lives, so that 50
    /// collections and more, in twice the smallest heap, do not take long.
    pub usual: &'static [&'static str],
    /// What it is given where it is only to be seen that it runs.
    pub quick: &'static [&'static str],
}

impl Measuring {
    /// All of them.
    pub const ALL: [Self; 7] = [
        of("Compress", "compress", [&["130", "12"], &["1"]]),
        of("Rules", "jess", [&["26", "1", "small"], &["1"]]),
        of("Raytrace", "raytrace", [&["86", "4"], &["16"]]),
        of("Database", "db", [&["8000", "100", "120"], &["50", "50"]]),
        of("Compile", "javac", [&["200", "1"], &["2"]]),
        of("RaytraceThreads", "mtrt", [&["86", "4"], &["16"]]),
        of("Generate", "jack", [&["76", "1"], &["1"]]),
    ];
}

const fn of(
    main: &'static str,
    like: &'static str,
    [usual, quick]: [&'static [&'static str]; 2],
) -> Measuring {
    Measuring {
        main,
        like,
        usual,
        quick,
    }
}

/// The classes of all of them.
#[must_use]
pub fn measuring() -> &'static Program {
    static ALL: LazyLock<Program> = LazyLock::new(|| {
        let jar = include_bytes!("../java/programs.jar");
        Program::of_jar(jar.to_vec()).expect("the programs are a jar")
    });
    &ALL
}
