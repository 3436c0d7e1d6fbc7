//! The programs that experiments replay: recorded traces, and synthetic ones made on the spot.
//!
//! ```text
//! FILE                     a recorded trace
//! bundled:emacs            a recorded trace inside the command
//! gen:emacs-paper          the paper's Emacs by its size histogram, 25.7 MB live as in the paper's table 3
//! gen:hummingbird-paper    the paper's web proxy, 203.7 MB live; objects above 16 KiB are left out, as in the paper
//! gen:emacs-lives          the same sizes and bytes, with the lifetimes of a recorded Emacs; so hummingbird-lives
//! gen:phase                sizes that drift
//! gen:java-like            sizes and lifetimes of Java objects, freed explicitly
//! gen:lua-like             what Lua 5.4 makes, freed explicitly
//! ```
//! Quick, the synthetic programs have a sixteenth of the live bytes and a tenth of the allocations;
//! recorded ones stay as they are.
//!
//! # Source
//! Craciunas et al. (2009), macrobenchmarks: the histograms, and the memory of table 3, where the
//! paper's allocators hold 25.7 MB and 203.7 MB. The paper's own traces are not public.

use std::path::{Path, PathBuf};

use anyhow::{Context, Result, anyhow};
use surefit_trace::Trace;
use surefit_trace::generate::{Options, Program};

use crate::kit::Request;
use surefit_measure::source::Source;

/// What names a synthetic program, before its name.
const MADE: &str = "gen:";

/// The paper's Emacs, synthetic: the lifetimes are a recorded one's.
pub(crate) const EMACS_LIVES: &str = "gen:emacs-lives";

/// The paper's web proxy, synthetic, with the same lifetimes.
pub(crate) const HUMMINGBIRD_LIVES: &str = "gen:hummingbird-lives";

/// The paper's Emacs, synthetic: the victims are random.
#[cfg(test)]
pub(crate) const EMACS_PAPER: &str = "gen:emacs-paper";

/// The paper's web proxy, synthetic, with random victims.
#[cfg(test)]
pub(crate) const HUMMINGBIRD_PAPER: &str = "gen:hummingbird-paper";

/// A real Emacs.
pub(crate) const EMACS: &str = "bundled:emacs";

/// The paper's two programs, and a real Emacs; give a recorded proxy as a file.
pub(crate) const PAPERS: [&str; 3] = [EMACS_LIVES, HUMMINGBIRD_LIVES, EMACS];

/// Bytes live at once in the paper's two programs.
const EMACS_LIVE_BYTES: u64 = 25_700_000;
const HUMMINGBIRD_LIVE_BYTES: u64 = 203_700_000;

/// Programs with fewer bytes live than half of what the paper's Emacs has, the smaller of its two,
/// are too small to confirm or to refute what it says of memory and time: page-blocks of κ pages
/// per size-class, and caches, weigh more there.
const LARGE_LIVE_BYTES: u64 = EMACS_LIVE_BYTES / 2;

/// Allocations of a synthetic program.
const ALLOCATIONS: u64 = 1_000_000;

/// Whether a program with so many bytes live at once is comparable to the paper's.
pub(crate) const fn is_large(live_bytes: u64) -> bool {
    live_bytes >= LARGE_LIVE_BYTES
}

/// What [`is_large`] asks for, in words.
pub(crate) fn large_words() -> String {
    let mb = LARGE_LIVE_BYTES as f64 / 1e6;
    format!("half of the 25.7 MB of the paper's Emacs ({mb:.1} MB)")
}

/// The traces to replay: those asked for, else these.
pub(crate) fn names(request: &Request, usual: &[&str]) -> Vec<PathBuf> {
    match request.files.as_slice() {
        [] => usual.iter().map(PathBuf::from).collect(),
        files => files.to_vec(),
    }
}

/// Loads or makes one of them.
///
/// # Errors
/// One line that names the trace and the mend.
pub(crate) fn load(name: &Path, quick: bool) -> Result<Source> {
    match name.to_str().and_then(|name| name.strip_prefix(MADE)) {
        Some(program) => Source::made(&format!("{MADE}{program}"), made(program, quick)?),
        None => Source::load(name, None),
    }
}

