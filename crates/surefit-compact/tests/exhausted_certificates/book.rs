//! The live objects of a script, counted as a demand counts them.

use surefit_compact::certify::Demand;
use surefit_compact::pieces::Pieces;
use surefit_compact::{Config, SizeClass};

/// What a demand counts of one request: page-blocks by class, and their bytes.
#[derive(Clone, Debug)]
pub(crate) struct Cost {
    pub(crate) len: usize,
    pub(crate) blocks: Vec<u32>,
    bytes: u64,
}

impl Cost {
    /// What a byte object of `len` bytes takes, spines included.
    pub(crate) fn of(config: &Config, len: usize, word_bytes: usize) -> Self {
        let mut cost = Self {
            len,
            blocks: vec![0; config.geometry().class_count()],
            bytes: 0,
        };
        for run in Pieces::new(len, 8, config.division(), word_bytes) {
            let class = class_of(config, run.bytes);
            cost.blocks[class.index()] += u32::try_from(run.count).expect("small");
            let beta = config.geometry().layout(class).block_bytes;
            cost.bytes += run.count as u64 * u64::from(beta);
        }
        cost
    }
}

fn class_of(config: &Config, len: usize) -> SizeClass {
    let class = config.geometry().class_for(len, 8);
    class.expect("requests fit a page")
}

/// A live object.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Object {
    /// Its request, as an index of the book's costs.
    pub(crate) kind: usize,
    /// Guards on it.
    pub(crate) guards: u32,
    /// Freed while it was pinned: live until the last guard is dropped.
    pub(crate) is_freed: bool,
}

/// The live objects of a script, in an order that the subject keeps too.
#[derive(Clone, Debug)]
pub(crate) struct Book<'d> {
    demand: &'d Demand<'d>,
    pub(crate) costs: &'d [Cost],
    pub(crate) live: Vec<Object>,
}

impl<'d> Book<'d> {
    pub(crate) fn new(demand: &'d Demand<'d>, costs: &'d [Cost]) -> Self {
        Self {
            demand,
            costs,
            live: Vec::new(),
        }
    }

    /// Whether the demand has room for one more object of a request, beside all that are live.
    pub(crate) fn admits(&self, kind: usize) -> bool {
        let all = || self.live.iter().map(|object| object.kind).chain([kind]);
        let cost = |kind: usize| &self.costs[kind];
        let of_class = |class: usize| all().map(|kind| cost(kind).blocks[class]).sum::<u32>();
        let classes = cost(kind).blocks.len();
        let peaks = |peaks: &[u32]| {
            (0..classes).all(|class| of_class(class) <= peaks.get(class).copied().unwrap_or(0))
        };
        let budget = |budget: &surefit_compact::certify::Budget| {
            let objects: u32 = (0..classes).map(of_class).sum();
            let bytes: u64 = all().map(|kind| cost(kind).bytes).sum();
            u64::from(objects) <= budget.objects && bytes <= budget.block_bytes
        };
        match self.demand {
            Demand::PerClass(most) => peaks(most),
            Demand::Joint(joint) => budget(joint),
            Demand::Both(joint, most) => budget(joint) && peaks(most),
        }
    }

    /// The requests of which the demand has room for one more.
    pub(crate) fn admitted(&self) -> impl Iterator<Item = usize> + '_ {
        (0..self.costs.len()).filter(|&kind| self.admits(kind))
    }

    pub(crate) fn insert(&mut self, kind: usize) {
        self.live.push(Object {
            kind,
            guards: 0,
            is_freed: false,
        });
    }
}
