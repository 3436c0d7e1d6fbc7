//! The certificates of a demand or of recorded runs on one heap.

use anyhow::{Context, Result, bail};
use surefit_compact::certify::{CallWork, Demand, certify};
use surefit_compact::{Config, Heap, Keyed, Medium, Narrow, Wide, Width};
use surefit_measure::registry::Kind;
use surefit_measure::spec::{Choice, Spec};
use surefit_measure::subjects::compact::{Options, Words};

use super::account::CertificateParts;
use super::asked::Asked;
use super::needed::Resizes;
use super::report::{Certified, LargestFree, Report};
use super::shared;

/// The heap of one owner that a spec names.
pub(super) fn options(spec: &Spec) -> Result<&Options> {
    match &spec.choice {
        Choice::InProcess(Kind::Cf(options)) => Ok(options),
        Choice::InProcess(Kind::OneCf(_) | Kind::NCf(_)) => {
            bail!("{spec}: only for heaps of one owner; choose cf, with or without keys")
        }
        _ => bail!("{spec}: has no certificate; choose cf, with or without keys, 1-cf or n-cf"),
    }
}

/// The certificates of a demand on one heap.
pub(super) fn report(asked: &Asked, spec: &Spec) -> Result<Report> {
    if let Choice::InProcess(Kind::OneCf(_) | Kind::NCf(_)) = &spec.choice {
        return shared::report(asked, spec);
    }
    let options = options(spec)?;
    shared::refuse(asked, spec)?;
    let config = &options.config;
    match options.words {
        Words::Narrow => of_width::<Narrow>(asked, spec, config),
        Words::Medium => of_width::<Medium>(asked, spec, config),
        Words::Wide if options.has_keys => of_width::<Keyed<Wide>>(asked, spec, config),
        Words::Wide => of_width::<Wide>(asked, spec, config),
    }
}

/// The certificates follow from counts; nothing is replayed.
fn of_width<W: Width>(asked: &Asked, spec: &Spec, config: &Config) -> Result<Report> {
    let name = asked.source.name();
    let demanded = asked.demanded::<W>(config, Resizes::InPlace)?;
    let mut report = demanded.report(&name, spec);
    report.largest_free = demanded.call.map(largest);
    for (reading, demand) in demanded.needed.readings() {
        let certified = certified::<W>(config, reading, &demand);
        report.add(certified.with_context(|| name.clone())?);
    }
    demanded.account(config, &mut report)?;
    Ok(report)
}

fn largest(call: CallWork) -> LargestFree {
    LargestFree {
        blocks: call.blocks,
        moves_max: call.moves,
        moved_bytes_max: call.moved_bytes,
    }
}

fn certified<W: Width>(
    config: &Config,
    name: &'static str,
    demand: &Demand<'_>,
) -> Result<Certified> {
    let certificate = certify::<W>(config, demand)?;
    let control = size_of::<Heap<'_, W>>().next_multiple_of(8);
    Ok(Certified {
        demand: name.to_owned(),
        heap_bytes: (certificate.heap_bytes + control) as u64,
        parts: CertificateParts::of_owner(&certificate.parts, control),
        back_reference_bytes: certificate.parts.back_reference_bytes as u64,
        moves_max_per_op: Some(certificate.moves_max_per_op),
        moved_bytes_max_per_op: certificate.moved_bytes_max_per_op,
        pages_touched_max_per_op: Some(certificate.pages_touched_max_per_op),
        shared: None,
    })
}
