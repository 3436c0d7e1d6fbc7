//! The mission on a collector that works in steps. A list is a chain of cells, one for each
//! waypoint. To drop a list is to forget its first cell: nobody frees the others.
//!
//! ```text
//! cell   │ next cell │ waypoint: 16 bytes │
//! live   as many cells as the mission's bytes hold; a root for each of its objects
//! ```
//! The schedule is by work and needs no clock: each cell that is allocated pays for some of a
//! cycle.

use core::fmt::{self, Write};
use core::mem::MaybeUninit;

use surefit::Refused;
use surefit::compact::certify::ClassSet;
use surefit::compact::{Bound, Config, Geometry, GeometrySpec, Spacing, Tail};
use surefit::gc::schedule::{CollectedCertificate, Headroom, Program};
use surefit::gc::{Client, Collector, CompactFit, Edges, Incremental, Object, Scanned, Space};

use crate::board::clock::timed;
use crate::load::{Load, MISSION, PAGE};
use crate::memory::Memory;

/// Bytes of a waypoint, and of a cell.
const WAYPOINT: usize = 16;
const CELL: usize = 4 + WAYPOINT;

/// The most lists, and one that is being built.
const ROOTS: usize = 32;

/// Pages of 1 KiB, and one class for cells. The smallest one is the collector's own.
static CONFIG: Config = {
    let geometry = Geometry::new(&GeometrySpec {
        page_bytes: PAGE as usize,
        spacing: Spacing::Explicit(&[8, 24]),
        tail: Tail::BackReferences { bytes: 4 },
        ..GeometrySpec::DEFAULT
    });
    let Ok(geometry) = geometry else {
        panic!("the partitioning is valid")
    };
    match Config::new(geometry, Bound::Pages(1)) {
        Ok(config) => config,
        Err(_) => panic!("the bound is valid"),
    }
};

/// Schedule and bytes for the demand of the mission. A cycle may last until half as much is
/// allocated as lives.
fn certificate(load: &Load) -> Option<CollectedCertificate> {
    let demand = &load.processes[MISSION];
    let cells = u64::from(demand.bytes) / WAYPOINT as u64;
    let cell = CompactFit::cost(&CONFIG, CELL)?;
    let class = CONFIG.geometry().class_for(CELL, 8)?;
    let program = Program {
        live: cell.times(cells),
        roots: u64::from(demand.objects) + 1,
        weak: 0,
    };
    let headroom = Headroom::ByWork(cell.times(cells / 2));
    CompactFit::certify(&CONFIG, ClassSet::EMPTY.with(class), &program, &headroom).ok()
}

/// The first cells of all lists.
#[derive(Debug)]
struct Roots([Option<Object>; ROOTS]);

impl<S: Space> Client<S> for Roots {
    fn roots(&mut self, edges: &mut Edges<'_>) {
        self.0.iter().flatten().for_each(|&cell| edges.report(cell));
    }

    fn scan(&mut self, cell: &Scanned<'_, S>, _: u32, edges: &mut Edges<'_>) {
        cell.reference(0)
            .into_iter()
            .for_each(|next| edges.report(next));
    }
}

/// A memory in which the mission's objects are chains of cells.
pub struct Collected<'c, M> {
    others: M,
    cells: Incremental<'c, CompactFit<'c>>,
    roots: Roots,
    certificate: CollectedCertificate,
    /// Instructions of the longest allocation of a cell, with the collector's work for it.
    longest: u32,
}

/// A name of an object: of others, or the number of a root.
#[derive(Debug)]
pub enum Name<N> {
    /// Not the mission's.
    Others(N),
    /// A list.
    List(usize),
}

