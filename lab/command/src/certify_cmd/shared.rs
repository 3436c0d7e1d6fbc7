//! Certificates of shared heaps: threads and pins.

use anyhow::{Context, Result, bail};
use surefit_compact::certify::{ClassSet, Demand, SharedCertificate, Sharing, Uncertifiable};
use surefit_compact::{Config, Wide};
use surefit_measure::registry::Kind;
use surefit_measure::spec::{Choice, Spec};
use surefit_measure::steps::LEAST_ALIGN;

use super::account::CertificateParts;
use super::asked::{Asked, Source};
use super::needed::{Resizes, union};
use super::report::{Certified, Report};
use super::users::{SharedWork, Users};

/// The pins that a heap is configured for unless its spec says otherwise.
const DEFAULT_PINS: u32 = 8;

/// Bytes of a back-reference.
const BACK_REFERENCE_BYTES: u64 = 4;

/// Refuses threads and pins for a heap of one owner.
pub(super) fn refuse(asked: &Asked, spec: &Spec) -> Result<()> {
    let (threads, pins, largest) = stated(asked);
    let has_threads = threads.is_some_and(|threads| threads > 1);
    if has_threads || pins.is_some_and(|pins| pins > 0) || largest.is_some() {
        bail!(
            "{spec}: a heap of one owner has one thread and no pins: leave them out, or choose 1-cf or n-cf"
        );
    }
    Ok(())
}

/// The threads, the pins and the largest pinned object that the command line or the demand states.
fn stated(asked: &Asked) -> (Option<u32>, Option<u32>, Option<usize>) {
    match &asked.source {
        Source::Demand(_, file) => (
            asked.threads.or(file.threads),
            asked.pins.or(file.pins),
            file.largest_pinned_bytes,
        ),
        Source::Traces(_) => (asked.threads, asked.pins, None),
    }
}

/// The strictest alignment of a demand that says which objects guards pin.
///
/// # Errors
/// An alignment that is none.
fn strictest(asked: &Asked) -> Result<usize> {
    match &asked.source {
        Source::Demand(_, file) => file.strictest(),
        Source::Traces(_) => Ok(LEAST_ALIGN),
    }
}

/// The threads of the traces: the most of any.
fn recorded(asked: &Asked) -> Option<u32> {
    match &asked.source {
        Source::Traces(traces) => {
            let threads = traces.iter().map(|trace| trace.header().counts.threads);
            threads
                .max()
                .map(|most| u32::try_from(most).unwrap_or(u32::MAX))
        }
        Source::Demand(..) => None,
    }
}

/// The certificates of a demand on a shared heap.
pub(super) fn report(asked: &Asked, spec: &Spec) -> Result<Report> {
    let (threads, pins, largest_pinned_bytes) = stated(asked);
    let threads = threads.or_else(|| recorded(asked)).unwrap_or(1).max(1);
    let pins = pins.unwrap_or(0);
    if threads > u32::from(u16::MAX) {
        bail!("{threads} threads: a shared heap has at most {}", u16::MAX);
    }
    let heap = Shared::new(&with_users(spec, threads, pins)?)?;
    if u32::from(heap.registered) < threads {
        bail!("{spec}: {threads} threads use the heap: write threads={threads}");
    }
    let users = Users {
        threads,
        pins,
        largest_pinned_bytes,
        instances: heap.instances,
    };
    heap.report(asked, users)
}

/// The spec with keys for its users, where it does not give them.
fn with_users(spec: &Spec, threads: u32, pins: u32) -> Result<Spec> {
    let mut text = spec.as_str().to_owned();
    let needed = pins.saturating_add(threads - 1);
    let keys = [
        ("threads", threads, threads > 1),
        ("pins", needed, needed > DEFAULT_PINS),
    ];
    for (key, value, is_needed) in keys {
        let given = format!("{key}=");
        let (_, own) = spec.as_str().split_once(':').unwrap_or_default();
        if is_needed && !own.split(',').any(|it| it.starts_with(&given)) {
            text.push(if text.contains(':') { ',' } else { ':' });
            text.push_str(&format!("{given}{value}"));
        }
    }
    Spec::parse(&text)
}

