//! How many bytes are enough for a demand, whatever the order of its calls and whichever threads
//! make them.
//!
//! Per class, an instance opens a page only if none of its pages has room and nothing has arrived:
//! it has at most ⌈(H + U) / π'⌉ pages, where π' are the page-blocks that a full page has used at
//! least (15/16 of π), H is the most live objects of the class, and U what others freed and did not
//! deliver: for each other instance b, and what frees may put into its free list. The own free list
//! is empty then. Maxima of the whole program do not divide by instances: objects may all
//! be of one instance first, and of another later, while one of them keeps each page. So the pages
//! of a class are these times the instances.
//!
//! Pages serve one class only: a region does not take memory back, and only heaps over sources that
//! do have mixed pages.
//!
//! A resize leaves an object in a page-block that is longer than its class's, if at most a quarter
//! of it is more. So H, for a class of which objects are demanded, are the objects of all classes
//! that fill so much of its page-blocks: all of them may have been longer before, one after
//! another.
//!
//! If every page and object has one unit, any free unit serves. Else a request of n units fails
//! only if every free run is shorter; between K pages, objects and buffered units there are at most
//! K + 2 free runs, because the last one and what was never used behind it are two: (K + 2) · (n
//! − 1) units more.
#![deny(unsafe_code)]

use surefit_core::Refused;

use super::common::GROUPS;
use super::heap::{places, region_bytes};
use super::instance::BUFFERED;
use super::remote_frees::BATCH;
use super::sizes::{CLASSES, Class, GRANULE, UNIT_BYTES};

/// At most so many objects of a size at once, in the whole program. Lines of one size-class add up.
/// An object that is resized has the size that it has now.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct SharedDemand {
    /// Bytes of each object.
    pub bytes: usize,
    /// Its alignment, a power of two.
    pub align: usize,
    /// The most that are live at once.
    pub count: usize,
}

/// What a demand needs of the pool.
#[derive(Clone, Copy, Debug, Default)]
struct Needs {
    units: usize,
    spans: usize,
    longest: usize,
}

impl Needs {
    fn add(&mut self, spans: usize, units: usize, found: usize) -> Option<()> {
        if spans > 0 {
            self.spans = self.spans.checked_add(spans)?;
            self.units = self.units.checked_add(spans.checked_mul(units)?)?;
            self.longest = self.longest.max(found);
        }
        Some(())
    }

    /// Units that are enough, wherever pages and objects lie.
    fn enough(&self) -> Option<usize> {
        let gaps = self
            .spans
            .checked_add(2)?
            .checked_mul(self.longest.max(1) - 1)?;
        self.units.checked_add(gaps)
    }
}

/// The bytes of a region in which a [`SharedDirect`](super::SharedDirect) without checks or a limit
/// never refuses a demand, resizes included, wherever it begins: by up to `threads` threads at a
/// time that have instances of their own, join or leave, and through groups if `grouped`. `L` is
/// the heap's lock.
///
/// # Errors
/// [`Refused::TooLarge`] if no region is enough.
///
/// # Examples
/// ```
/// use surefit_direct::shared::{SharedDemand, certify};
///
/// let demand = [SharedDemand { bytes: 64, align: 16, count: 1000 }];
/// let alone = certify::<parking_lot::RawMutex>(&demand, 1, false)?;
/// // 64,000 bytes of objects, in 8 pages; tables for a thread and for groups take more.
/// assert!(alone > 64_000 && alone < 160_000);
/// # Ok::<(), surefit_core::Refused>(())
/// ```
///
/// # Complexity
/// Linear in the demand's lines.
pub fn certify<L>(demand: &[SharedDemand], threads: u32, grouped: bool) -> Result<usize, Refused> {
    let refused = Refused::TooLarge {
        limit: isize::MAX.unsigned_abs(),
    };
    units(demand, threads, grouped)
        .and_then(|units| region_bytes::<L>(units, threads))
        .ok_or(refused)
}

fn units(demand: &[SharedDemand], threads: u32, grouped: bool) -> Option<usize> {
    let all = usize::from(places(threads)?);
    let instances = if grouped { all } else { all - GROUPS };
    let others = instances.saturating_sub(1);
    let mut counts = [0_usize; CLASSES];
    let mut needs = Needs::default();
    for line in demand {
        match Class::of_aligned(line.bytes, line.align.max(GRANULE)) {
            Some(class) => {
                let count = &mut counts[class.index()];
                *count = count.checked_add(line.count)?;
            }
            None => {
                let units = line.bytes.max(1).div_ceil(UNIT_BYTES);
                let sought = units.checked_add(line.align.div_ceil(UNIT_BYTES).max(1) - 1)?;
                needs.add(line.count, units, found(sought)?)?;
            }
        }
    }
    for (class, _) in Class::all().zip(counts).filter(|(_, count)| *count > 0) {
        let shape = class.shape();
        let within = Class::all().zip(counts);
        let mut within = within.filter(|(shorter, _)| shorter.fills(class.block_bytes()));
        let count = within.try_fold(0_usize, |all, (_, count)| all.checked_add(count))?;
        let undelivered = others.checked_mul(usize::from(BATCH + class.kept()))?;
        let pages = count
            .checked_add(undelivered)?
            .div_ceil(usize::from(class.loose()) + 1);
        let units = usize::from(shape.units);
        needs.add(pages.checked_mul(instances)?, units, units)?;
    }
    needs.add(instances.checked_mul(BUFFERED)?, 1, 1)?;
    needs.enough()
}

/// The shortest free run that a search for `units` units does not miss: lists of lengths over 31
/// are looked at only at their first run, and a length is at most 1/8 above the least of its list.
fn found(units: usize) -> Option<usize> {
    if units < 32 {
        Some(units)
    } else {
        units.checked_add(units / 8 + 1)
    }
}
