//! Measures traces: the part of `compare` that `report` shares.

use std::path::PathBuf;

use anyhow::{Result, anyhow};

use super::ablation::{self, ablation};
use super::{hinted, own};
use crate::details;
use crate::report::Details;
use surefit_measure::config_file;
use surefit_measure::error::{Broken, complain};
use surefit_measure::passes::percentiles;
use surefit_measure::progress::Progress;
use surefit_measure::results::{AllocatorResult, Comparison, OnThreads, SCHEMA, TraceResults};
use surefit_measure::rounds::{self, Brief, Plan};
use surefit_measure::single;
use surefit_measure::sizes::HeapSize;
use surefit_measure::source::Source;
use surefit_measure::spec::{Spec, place_of};
use surefit_measure::steps::Steps;
use surefit_measure::threaded;

/// What is compared unless the user says otherwise.
const DEFAULT_ALLOCATORS: &str = "cf,cf-direct,tlsf,peer-rlsf,peer-talc,peer-dlmalloc,system";

/// What the default allocators are compared to.
const DEFAULT_BASELINE: &str = "peer-rlsf";

/// Rounds of the timing pass unless the user says otherwise.
const ROUNDS: u32 = 3;

/// What a comparison does unless the user says how many rounds: the access pass reads memory at
/// random, which takes longer than all other passes together.
const BRIEF: Brief = Brief {
    most_rounds: 5,
    most_accesses: 3_000_000,
    most_events: 8_000_000,
};

/// Rounds of the access pass, unless the user wants fewer.
const ACCESS_ROUNDS: u32 = 3;

/// What is measured of each trace.
#[derive(Debug)]
pub(crate) struct Job {
    /// The allocators.
    pub(crate) specs: Vec<Spec>,
    /// Which of them times are compared with.
    pub(crate) baseline: usize,
    /// How they are measured.
    pub(crate) plan: Plan,
    /// Whether a page will show more than the results.
    pub(crate) has_page: bool,
}

/// What was measured of a trace.
#[derive(Debug)]
pub(crate) struct Measured {
    /// The results.
    pub(crate) trace: TraceResults,
    /// What only a page shows.
    pub(crate) details: Option<Details>,
}

impl Job {
    /// What the baseline is called.
    pub(crate) fn baseline(&self) -> &str {
        self.specs[self.baseline].as_str()
    }

    /// Measures one trace after the other, and hands each to `ready` as soon as it is measured.
    ///
    /// # Errors
    /// An allocator broke a rule; no memory; a child process failed; the error of `ready`.
    pub(crate) fn measure(
        &self,
        sources: &[Source],
        mut ready: impl FnMut(&TraceResults) -> Result<()>,
    ) -> Result<Vec<Measured>> {
        let progress = Progress::new(self.progress_steps() * sources.len() as u64);
        let mut traces = Vec::new();
        for source in sources {
            let trace = self.trace(source, &progress)?;
            progress.suspend(|| ready(&trace.trace))?;
            traces.push(trace);
        }
        progress.finish();
        Ok(traces)
    }

    /// The document of what was measured.
    pub(crate) fn comparison(&self, measured: Vec<Measured>) -> Comparison {
        let traces: Vec<_> = measured.into_iter().map(|it| it.trace).collect();
        Comparison {
            schema: SCHEMA,
            rounds: traces.iter().map(|trace| trace.rounds).max().unwrap_or(0),
            baseline: self.baseline().to_owned(),
            clock_ns: self.plan.clock_ns,
            traces,
            asserted: None,
            against: None,
            again: None,
        }
    }

    /// What a second run measures.
    pub(crate) fn times_only(&self) -> Self {
        Self {
            specs: self.specs.clone(),
            plan: Plan {
                percentiles: false,
                min_heap: false,
                instructions: false,
                access_rounds: 0,
                ..self.plan
            },
            has_page: false,
            ..*self
        }
    }

    fn progress_steps(&self) -> u64 {
        let ablation = if self.plan.min_heap {
            ablation::STEPS
        } else {
            0
        };
        let details = if self.has_page { details::STEPS } else { 0 };
        self.plan.progress_steps() * self.specs.len() as u64 + ablation + details
    }

