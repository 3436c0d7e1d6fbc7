//! The allocators, and the bytes of each on a program.

use surefit_measure::results::AllocatorResult;
use surefit_measure::rounds::Measured;
use surefit_measure::source::Source;

/// The allocators; the first one is what the others are compared to. Two rows in a row differ in
/// their smallest page-blocks: 16 and 32 bytes.
pub(super) const ALLOCATORS: [&str; 7] = [
    "tlsf",
    "cf-paper:min=16",
    "cf-paper:min=32",
    "cf-direct:min=16",
    "cf-direct:min=32",
    "cf:k=1,min=16",
    "cf:k=1,min=32",
];

/// The rows of the compacting heap with handles, which the paper's table does not have.
pub(super) const COMPACTING: usize = 5;

/// What was measured on one program.
#[derive(Clone, Debug, Default)]
pub(super) struct OnProgram {
    pub(super) name: String,
    pub(super) live_bytes: u64,
    /// In the order of [`ALLOCATORS`].
    pub(super) rows: Vec<Row>,
}

impl OnProgram {
    pub(super) fn new(program: &Source, measured: &[Measured]) -> Self {
        Self {
            name: program.steps.name.clone(),
            live_bytes: program.steps.peak_live_bytes,
            rows: measured.iter().map(|row| Row::of(&row.result)).collect(),
        }
    }

    /// A row's memory ÷ that of TLSF.
    pub(super) fn to_tlsf(&self, row: usize) -> Option<f64> {
        ratio(self.rows[row].memory, self.rows[0].memory)
    }
}

/// Bytes of one allocator.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Row {
    pub(super) memory: Option<u64>,
    pub(super) size_class: Option<u64>,
    pub(super) partitioning: Option<u64>,
    pub(super) administrative: Option<u64>,
}

impl Row {
    pub(super) fn of(result: &AllocatorResult) -> Self {
        let parts = result.at_peak;
        // an allocator without size-classes has neither
        let has_classes = !result.allocator.starts_with("tlsf");
        let of_classes = parts.filter(|_| has_classes);
        Self {
            memory: result.min_heap_bytes,
            size_class: of_classes.map(|parts| parts.size_class_bytes),
            partitioning: of_classes
                .map(|parts| parts.page_block_internal_bytes + parts.page_internal_bytes),
            administrative: parts.map(|parts| parts.administrative_bytes),
        }
    }
}

pub(super) fn ratio(own: Option<u64>, base: Option<u64>) -> Option<f64> {
    own.zip(base)
        .map(|(own, base)| own as f64 / base.max(1) as f64)
}
