//! What heaps move and need: under P_R, under a thinning program, and on real traces.
#![deny(unsafe_code)]

use std::path::Path;

use anyhow::{Context, Result};
use surefit_os::Reservation;

use super::super::escape::{Escaped, SIMULATED, page_bytes};
use super::super::ground::Land;
use super::super::program::Program;
use super::super::systems::{ESCAPE_ROBSON, NEVER_MOVE, kind};
use super::bounds;
use super::model::{Modelled, modelled};
use super::thinning::Thinning;
use surefit_measure::passes::checking::Checking;
use surefit_measure::passes::min_heap::min_heap;
use surefit_measure::passes::residence::Place;
use surefit_measure::sizes::HeapSize;
use surefit_measure::source::Source;
use surefit_measure::steps::{Action, Steps};

/// c of the thinning program that is run: it is the worst one known here for a heap that moves a
/// fiftieth.
const THINNING_AGAINST: f64 = 50.0;

/// Each c of the model.
const MODELS: [u64; 6] = [1, 2, 4, 10, 20, 50];

/// A heap under a program in words.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct Point {
    /// The system.
    pub(super) system: &'static str,
    /// Words that the heap spans, in whole pages if it has pages, over M.
    pub(super) spans: f64,
    /// Words moved by each word allocated.
    pub(super) moved: f64,
    /// Words that a heap spans at least that moves so many under this program, over M; `None` if no
    /// theorem is known of the program and heaps that move.
    pub(super) bound: Option<f64>,
}

/// Compact-fit on a trace.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct OnTrace {
    /// The setting.
    pub(super) setting: &'static str,
    /// Bytes moved by each byte requested, in the usual heap.
    pub(super) moved: f64,
    /// The least heap, tables included, over the most bytes live; `None` if there is none.
    pub(super) needs: Option<f64>,
    /// The part of the bytes live at the peak that was in pieces.
    pub(super) in_pieces: f64,
}

/// A trace and Compact-fit's settings on it, those that move most first.
#[derive(Clone, Debug)]
pub(super) struct Trace {
    pub(super) name: String,
    pub(super) settings: Vec<OnTrace>,
}

impl Trace {
    /// What the setting that moves most needs, and the one that moves nothing; `None` if either
    /// has no figure.
    pub(super) fn ends(&self) -> Option<(f64, f64)> {
        let [most, .., least] = self.settings.as_slice() else {
            return None;
        };
        Some((most.needs?, least.needs?))
    }
}

/// All points.
#[derive(Debug)]
pub(in super::super) struct Points {
    /// Compact-fit under P_R.
    pub(super) robson: Vec<Point>,
    /// All systems whose objects lie in one piece under the thinning program.
    pub(super) thinning: Vec<Point>,
    /// The thinning program.
    pub(super) program: Thinning,
    /// The model of the upper bound under P_R.
    pub(super) model: Vec<Modelled>,
    pub(super) traces: Vec<Trace>,
}

/// Compact-fit's settings on traces, those that move most first.
const SETTINGS: [(&str, &str); 4] = [
    ("κ=1", "cf:k=1"),
    ("κ=8", "cf:k=8"),
    ("holes", "cf"),
    ("κ=∞", "cf:k=inf"),
];

/// Runs and replays everything; `escaped` is what ran under P_R.
///
/// # Errors
/// A trace cannot be read; no memory.
pub(in super::super) fn points(escaped: &[Escaped], files: &[impl AsRef<Path>]) -> Result<Points> {
    let known = bounds::needed(SIMULATED, THINNING_AGAINST);
    let (program, _) = known.context("a program is known")?;
    let in_pages = escaped.iter().filter_map(|one| {
        let moved = one.moved_words().unwrap_or(0.0) / one.allocated as f64;
        Some(Point {
            system: one.system.name,
            spans: one.held_ratio()?,
            moved,
            bound: None,
        })
    });
    Ok(Points {
        robson: in_pages.collect(),
        thinning: thinned(program)?,
        program,
        model: MODELS
            .map(|c| modelled(Program::Robson(SIMULATED), c))
            .to_vec(),
        traces: files
            .iter()
            .map(|file| on_trace(file.as_ref()))
            .collect::<Result<_>>()?,
    })
}

/// Every system whose objects lie in one piece, under the program in an ample heap.
fn thinned(program: Thinning) -> Result<Vec<Point>> {
    let never = NEVER_MOVE.iter().map(|one| (one.name, one.spec, one.word));
    let escaping = ESCAPE_ROBSON
        .iter()
        .map(|one| (one.name, one.spec, one.word));
    let mut points = Vec::new();
    for (system, spec, word) in never.chain(escaping) {
        let kind = kind(spec)?;
        let page = page_bytes(&kind).map(|bytes| bytes / word.bytes as u64);
        let is_whole = page.is_some() || NEVER_MOVE.iter().any(|one| one.name == system);
        if !is_whole {
            continue;
        }
        let ample = AMPLE * program.live() * word.bytes as u64;
        let run = Land::new(&kind, word).in_bytes(ample, Program::Thinning(program));
        anyhow::ensure!(run.completed, "{system} refused the thinning program");
        let moved = run.moves.map_or(0, |moves| moves.bytes_total) as f64 / word.bytes as f64;
        let spans = run.account.span().next_multiple_of(page.unwrap_or(1)) as f64;
        let live = program.live() as f64;
        points.push(Point {
            system,
            spans: spans / live,
            moved: moved / run.account.allocated as f64,
            bound: Some(program.bound(moved) / live),
        });
    }
    Ok(points)
}

/// Regions of so many times M words are ample.
const AMPLE: u64 = 16;

fn on_trace(file: &Path) -> Result<Trace> {
    let source = Source::load(file, None)?;
    let steps = &source.steps;
    let requested = requested(steps).max(1) as f64;
    let live = steps.peak_live_bytes.max(1) as f64;
    let on = |(setting, spec)| -> Result<OnTrace> {
        let kind = kind(spec)?;
        let mut region = Reservation::new(HeapSize::DEFAULT.bytes(steps.peak_live_bytes))?;
        let replay = Checking {
            steps,
            heap_bytes: None,
            touch: false,
            place: Place::Unsampled,
        };
        let checked = kind.run_untimed(region.memory(), replay)?;
        let checked = checked.map_err(|stopped| anyhow::anyhow!("{spec}: {stopped:?}"))?;
        let least = min_heap(&kind, steps, steps.peak_live_bytes as usize)?;
        let moved = checked.moves.map_or(0, |moves| moves.bytes_total);
        Ok(OnTrace {
            setting,
            moved: moved as f64 / requested,
            needs: least.map(|bytes| bytes as f64 / live),
            in_pieces: checked.bytes_in_pieces_at_peak as f64 / live,
        })
    };
    Ok(Trace {
        name: steps.name.clone(),
        settings: SETTINGS.into_iter().map(on).collect::<Result<_>>()?,
    })
}

/// The bytes that a trace requests in all: a reallocation requests its new size.
fn requested(steps: &Steps) -> u64 {
    let requests = steps
        .steps()
        .iter()
        .filter(|step| step.action != Action::Free);
    requests.map(|step| u64::from(step.size)).sum()
}