    fn trace(&self, source: &Source, progress: &Progress) -> Result<Measured> {
        let Self { specs, plan, .. } = self;
        let measured = rounds::measure(source, specs, self.baseline, *plan, progress)?;
        let mut results: Vec<_> = measured.into_iter().map(|row| row.result).collect();
        if plan.percentiles {
            on_threads(source, specs, *plan, &mut results)?;
        }
        let ablation = match plan.min_heap {
            true => ablation(specs, &source.steps, progress)?,
            false => None,
        };
        let hinted = match plan.percentiles {
            true => hinted::hinted(source, *plan, &results)?,
            false => None,
        };
        let details = match self.has_page {
            true => Some(details::details(
                source,
                &told(specs, &source.steps),
                &results,
                plan.setting.heap,
                progress,
            )?),
            false => None,
        };
        let rounds = results.iter().filter_map(|row| row.pair_ns_rounds.as_ref());
        let rounds = rounds.map(Vec::len).max();
        let steps = &source.steps;
        let trace = TraceResults {
            name: steps.name.clone(),
            events: steps.steps().len() as u64,
            objects: steps.objects,
            threads: steps.threads,
            threads_at_once: steps.threads_at_once,
            recorded_cpu_ns: source.recorded_cpu_ns(),
            timed_events: plan.timed_events(steps).map(|events| events as u64),
            peak_live_bytes: steps.peak_live_bytes,
            left_out: source.left_out,
            beside_malloc: source.beside_malloc.clone(),
            rounds: rounds.map_or(plan.rounds, |most| most as u32),
            ablation,
            hinted,
            results,
        };
        Ok(Measured { trace, details })
    }
}

/// The allocators, told the demand of a trace.
fn told(specs: &[Spec], steps: &Steps) -> Vec<Spec> {
    specs.iter().map(|spec| spec.told(steps)).collect()
}

/// Replays a trace of several threads on as many, on the allocators that serve threads.
fn on_threads(
    source: &Source,
    specs: &[Spec],
    plan: Plan,
    results: &mut [AllocatorResult],
) -> Result<()> {
    // All events are replayed here: of a part of them the time is no measure.
    let is_timed = plan.timed_events(&source.steps).is_none();
    let serves = |spec: &Spec| source.steps.threads > 1 && spec.is_malloc();
    for (spec, row) in specs.iter().zip(results).filter(|(spec, _)| serves(spec)) {
        if !row.completed || row.pair_ns_rounds.is_none() {
            continue;
        }
        let of_threads = match threaded::measure(source, spec, plan) {
            Err(error) if !error.is::<Broken>() => {
                complain(&format!("{spec}, on threads: {error:#}"));
                continue;
            }
            measured => measured?,
        };
        row.on_threads = Some(OnThreads {
            pair_ns_rounds: of_threads
                .pair_ns_rounds
                .filter(|_| is_timed)
                .unwrap_or_default(),
            peak_resident_bytes: of_threads.peak_resident_bytes,
        });
    }
    Ok(())
}

/// The allocators by name, or the default ones with the libraries that served the programs of these
/// files; then those of the configuration files, and which of all is the baseline.
///
/// # Errors
/// An unknown allocator; a file that holds no configuration; a baseline that is not among them.
pub(crate) fn allocators(
    names: Option<&str>,
    files: &[PathBuf],
    config: &[PathBuf],
    baseline: Option<&str>,
) -> Result<(Vec<Spec>, usize)> {
    let mut specs = Spec::parse_list(names.unwrap_or(DEFAULT_ALLOCATORS))?;
    if names.is_none() {
        specs.extend(own::allocators(files));
    }
    for file in config {
        specs.push(Spec::parse(&config_file::spec(file, None)?)?);
    }
    let default = names.is_none().then_some(DEFAULT_BASELINE);
    let Some(baseline) = baseline.or(default) else {
        return Ok((specs, 0));
    };
    let names: Vec<_> = specs.iter().map(Spec::as_str).collect();
    let found = place_of(&names, baseline).ok_or_else(|| {
        anyhow!("--baseline {baseline}: not among the allocators compared; add it to --allocators")
    })?;
    Ok((specs, found))
}

/// How they are measured: in so many rounds, or, if the user does not say, in as many as it takes.
pub(crate) fn plan(rounds: Option<u32>, heap: HeapSize) -> Plan {
    Plan {
        setting: single::Setting { heap, touch: true },
        rounds: rounds.unwrap_or(ROUNDS),
        access_rounds: rounds.map_or(ACCESS_ROUNDS, |rounds| rounds.min(ACCESS_ROUNDS)),
        percentiles: true,
        min_heap: false,
        instructions: false,
        clock_ns: percentiles::clock_ns(),
        brief: rounds.is_none().then_some(BRIEF),
    }
}