impl<'c, M> Collected<'c, M> {
    /// The others stay where they are.
    ///
    /// # Errors
    /// If the region is too small.
    pub fn new(others: M, region: &'c mut [MaybeUninit<u8>], load: &Load) -> Result<Self, Refused> {
        let limit = region.len();
        let certificate = certificate(load).ok_or(Refused::TooLarge { limit })?;
        let region = region.get_mut(..certificate.region_bytes);
        let region = region.ok_or(Refused::TooLarge { limit })?;
        let heap = Collector::compact_fit(region, &CONFIG, certificate.mark_stack)?;
        Ok(Self {
            others,
            cells: Incremental::over(heap).with_schedule(certificate.schedule),
            roots: Roots([None; ROOTS]),
            certificate,
            longest: 0,
        })
    }

    /// The cell with the byte at `at` of a list.
    fn cell(&self, root: usize, at: usize) -> Object {
        let nexts = 0..at / WAYPOINT;
        let first = self.roots.0[root];
        let found = nexts.fold(first, |cell, _| self.cells.reference(cell?, 0));
        found.expect("inside the list")
    }
}

impl<M: Memory> Memory for Collected<'_, M> {
    type Name = Name<M::Name>;

    fn allocate(&mut self, process: usize, len: usize) -> Result<Self::Name, Refused> {
        if process != MISSION {
            return self.others.allocate(process, len).map(Name::Others);
        }
        let vacant = self.roots.0.iter().position(Option::is_none);
        let root = vacant.ok_or(Refused::Quota)?;
        for _ in 0..len.div_ceil(WAYPOINT) {
            let (cell, instructions) = timed(|| self.cells.alloc(&mut self.roots, CELL));
            self.longest = instructions.max(self.longest);
            match cell {
                Ok(cell) => {
                    self.cells.store(cell, 0, self.roots.0[root]);
                    self.roots.0[root] = Some(cell);
                }
                Err(refused) => {
                    self.roots.0[root] = None;
                    return Err(refused);
                }
            }
        }
        Ok(Name::List(root))
    }

    fn free(&mut self, process: usize, name: Self::Name) {
        match name {
            Name::Others(name) => self.others.free(process, name),
            Name::List(root) => self.roots.0[root] = None,
        }
    }

    fn read(&self, name: &Self::Name, at: usize, target: &mut [u8]) {
        match name {
            Name::Others(name) => self.others.read(name, at, target),
            &Name::List(root) => self.cells.load_bytes(self.cell(root, at), 4, target),
        }
    }

    fn write(&mut self, name: &mut Self::Name, at: usize, source: &[u8]) {
        match name {
            Name::Others(name) => self.others.write(name, at, source),
            &mut Name::List(root) => {
                let cell = self.cell(root, at);
                self.cells.store_bytes(cell, 4, source);
            }
        }
    }

    fn destroy(&mut self, process: usize) {
        self.others.destroy(process);
    }

    fn held(&self, process: usize) -> usize {
        match process {
            MISSION => self.cells.live().1,
            _ => self.others.held(process),
        }
    }

    fn copied(&self, process: usize) -> u64 {
        self.others.copied(process)
    }

    #[cfg(not(target_os = "none"))]
    fn unlimit(&mut self, process: usize) {
        self.others.unlimit(process);
    }

    fn place(&self, name: &Self::Name) -> usize {
        match name {
            Name::Others(name) => self.others.place(name),
            &Name::List(root) => self.cell(root, 0).number() as usize,
        }
    }

    fn fault(&self) -> Option<&'static str> {
        let steps = self.cells.steps();
        if steps.forced + steps.whole + self.cells.paced().cycles_overdue > 0 {
            return Some("the collector had to do a cycle at once");
        }
        let broken = self.cells.check().is_err();
        let broken = broken.then_some("an invariant of the collector does not hold");
        broken.or(self.others.fault())
    }

    fn describe(&self, out: &mut dyn Write) -> fmt::Result {
        let (steps, whole) = (self.cells.steps(), &self.certificate);
        writeln!(
            out,
            "collector: {} B certified, {} units in a cycle at most; {} cycles, {} cells freed; longest allocation of a cell {} instructions",
            whole.region_bytes, whole.work, steps.cycles, steps.freed_objects, self.longest
        )
    }
}
