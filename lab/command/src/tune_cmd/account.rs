//! What objects cost in back-references and entries at the peak of live bytes.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use surefit_compact::{Config, Width};
use surefit_measure::spec::Spec;

use super::count::blocks_of;
use super::subject::Subject;
use super::width::{options, with_width};

/// Administrative bytes that grow with the number of objects.
#[derive(Clone, Copy, Debug, Default, Deserialize, JsonSchema, Serialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct Administration {
    /// Back-references of page-blocks in use, in pages of more than eight page-blocks.
    pub(crate) back_reference_bytes: u64,
    /// Entries of the address table: the most until then, because the table never shrinks.
    pub(crate) entry_bytes: u64,
}

/// The bytes at the peak; `None` for an allocator without entries.
pub(super) fn administration(subject: &Subject, spec: &Spec) -> Option<Administration> {
    let options = options(spec).ok()?;
    with_width!(options, W => of_width::<W>(subject, &options.config))
}

fn of_width<W: Width>(subject: &Subject, config: &Config) -> Option<Administration> {
    let run = &subject.run;
    let mut entries_of = Vec::new();
    let mut referred_of = Vec::new();
    for kind in &run.kinds {
        let (mut entries, mut referred) = (0_u64, 0_u64);
        for block in blocks_of::<W>(config, *kind) {
            let (class, count) = block?;
            let class = config.geometry().class(usize::from(class))?;
            let has_tail = config.geometry().back_reference_bytes(class) > 0;
            entries += u64::from(count);
            referred += u64::from(count) * u64::from(has_tail);
        }
        entries_of.push(entries);
        referred_of.push(referred);
    }
    let (mut entries, mut most, mut referred) = (0, 0, 0);
    for (goes, comes) in run.changes().take(subject.steps.peak_event + 1) {
        let of = |table: &[u64], kind: Option<u32>| kind.map_or(0, |kind| table[kind as usize]);
        entries = entries + of(&entries_of, comes) - of(&entries_of, goes);
        referred = referred + of(&referred_of, comes) - of(&referred_of, goes);
        most = most.max(entries);
    }
    Some(Administration {
        back_reference_bytes: referred * W::WORD_BYTES as u64,
        entry_bytes: most * W::ENTRY_BYTES as u64,
    })
}
