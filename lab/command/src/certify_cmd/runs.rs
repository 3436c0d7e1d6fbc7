//! The demand of recorded runs: counted along each trace, the greatest over all of them, and how
//! far apart they lie.

use std::fmt;

use anyhow::{Context, Result};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use surefit_compact::certify::{BlockCount, CallWork, DemandMeter, Uncertifiable};
use surefit_compact::{Config, Width};
use surefit_measure::error::one_line;
use surefit_measure::grid::elided;
use surefit_measure::output::grouped;
use surefit_measure::sizes::{Size, counted};
use surefit_measure::steps::LEAST_ALIGN;
use surefit_trace::{Op, Trace};

use super::margin::{Margin, apart};
use super::needed::{Needed, Resizes};

/// What several runs ask for.
#[derive(Clone, Debug, Default, Deserialize, JsonSchema, Serialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct Runs {
    /// Each run.
    pub(crate) runs: Vec<Run>,
    /// The most page-blocks of the greatest run over those of the least.
    pub(crate) objects_apart: f64,
    /// The most bytes of page-blocks of the greatest run over those of the least.
    pub(crate) block_bytes_apart: f64,
    /// The margin that covers a further run in 99 of 100 tries, in percent; absent if the runs are
    /// too far apart for one.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) proposed_margin_percent: Option<f64>,
}

/// What one run asks for.
#[derive(Clone, Debug, Default, Deserialize, JsonSchema, Serialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct Run {
    /// The name of its trace; its number follows if other runs have the same.
    pub(crate) name: String,
    /// The greatest sum of its live requests.
    pub(crate) peak_live_bytes: u64,
    /// N: its most page-blocks live at once.
    pub(crate) objects: u64,
    /// B: its most bytes of page-blocks live at once.
    pub(crate) block_bytes: u64,
}

/// What was counted along all runs.
pub(super) struct Counted {
    pub(super) needed: Needed,
    /// The greatest sum of live requests of any run.
    pub(super) peak_live_bytes: u64,
    pub(super) call: CallWork,
    /// What one call of another thread may hold besides, at most.
    pub(super) largest: BlockCount,
    /// The runs, if there are several.
    pub(super) runs: Option<Runs>,
    /// The proposed margin, if there are several runs that are not too far apart.
    pub(super) proposed: Option<Margin>,
}

impl Counted {
    /// Counts the demand of some traces.
    ///
    /// # Errors
    /// No heap of this configuration can hold an object of a trace.
    pub(super) fn of<W: Width>(
        traces: &[Trace],
        config: &Config,
        resizes: Resizes,
    ) -> Result<Self> {
        let mut all = Self {
            needed: Needed::default(),
            peak_live_bytes: 0,
            call: CallWork::default(),
            largest: BlockCount::default(),
            runs: None,
            proposed: None,
        };
        let mut runs = Vec::new();
        for (number, trace) in traces.iter().enumerate() {
            let mut counting = Counting::new::<W>(config, resizes);
            counting.count_all::<W>(trace)?;
            let needed = Needed::of_meter(&counting.meter);
            runs.push(Run::new(trace, &needed));
            all.needed = match number {
                0 => needed,
                _ => needed.or(&all.needed, config.geometry()),
            };
            all.add(&counting, trace);
        }
        tell_apart(&mut runs);
        if runs.len() > 1 {
            let figures = [objects(&runs), block_bytes(&runs)];
            all.proposed = Margin::proposed(&figures);
            all.runs = Some(Runs {
                objects_apart: apart(&figures[0]).unwrap_or(1.0),
                block_bytes_apart: apart(&figures[1]).unwrap_or(1.0),
                proposed_margin_percent: all.proposed.map(Margin::percent),
                runs,
            });
        }
        Ok(all)
    }

    fn add(&mut self, counting: &Counting<'_>, trace: &Trace) {
        let call = counting.meter.call();
        self.call = CallWork {
            blocks: self.call.blocks.max(call.blocks),
            moves: self.call.moves.max(call.moves),
            moved_bytes: self.call.moved_bytes.max(call.moved_bytes),
        };
        self.largest = larger(self.largest, counting.largest);
        self.peak_live_bytes = self.peak_live_bytes.max(trace.header().counts.peak_bytes);
    }
}

impl Run {
    fn new(trace: &Trace, needed: &Needed) -> Self {
        let budget = needed.budget;
        Self {
            name: trace.name().to_owned(),
            peak_live_bytes: trace.header().counts.peak_bytes,
            objects: budget.map_or(0, |budget| budget.objects),
            block_bytes: budget.map_or(0, |budget| budget.block_bytes),
        }
    }
}

