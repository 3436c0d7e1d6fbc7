//! Synthetic programs: traces with the size histograms of the Compact-fit paper, one whose sizes
//! drift, and two that free explicitly what a Java and a Lua program leave to a collector.
//!
//! The traces that the paper measured are not public; these have their histograms and say so in
//! their names. They and the one that drifts free a uniformly random victim among the live objects,
//! so objects have exponential lifetimes and no order among the frees helps an allocator. Two have
//! the same histograms, and the lifetimes of a recorded Emacs (module `lives`). In the last two,
//! objects die in groups, most of them young (module `groups`). Objects that live at the end stay
//! live, as in most programs.
//!
//! The same seed gives the same trace on every machine: ChaCha with 8 rounds, and no floating-point
//! operation but those that IEEE 754 defines exactly.
//!
//! # Source
//! Craciunas et al. (2009), macrobenchmarks of figure 10, for the two histograms; the drifting
//! sizes are ours. The Java-like sizes and lifetimes are recorded, see `java` and `groups`; the
//! Lua-like sizes are those of the interpreter's structures.

mod churn;
mod error;
mod groups;
mod java;
mod lives;
mod lua;
mod phase;
mod random;
mod script;
mod tape;

pub use churn::{Churn, emacs_paper, hummingbird_paper};
pub use error::GenerateError;
pub use java::java_like;
pub use lives::{emacs_lives, hummingbird_lives};
pub use lua::lua_like;
pub use phase::{Phases, phase};

use crate::{Event, Trace};

/// A synthetic program by name.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Program {
    /// [`emacs_paper`].
    EmacsPaper,
    /// [`hummingbird_paper`].
    HummingbirdPaper,
    /// [`emacs_lives`].
    EmacsLives,
    /// [`hummingbird_lives`].
    HummingbirdLives,
    /// [`phase()`].
    Phase,
    /// [`java_like`].
    JavaLike,
    /// [`lua_like`].
    LuaLike,
}

impl Program {
    /// Every program.
    pub const ALL: [Self; 7] = [
        Self::EmacsPaper,
        Self::HummingbirdPaper,
        Self::EmacsLives,
        Self::HummingbirdLives,
        Self::Phase,
        Self::JavaLike,
        Self::LuaLike,
    ];

    /// The name, which is also that of its traces.
    #[must_use]
    pub const fn name(self) -> &'static str {
        match self {
            Self::EmacsPaper => "emacs-paper",
            Self::HummingbirdPaper => "hummingbird-paper",
            Self::EmacsLives => "emacs-lives",
            Self::HummingbirdLives => "hummingbird-lives",
            Self::Phase => "phase",
            Self::JavaLike => "java-like",
            Self::LuaLike => "lua-like",
        }
    }

    /// The program of a name; `None` if there is none.
    #[must_use]
    pub fn from_name(name: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|program| program.name() == name)
    }

    /// What the program does, in one line.
    #[must_use]
    pub const fn about(self) -> &'static str {
        match self {
            Self::EmacsPaper => {
                "51 % of 40 B, 15 % of 648 B, 11 % of 104 B, the rest to 1 KiB; 7.7 MB live"
            }
            Self::HummingbirdPaper => "25 % of 8 B, 23 % of 32 B, the rest to 16 KiB; 124 MB live",
            Self::EmacsLives => "sizes of emacs-paper, lifetimes of a recorded Emacs; 7.7 MB live",
            Self::HummingbirdLives => {
                "sizes of hummingbird-paper, lifetimes of a recorded Emacs; 124 MB live"
            }
            Self::Phase => {
                "ten times: fill, free a random 80 %, sizes x 1.7; from 24-40 B, 16.8 MB live"
            }
            Self::JavaLike => {
                "sizes of javac, HSQLDB and Drools, 76 % die young, in rows; 4.4 MB live"
            }
            Self::LuaLike => "tables that double, strings, closures; 76 % die young; 4 MB live",
        }
    }

    /// Makes the trace, with the program's own values for what the options leave out.
    ///
    /// # Errors
    /// Options that the program does not have or cannot follow.
    pub fn generate(self, options: &Options) -> Result<Trace, GenerateError> {
        match self {
            Self::EmacsPaper => emacs_paper(&options.churn(Churn::EMACS)),
            Self::HummingbirdPaper => hummingbird_paper(&options.churn(Churn::HUMMINGBIRD)),
            Self::EmacsLives => emacs_lives(&options.churn(Churn::EMACS)),
            Self::HummingbirdLives => hummingbird_lives(&options.churn(Churn::HUMMINGBIRD)),
            Self::JavaLike => java_like(&options.churn(Churn::JAVA)),
            Self::LuaLike => lua_like(&options.churn(Churn::LUA)),
            Self::Phase => phase(&options.phases()?),
        }
    }

    /// Gives the events of the trace one after the other, as [`Program::generate`] makes them; they
    /// may be more than fit in memory, which follows the live objects.
    ///
    /// # Errors
    /// As [`Program::generate`].
    pub fn play(self, options: &Options, mut each: impl FnMut(Event)) -> Result<(), GenerateError> {
        let sink = &mut each;
        match self {
            Self::EmacsPaper => churn::play(&churn::EMACS, &options.churn(Churn::EMACS), sink),
            Self::HummingbirdPaper => churn::play(
                &churn::HUMMINGBIRD,
                &options.churn(Churn::HUMMINGBIRD),
                sink,
            ),
            Self::EmacsLives => lives::play(&churn::EMACS, &options.churn(Churn::EMACS), sink),
            Self::HummingbirdLives => lives::play(
                &churn::HUMMINGBIRD,
                &options.churn(Churn::HUMMINGBIRD),
                sink,
            ),
            Self::JavaLike => java::play(&options.churn(Churn::JAVA), sink),
            Self::LuaLike => lua::play(&options.churn(Churn::LUA), sink),
            Self::Phase => phase::play(&options.phases()?, sink),
        }
    }
}

/// What can be chosen for every program.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Options {
    /// The seed of all random choices.
    pub seed: u64,
    /// How many objects to allocate; not for `phase`.
    pub allocations: Option<u64>,
    /// The most bytes live at once.
    pub live_bytes: Option<u64>,
}

impl Options {
    fn phases(&self) -> Result<Phases, GenerateError> {
        if self.allocations.is_some() {
            return Err(GenerateError::AllocationsFollow);
        }
        Ok(Phases {
            seed: self.seed,
            live_bytes: self.live_bytes.unwrap_or(Phases::DEFAULT.live_bytes),
            ..Phases::DEFAULT
        })
    }

    fn churn(&self, default: Churn) -> Churn {
        Churn {
            seed: self.seed,
            allocations: self.allocations.unwrap_or(default.allocations),
            live_bytes: self.live_bytes.unwrap_or(default.live_bytes),
        }
    }
}
