//! The certificate for a collected Compact-fit heap.
#![deny(unsafe_code)]

use surefit_compact::certify::{Budget, ClassSet, Demand, certify, moves_max};
use surefit_compact::{Config, Wide};

use super::CompactFit;
use super::cost::cost;
use super::division::Division;
use super::in_steps::most_work;
use crate::edges::Edges;
use crate::schedule::certificate::{self, Needs};
use crate::schedule::{Amount, CollectedCertificate, Headroom, NotCertifiable, Program};

impl CompactFit<'_> {
    /// What an object of so many bytes takes: its page-blocks, its spines and its stub. `None` if
    /// no heap can hold it.
    #[must_use]
    pub fn cost(config: &Config, bytes: usize) -> Option<Amount> {
        cost(config, bytes)
    }

    /// The schedule, and the bytes of a region at a multiple of the page size, that are enough for
    /// a program whose requests take page-blocks of `classes` alone.
    ///
    /// Stubs belong to the smallest class: if objects are in pieces, `classes` contains it, and
    /// those of pieces and spines. [`ClassSet::all`] contains every class.
    ///
    /// # Errors
    /// Why there is none.
    ///
    /// # Examples
    /// ```
    /// use surefit_compact::certify::ClassSet;
    /// use surefit_gc::CompactFit;
    /// use surefit_gc::schedule::{Amount, Headroom, Program};
    /// let config = CompactFit::CONFIG;
    /// // At most 10,000 objects live, of a megabyte; half as many are allocated during a cycle.
    /// let live = Amount { objects: 10_000, bytes: 1 << 20 };
    /// let program = Program { live, roots: 100, weak: 0 };
    /// let headroom = Headroom::ByWork(Amount { objects: 5_000, bytes: 1 << 19 });
    /// let classes = ClassSet::of_requests(config.geometry(), 512);
    /// let certificate = CompactFit::certify(&config, classes, &program, &headroom).expect("large enough");
    /// assert!(certificate.region_bytes < 4 << 20);
    /// ```
    pub fn certify(
        config: &Config,
        classes: ClassSet,
        program: &Program,
        headroom: &Headroom,
    ) -> Result<CollectedCertificate, NotCertifiable> {
        let geometry = config.geometry();
        let used = geometry.classes().filter(|&class| classes.contains(class));
        let moves = used.map(|class| moves_max(config.bound(), geometry.layout(class).blocks));
        let moves = u64::from(moves.max().unwrap_or(0));
        let excess = most_work(config).max(1 + u64::from(Edges::STRIDE));
        let mark_stack = certificate::stack_for(program);
        certificate::certify(program, headroom, moves, excess, |occupied| {
            needs(config, classes, occupied, mark_stack)
        })
    }
}

/// The region for a heap in which so much is occupied.
fn needs(config: &Config, classes: ClassSet, occupied: Amount, mark_stack: usize) -> Option<Needs> {
    let demand = Demand::Joint(Budget {
        objects: occupied.objects,
        block_bytes: occupied.bytes,
        classes,
    });
    let heap_bytes = certify::<Wide>(config, &demand).ok()?.aligned_bytes;
    let division = Division {
        config,
        mark_stack,
        nursery: 0,
    };
    // Tables are a small part of the region, so this loop ends soon.
    let mut region_bytes = heap_bytes;
    loop {
        let tables = division.tables(region_bytes);
        let whole = heap_bytes.checked_add(tables.bytes())?;
        if whole > isize::MAX as usize {
            return None;
        }
        if whole <= region_bytes {
            return Some(Needs {
                region_bytes,
                heap_bytes,
                bit_words: tables.bit_words() as u64,
            });
        }
        region_bytes = whole;
    }
}