/// Numbers the runs whose names others have as well: runs of one program often do.
fn tell_apart(runs: &mut [Run]) {
    let names: Vec<_> = runs.iter().map(|run| run.name.clone()).collect();
    for (place, run) in runs.iter_mut().enumerate() {
        let name = &names[place];
        let same = |names: &[String]| names.iter().filter(|other| *other == name).count();
        if same(&names) > 1 {
            run.name = format!("{name} ({})", same(&names[..=place]));
        }
    }
}

fn objects(runs: &[Run]) -> Vec<u64> {
    runs.iter().map(|run| run.objects).collect()
}

fn block_bytes(runs: &[Run]) -> Vec<u64> {
    runs.iter().map(|run| run.block_bytes).collect()
}

fn larger(a: BlockCount, b: BlockCount) -> BlockCount {
    BlockCount {
        blocks: a.blocks.max(b.blocks),
        bytes: a.bytes.max(b.bytes),
    }
}

/// A trace while its demand is counted.
struct Counting<'c> {
    meter: DemandMeter<'c>,
    config: &'c Config,
    resizes: Resizes,
    /// The sizes and alignments of all objects so far.
    objects: Vec<(usize, usize)>,
    largest: BlockCount,
}

impl<'c> Counting<'c> {
    fn new<W: Width>(config: &'c Config, resizes: Resizes) -> Self {
        Self {
            meter: DemandMeter::new::<W>(config),
            config,
            resizes,
            objects: Vec::new(),
            largest: BlockCount::default(),
        }
    }

    fn count_all<W: Width>(&mut self, trace: &Trace) -> Result<()> {
        for (number, event) in trace.events().iter().enumerate() {
            let counted = self.count::<W>(event.op());
            counted.with_context(|| format!("{}: event {number}", trace.name()))?;
        }
        Ok(())
    }

    fn count<W: Width>(&mut self, op: Op) -> Result<()> {
        let counted = match op {
            Op::Alloc { size, call, .. } => {
                let object = (usize::try_from(size)?, call.align_at_least(LEAST_ALIGN));
                self.objects.push(object);
                self.note::<W>(object);
                self.meter.allocate(object.0, object.1)
            }
            Op::Realloc { id, size } => {
                let object = &mut self.objects[id as usize];
                let old = std::mem::replace(&mut object.0, usize::try_from(size)?);
                let (old, new) = ((old, object.1), *object);
                self.note::<W>(new);
                match self.resizes {
                    Resizes::InPlace => self.meter.resize(old, new),
                    Resizes::ByCopy { .. } => self.meter.resize_by_copy(old, new),
                }
            }
            Op::Free { id } => {
                let (len, align) = self.objects[id as usize];
                self.meter.free(len, align)
            }
        };
        counted.map_err(with_mend)
    }

    /// Records what the largest object takes, for heaps in which other threads may hold it besides.
    fn note<W: Width>(&mut self, (len, align): (usize, usize)) {
        if matches!(self.resizes, Resizes::ByCopy { threads: 2.. }) {
            let count = BlockCount::of::<W>(self.config, len, align);
            self.largest = larger(self.largest, count.unwrap_or_default());
        }
    }
}

fn with_mend(error: Uncertifiable) -> anyhow::Error {
    let mend = match error {
        Uncertifiable::TooLarge { .. } => "leave pieces=off out, or choose larger pages",
        Uncertifiable::TooManyEntries { .. } => {
            "no heap can serve it: leave width=16|24 out, or choose larger pieces"
        }
        _ => return error.into(),
    };
    anyhow::Error::new(error).context(mend)
}

impl Runs {
    /// What the runs are, for source text: `5 runs, a.sft to e.sft`.
    pub(super) fn title(&self) -> String {
        let names: Vec<_> = self.runs.iter().map(|run| one_line(&run.name)).collect();
        match names.as_slice() {
            [first, .., last] => format!("{} runs, {first} to {last}", names.len()),
            _ => names.concat(),
        }
    }
}

impl fmt::Display for Runs {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        for run in &self.runs {
            writeln!(
                f,
                "  {:<20} peak live {:>9}  N = {:>10}  B = {:>14} B",
                elided(&one_line(&run.name), 20),
                Size(run.peak_live_bytes).to_string(),
                grouped(run.objects),
                grouped(run.block_bytes)
            )?;
        }
        writeln!(
            f,
            "The greatest of {} is certified. They lie {:.3} x apart in page-blocks, {:.3} x in their bytes.",
            counted(self.runs.len() as u64, "run"),
            self.objects_apart,
            self.block_bytes_apart
        )
    }
}

#[cfg(test)]
mod tests {
    use super::{Run, tell_apart};

    #[test]
    fn runs_of_one_name_are_numbered() {
        let named = |name: &str| Run {
            name: name.to_owned(),
            ..Run::default()
        };
        let mut runs = ["a", "b", "a"].map(named);
        tell_apart(&mut runs);
        assert_eq!(runs.map(|run| run.name), ["a (1)", "b", "a (2)"]);
    }
}
