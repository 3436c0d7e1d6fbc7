//! The certificate for a collected Compact-fit heap.
#![deny(unsafe_code)]

use surefit_compact::certify::{Budget, ClassSet, Demand, certify, moves_max};
use surefit_compact::{Config, SizeClass, Wide};

use super::CompactFit;
use super::cost::{cost, least};
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
    /// those of pieces and spines. [`ClassSet::all`] contains every class. Requests that would take
    /// a page-block of the smallest class take one of the second class, which is then counted too.
    ///
    /// # Errors
    /// Why there is none.
    ///
    /// # Examples
    /// ```
    /// use std::mem::MaybeUninit;
    /// use surefit_compact::certify::ClassSet;
    /// use surefit_gc::schedule::{Headroom, Program};
    /// use surefit_gc::{Client, Collector, CompactFit, Edges, Incremental, Object, Scanned, Space};
    ///
    /// // Pairs of eight bytes; 900 live at most, and 600 are allocated during a cycle.
    /// let config = CompactFit::CONFIG;
    /// let pair = CompactFit::cost(&config, 8).expect("served");
    /// let program = Program { live: pair.times(900), roots: 1, weak: 0 };
    /// let headroom = Headroom::ByWork(pair.times(600));
    /// let classes = ClassSet::of_requests(config.geometry(), 8);
    /// let certificate = CompactFit::certify(&config, classes, &program, &headroom)?;
    ///
    /// let page = config.geometry().page_bytes();
    /// let mut memory = vec![MaybeUninit::uninit(); page + certificate.region_bytes];
    /// let skipped = memory.as_ptr().align_offset(page);
    /// let region = &mut memory[skipped..][..certificate.region_bytes];
    /// let heap = Collector::compact_fit(region, &config, certificate.mark_stack)?;
    /// let mut heap = Incremental::over(heap).with_schedule(certificate.schedule);
    ///
    /// /// A list of pairs: the first word leads to the next one.
    /// struct List(Option<Object>);
    /// impl<S: Space> Client<S> for List {
    ///     fn roots(&mut self, edges: &mut Edges<'_>) {
    ///         self.0.into_iter().for_each(|first| edges.report(first));
    ///     }
    ///     fn scan(&mut self, pair: &Scanned<'_, S>, _: u32, edges: &mut Edges<'_>) {
    ///         pair.reference(0).into_iter().for_each(|next| edges.report(next));
    ///     }
    /// }
    /// let mut list = List(None);
    /// for nth in 0..100_000 {
    ///     let pair = heap.alloc(&mut list, 8)?; // never refused, never waits for a cycle
    ///     heap.store(pair, 0, if nth % 890 == 0 { None } else { list.0 });
    ///     list.0 = Some(pair);
    /// }
    /// assert_eq!((heap.steps().forced, heap.paced().cycles_overdue), (0, 0));
    /// assert!(heap.paced().cycles > 100);
    /// # Ok::<_, Box<dyn std::error::Error>>(())
    /// ```
    pub fn certify(
        config: &Config,
        classes: ClassSet,
        program: &Program,
        headroom: &Headroom,
    ) -> Result<CollectedCertificate, NotCertifiable> {
        let geometry = config.geometry();
        let classes = served(config, classes);
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

/// The classes with those that the least requests take in the place of the smallest class.
fn served(config: &Config, classes: ClassSet) -> ClassSet {
    let geometry = config.geometry();
    let is_used = |class: &SizeClass| classes.contains(*class);
    if !geometry.class(0).is_some_and(|smallest| is_used(&smallest)) {
        return classes;
    }
    let taken = ClassSet::of_objects(config, least(geometry), 1);
    let also = geometry.classes().filter(|&class| taken.contains(class));
    also.fold(classes, ClassSet::with)
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
