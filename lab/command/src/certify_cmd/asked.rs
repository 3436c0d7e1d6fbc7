//! What is to be certified, and the demand that it makes on heaps of one configuration.

use std::path::{Path, PathBuf};

use anyhow::{Context, Result, bail};
use surefit_compact::certify::{BlockCount, CallWork};
use surefit_compact::{Config, Width};
use surefit_measure::source::load_for_advice;
use surefit_measure::spec::Spec;
use surefit_trace::Trace;

use super::account::data_pages;
use super::demand_file::DemandFile;
use super::margin::{self, Margin};
use super::needed::{Needed, Resizes};
use super::report::{Budget, Report};
use super::runs::{Counted, Runs};
use super::stated::Stated;

/// What is to be certified.
pub(super) enum Source {
    Traces(Vec<Trace>),
    Demand(String, Box<DemandFile>),
}

impl Source {
    /// Reads the traces, or else the demand's file.
    ///
    /// # Errors
    /// One line that names the file.
    pub(super) fn load(traces: &[PathBuf], demand: Option<&Path>) -> Result<Self> {
        match demand {
            None if traces.is_empty() => bail!("give --trace or --demand"),
            None => {
                let traces = traces.iter().map(|file| load_for_advice(file));
                Ok(Self::Traces(traces.collect::<Result<_>>()?))
            }
            Some(file) => {
                let name = file.display().to_string();
                Ok(Self::Demand(name, Box::new(DemandFile::load(file)?)))
            }
        }
    }

    /// What it is called.
    pub(super) fn name(&self) -> String {
        match self {
            Self::Traces(traces) => match traces.as_slice() {
                [only] => only.name().to_owned(),
                [first, ..] => format!("{} and {} more", first.name(), traces.len() - 1),
                [] => String::new(),
            },
            Self::Demand(name, _) => name.clone(),
        }
    }
}

/// What is to be certified, with what the command line says besides.
pub(super) struct Asked {
    pub(super) source: Source,
    pub(super) margin: Option<margin::Choice>,
    /// The threads of a shared heap.
    pub(super) threads: Option<u32>,
    /// The objects that guards of a shared heap pin at once.
    pub(super) pins: Option<u32>,
}

/// A demand on heaps of one configuration, ready to be certified.
pub(super) struct Demanded {
    /// With the margin, and with what calls of other threads hold.
    pub(super) needed: Needed,
    /// As it was counted or stated.
    before: Needed,
    /// What a demand file states, with the margin.
    pub(super) stated: Option<Stated>,
    /// The greatest sum of live requests of any run.
    pub(super) peak_live_bytes: Option<u64>,
    pub(super) call: Option<CallWork>,
    pub(super) runs: Option<Runs>,
    pub(super) margin: Option<Margin>,
}

impl Asked {
    /// The demand on heaps of one configuration.
    ///
    /// # Errors
    /// Bad input; no heap of this configuration can hold an object.
    pub(super) fn demanded<W: Width>(&self, config: &Config, resizes: Resizes) -> Result<Demanded> {
        match &self.source {
            Source::Traces(traces) => self.of_runs::<W>(traces, config, resizes),
            Source::Demand(name, file) => {
                let stated = Stated::of_file::<W>(file, config, resizes);
                let stated = stated.with_context(|| name.clone())?;
                let before = stated.needed::<W>(config);
                let before = before.with_context(|| name.clone())?;
                let margin = match self.margin {
                    Some(margin::Choice::Auto) => {
                        bail!("--margin auto goes with several --trace: write a percentage")
                    }
                    Some(margin::Choice::Given(margin)) => Some(margin),
                    None => None,
                };
                let stated = stated.with(margin.unwrap_or_default());
                let needed = stated.needed::<W>(config);
                Ok(Demanded {
                    needed: needed.with_context(|| name.clone())?,
                    before,
                    stated: Some(stated),
                    peak_live_bytes: None,
                    call: None,
                    runs: None,
                    margin,
                })
            }
        }
    }

    fn of_runs<W: Width>(
        &self,
        traces: &[Trace],
        config: &Config,
        resizes: Resizes,
    ) -> Result<Demanded> {
        let counted = Counted::of::<W>(traces, config, resizes)?;
        let margin = self.margin_of(&counted, traces.len())?;
        let before = counted.needed.clone();
        let mut needed = counted.needed;
        if let Some(margin) = margin {
            needed = needed.with(margin).with_sizes_between(config.geometry());
        }
        if let Resizes::ByCopy {
            threads: threads @ 2..,
        } = resizes
        {
            needed = needed.and(times(counted.largest, threads - 1));
            // What another call holds may be of any class.
            needed.most = None;
        }
        Ok(Demanded {
            needed,
            before,
            stated: None,
            peak_live_bytes: Some(counted.peak_live_bytes),
            call: Some(counted.call),
            runs: counted.runs,
            margin,
        })
    }

    fn margin_of(&self, counted: &Counted, runs: usize) -> Result<Option<Margin>> {
        match self.margin {
            None => Ok(None),
            Some(margin::Choice::Given(margin)) => Ok(Some(margin)),
            Some(margin::Choice::Auto) => match counted.proposed {
                Some(margin) => Ok(Some(margin)),
                None if runs < 2 => bail!(
                    "--margin auto: one run says nothing about others; give --trace for five or more"
                ),
                None => bail!(
                    "--margin auto: the runs lie too far apart for a margin; record more of them, or certify each kind on its own"
                ),
            },
        }
    }
}

fn times(count: BlockCount, times: u32) -> BlockCount {
    BlockCount {
        blocks: count.blocks.saturating_mul(u64::from(times)),
        bytes: count.bytes.saturating_mul(u64::from(times)),
    }
}

impl Demanded {
    /// The start of the report on it.
    pub(super) fn report(&self, name: &str, spec: &Spec) -> Report {
        Report {
            peak_live_bytes: self.peak_live_bytes,
            demand: self.needed.budget.map(Budget::new),
            runs: self.runs.clone(),
            margin_percent: self.margin.map(Margin::percent),
            ..Report::new(name, spec)
        }
    }

    /// The account of the data pages of the first certificate.
    pub(super) fn account(&self, config: &Config, report: &mut Report) -> Result<()> {
        let first = report.certificates.first();
        let of_first = first.map(|it| (it.parts.data_page_bytes, it.back_reference_bytes));
        let pages = data_pages(
            config,
            (&self.before.first()?, &self.needed.first()?),
            self.peak_live_bytes,
            of_first.unwrap_or_default(),
        );
        report.data_pages = Some(pages);
        Ok(())
    }
}