/// As [`load`], without the objects that are ever larger than `largest` bytes.
///
/// # Errors
/// As [`load`].
pub(crate) fn load_up_to(name: &Path, quick: bool, largest: usize) -> Result<Source> {
    match name.to_str().and_then(|name| name.strip_prefix(MADE)) {
        Some(program) => {
            let whole = made(program, quick)?;
            Source::made_up_to(&format!("{MADE}{program}"), &whole, largest)
        }
        None => Source::load(name, Some(largest)),
    }
}

fn made(name: &str, quick: bool) -> Result<Trace> {
    let program = Program::from_name(name).ok_or_else(|| {
        let known = Program::ALL.map(Program::name).join(", ");
        anyhow!("{MADE}{name}: no such synthetic program: known are {known}")
    })?;
    let live_bytes = match program {
        Program::EmacsPaper | Program::EmacsLives => Some(EMACS_LIVE_BYTES),
        Program::HummingbirdPaper | Program::HummingbirdLives => Some(HUMMINGBIRD_LIVE_BYTES),
        _ => quick.then_some(16 << 20),
    };
    let has_allocations = !matches!(program, Program::Phase);
    let options = Options {
        seed: 1,
        allocations: has_allocations.then_some(if quick { ALLOCATIONS / 10 } else { ALLOCATIONS }),
        live_bytes: live_bytes.map(|bytes| if quick { bytes / 16 } else { bytes }),
    };
    program
        .generate(&options)
        .with_context(|| format!("{MADE}{name}"))
}

/// Whether a trace is, or stands for, the paper's Emacs or its web proxy.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum StandsFor {
    /// Emacs.
    Emacs,
    /// Hummingbird: a web proxy.
    Proxy,
    /// Neither.
    Neither,
}

impl StandsFor {
    /// What a trace stands for, by its name: emacs…, or a proxy's.
    pub(crate) fn of(trace: &str) -> Self {
        if trace.starts_with("emacs") {
            Self::Emacs
        } else if trace.starts_with("hummingbird") || trace.starts_with("varnish") {
            Self::Proxy
        } else {
            Self::Neither
        }
    }

    /// What the papers say of the program that a trace stands for.
    pub(crate) fn choose<T>(self, emacs: T, proxy: T) -> Option<T> {
        match self {
            Self::Emacs => Some(emacs),
            Self::Proxy => Some(proxy),
            Self::Neither => None,
        }
    }

    /// The paper's name of it.
    pub(crate) fn papers_name(self) -> Option<&'static str> {
        self.choose("Emacs", "Hummingbird")
    }
}

#[cfg(test)]
mod tests {
    use super::{EMACS_PAPER, HUMMINGBIRD_PAPER, PAPERS, StandsFor, load, load_up_to, names};
    use crate::kit::Request;
    use std::path::Path;
    use surefit_measure::source::Source;

    #[test]
    fn a_synthetic_program_is_made_by_its_name() {
        let source = load(Path::new(EMACS_PAPER), true).expect("made");
        assert_eq!(source.steps.name, "emacs-paper");
        assert!((1_500_000..=1_606_250).contains(&source.steps.peak_live_bytes));
        let error = load(Path::new("gen:vi"), true).expect_err("unknown");
        assert!(error.to_string().contains("hummingbird-paper"), "{error}");
    }

    #[test]
    fn larger_objects_are_left_out_of_synthetic_programs_too() {
        let largest = |source: &Source| {
            let sizes = source.steps.steps().iter().map(|step| step.size);
            sizes.max()
        };
        let name = Path::new(HUMMINGBIRD_PAPER);
        let whole = load(name, true).expect("made");
        let rest = load_up_to(name, true, 1000).expect("made");
        assert!(largest(&whole) > Some(1000) && largest(&rest) <= Some(1000));
    }

    #[test]
    fn files_replace_the_programs_of_the_papers() {
        assert_eq!(names(&Request::default(), &PAPERS).len(), 3);
        let files = vec!["a.sft".into()];
        let request = Request {
            files: files.clone(),
            ..Request::default()
        };
        assert_eq!(names(&request, &PAPERS), files);
    }

    #[test]
    fn the_papers_programs_are_known_by_their_stand_ins() {
        let names = [
            "emacs",
            "emacs-paper",
            "varnish",
            "hummingbird-paper",
            "redis",
        ];
        let papers = names.map(|name| StandsFor::of(name).papers_name());
        assert_eq!(
            papers,
            [
                Some("Emacs"),
                Some("Emacs"),
                Some("Hummingbird"),
                Some("Hummingbird"),
                None
            ]
        );
    }
}
