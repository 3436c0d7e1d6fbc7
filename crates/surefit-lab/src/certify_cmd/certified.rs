//! The certificates of a demand or a trace on one heap.

use std::path::Path;

use anyhow::{Context, Result, bail};
use surefit_compact::certify::{CallWork, Demand, DemandMeter, Uncertifiable, certify};
use surefit_compact::{Config, Heap, Keyed, Medium, Narrow, Wide, Width};
use surefit_measure::registry::Kind;
use surefit_measure::source::load_trace;
use surefit_measure::spec::{Choice, Spec};
use surefit_measure::steps::LEAST_ALIGN;
use surefit_measure::subjects::compact::{Options, Words};
use surefit_trace::{Op, Trace};

use super::demand::{DemandFile, Parsed};
use super::report::{Budget, Certified, LargestFree, Report};

/// What is to be certified.
pub(super) enum Source {
    Trace(Box<Trace>),
    Demand(String, DemandFile),
}

impl Source {
    /// Reads the trace, or else the demand's file.
    ///
    /// # Errors
    /// One line that names the file.
    pub(super) fn load(trace: Option<&Path>, demand: Option<&Path>) -> Result<Self> {
        match (trace, demand) {
            (Some(file), _) => Ok(Self::Trace(Box::new(load_trace(file)?))),
            (None, Some(file)) => {
                let name = file.display().to_string();
                Ok(Self::Demand(name, DemandFile::load(file)?))
            }
            (None, None) => bail!("give --trace or --demand"),
        }
    }
}

/// The heap that a spec names.
pub(super) fn options(spec: &Spec) -> Result<&Options> {
    match &spec.choice {
        Choice::InProcess(Kind::Cf(options)) => Ok(options),
        _ => bail!("{spec}: has no certificate; choose cf, with or without keys"),
    }
}

/// The certificates of a demand on one heap.
pub(super) fn report(source: &Source, spec: &Spec) -> Result<Report> {
    let options = options(spec)?;
    match options.words {
        Words::Narrow => of_width::<Narrow>(source, spec, &options.config),
        Words::Medium => of_width::<Medium>(source, spec, &options.config),
        Words::Wide if options.has_keys => of_width::<Keyed<Wide>>(source, spec, &options.config),
        Words::Wide => of_width::<Wide>(source, spec, &options.config),
    }
}

fn of_width<W: Width>(source: &Source, spec: &Spec, config: &Config) -> Result<Report> {
    match source {
        Source::Trace(trace) => of_trace::<W>(trace, spec, config),
        Source::Demand(name, file) => {
            let demand = Parsed::new::<W>(file, config).with_context(|| name.clone())?;
            let mut report = Report::new(name, spec);
            report.demand = demand.budget().map(Budget::new);
            for (reading, demand) in demand.demands() {
                let certified = certified::<W>(config, reading, &demand);
                report.add(certified.with_context(|| name.clone())?);
            }
            Ok(report)
        }
    }
}

/// The certificates of a trace. They follow from counts; nothing is replayed.
fn of_trace<W: Width>(trace: &Trace, spec: &Spec, config: &Config) -> Result<Report> {
    let meter = metered::<W>(trace, config)?;
    let mut report = Report::new(trace.name(), spec);
    report.peak_live_bytes = Some(trace.header().counts.peak_bytes);
    report.demand = Some(Budget::new(meter.budget()));
    report.largest_free = Some(largest(meter.call()));
    for (name, demand) in [
        ("joint", meter.joint()),
        ("per-class", meter.per_class()),
        ("both", meter.both()),
    ] {
        let certified = certified::<W>(config, name, &demand);
        report.add(certified.with_context(|| trace.name().to_owned())?);
    }
    Ok(report)
}

fn largest(call: CallWork) -> LargestFree {
    LargestFree {
        blocks: call.blocks,
        moves_max: call.moves,
        moved_bytes_max: call.moved_bytes,
    }
}

/// Counts the demand of a trace.
pub(super) fn metered<'c, W: Width>(trace: &Trace, config: &'c Config) -> Result<DemandMeter<'c>> {
    let mut meter = DemandMeter::new::<W>(config);
    let mut objects = Vec::new();
    for (number, event) in trace.events().iter().enumerate() {
        count(&mut meter, &mut objects, event.op())
            .with_context(|| format!("{}: event {number}", trace.name()))?;
    }
    Ok(meter)
}

/// Counts one event; `objects` are the sizes and alignments of all objects so far.
fn count(meter: &mut DemandMeter<'_>, objects: &mut Vec<(usize, usize)>, op: Op) -> Result<()> {
    let counted = match op {
        Op::Alloc { size, call, .. } => {
            let object = (usize::try_from(size)?, call.align_at_least(LEAST_ALIGN));
            objects.push(object);
            meter.allocate(object.0, object.1)
        }
        Op::Realloc { id, size } => {
            let object = &mut objects[id as usize];
            let old = std::mem::replace(&mut object.0, usize::try_from(size)?);
            meter.resize((old, object.1), *object)
        }
        Op::Free { id } => {
            let (len, align) = objects[id as usize];
            meter.free(len, align)
        }
    };
    counted.map_err(|error| {
        let mend = match error {
            Uncertifiable::TooLarge { .. } => "leave pieces=off out, or choose larger pages",
            Uncertifiable::TooManyEntries { .. } => {
                "no heap can serve it: leave width=16|24 out, or choose larger pieces"
            }
            _ => return error.into(),
        };
        anyhow::Error::new(error).context(mend)
    })
}

fn certified<W: Width>(
    config: &Config,
    name: &'static str,
    demand: &Demand<'_>,
) -> Result<Certified> {
    let certificate = certify::<W>(config, demand)?;
    let control = size_of::<Heap<'_, W>>().next_multiple_of(8);
    Ok(Certified::new(name, &certificate, control))
}