/// A shared heap.
struct Shared {
    spec: Spec,
    config: Config,
    registered: u16,
    instances: u32,
}

impl Shared {
    fn new(spec: &Spec) -> Result<Self> {
        let (config, registered, instances) = match &spec.choice {
            Choice::InProcess(Kind::OneCf(heap)) => (heap.config(), heap.threads(), 1),
            Choice::InProcess(Kind::NCf(heap)) => {
                (heap.config(), heap.threads(), u32::from(heap.instances()))
            }
            _ => bail!("{spec}: is no shared heap; choose 1-cf or n-cf"),
        };
        Ok(Self {
            config: config.clone(),
            spec: spec.clone(),
            registered,
            instances,
        })
    }

    fn report(&self, asked: &Asked, users: Users) -> Result<Report> {
        let name = asked.source.name();
        let resizes = Resizes::ByCopy {
            threads: users.threads,
        };
        let demanded = asked.demanded::<Wide>(&self.config, resizes)?;
        let mut report = demanded.report(&name, &self.spec);
        report.users = Some(users);
        let sharing = self.sharing(users, strictest(asked)?);
        for (reading, demand) in demanded.needed.readings() {
            let certified = self.certified(&sharing, reading, &demand);
            report.add(certified.with_context(|| name.clone())?);
        }
        demanded.account(&self.config, &mut report)?;
        Ok(report)
    }

    /// Who shares the heap; guards pin objects at alignments of up to `align`.
    fn sharing(&self, users: Users, align: usize) -> Sharing {
        let sharing = Sharing::new(users.threads)
            .with_guards(users.pins)
            .with_instances(self.instances);
        match users.largest_pinned_bytes {
            Some(bytes) => {
                let geometry = self.config.geometry();
                let unaligned = ClassSet::of_requests(geometry, bytes);
                let aligned = ClassSet::of_objects(&self.config, bytes, align);
                sharing.with_pinned_classes(union(geometry, unaligned, aligned))
            }
            None => sharing,
        }
    }

    fn certify(
        &self,
        sharing: &Sharing,
        demand: &Demand<'_>,
    ) -> Result<(SharedCertificate, usize), Uncertifiable> {
        match &self.spec.choice {
            Choice::InProcess(Kind::OneCf(heap)) => heap.certify(sharing, demand),
            Choice::InProcess(Kind::NCf(heap)) => heap.certify(sharing, demand),
            _ => unreachable!("`new` refuses other heaps"),
        }
    }

    fn certified(
        &self,
        sharing: &Sharing,
        reading: &str,
        demand: &Demand<'_>,
    ) -> Result<Certified> {
        let (certificate, control) = self.certify(sharing, demand)?;
        let work = certificate.work;
        Ok(Certified {
            demand: reading.to_owned(),
            heap_bytes: (certificate.heap_bytes + control) as u64,
            parts: CertificateParts::of_shared(&certificate.parts, control),
            back_reference_bytes: BACK_REFERENCE_BYTES * objects(demand),
            moves_max_per_op: None,
            moved_bytes_max_per_op: work.copied_bytes_max_per_free,
            pages_touched_max_per_op: None,
            shared: Some(SharedWork {
                copied_bytes_max_per_section: work.copied_bytes_max_per_section,
                steps_max_per_free: work.steps_max_per_free,
                steps_max_per_abort: work.steps_max_per_abort,
                sections_max_per_free: work.sections_max_per_free,
                victims_tried_max: work.victims_tried_max,
                pages_touched_max_per_section: work.pages_touched_max_per_section,
            }),
        })
    }
}

fn objects(demand: &Demand<'_>) -> u64 {
    match demand {
        Demand::PerClass(most) => most.iter().map(|most| u64::from(*most)).sum(),
        Demand::Joint(budget) | Demand::Both(budget, _) => budget.objects,
    }
}
