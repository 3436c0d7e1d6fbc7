//! What a load is certified for, before anything flies: the bytes of the heap, what each process
//! needs of its quota, and the most work of one call.
//!
//! ```text
//! process    its demand, alone in one instance    ≤ its quota
//! whole      five instances, each with its demand  ≤ the RAM
//! guest      keeps to no demand: its quota caps what it takes
//! ```
//! At most two calls are in progress at once: the main program's, and that of an interrupt handler.
//! So T is 2, although each process has a registration of its own.

use core::alloc::Layout;

use surefit::Refused;
use surefit::compact::certify::{
    Budget, Demand, InstanceDemand, SharedWork, Sharing, certify_instances, certify_shared,
};
use surefit::compact::shared::{CriticalSection, PerHeap, SharedConfig};
use surefit::compact::{Bound, Config, Geometry, GeometrySpec, Spacing, Tail, Wide};

use crate::load::{Invalid, Load, PAGE, PROCESSES, Process};

/// The lock of the heap.
pub type Lock = CriticalSection;

/// How much one lock covers.
pub type Covers = PerHeap;

/// Pages of 1 KiB with few size-classes: each of them may have a page that is nearly empty, in each
/// instance. A move copies at most 64 bytes in one critical section.
pub static CONFIG: SharedConfig<Covers> = {
    let geometry = Geometry::new(&GeometrySpec {
        page_bytes: PAGE as usize,
        spacing: Spacing::Explicit(&[32, 64, 128, 256, 512]),
        tail: Tail::BackReferences { bytes: 4 },
        ..GeometrySpec::DEFAULT
    });
    let Ok(geometry) = geometry else {
        panic!("the partitioning is valid")
    };
    let Ok(config) = Config::new(geometry, Bound::Pages(1)) else {
        panic!("the bound is valid")
    };
    // As without the feature `pieces`.
    let Ok(config) = config.with_pieces(None) else {
        panic!("none are valid")
    };
    let config = SharedConfig::new(config).with_pins(1);
    let Ok(config) = config.with_locals(2 * PROCESSES as u16, 0) else {
        panic!("there are threads")
    };
    let Ok(config) = config.with_handle_buffer(8) else {
        panic!("there are handles")
    };
    match config.with_increment(64) {
        Ok(config) => config,
        Err(_) => panic!("a multiple of 16"),
    }
};

/// Calls that are in progress at once.
const CALLS: Sharing = Sharing::new(2);

/// A load that can be flown.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Plan {
    /// Bytes of an aligned region, with the one that says whether it was taken.
    pub region_bytes: usize,
    /// Bytes of pages that each process needs for its demand, in any order of calls.
    pub needed: [usize; PROCESSES],
    /// Pages of all processes together.
    pub pages: u64,
    /// The most work of one call.
    pub work: SharedWork,
    /// Bytes of pools: for each process as many places of its longest object as it has objects. The
    /// guest's have what its quota has.
    pub pool_bytes: usize,
}

impl Plan {
    /// Certifies a load.
    ///
    /// # Errors
    /// Why it is not flown.
    pub const fn new(load: &Load) -> Result<Self, Invalid> {
        let nothing = InstanceDemand {
            demand: Demand::PerClass(&[]),
            quota: 0,
        };
        let mut instances = [nothing; PROCESSES];
        let (mut needed, mut pool_bytes) = ([0; PROCESSES], 0_usize);
        let mut process = 0;
        while process < PROCESSES {
            let figures = &load.processes[process];
            instances[process] = match demand_of(process, figures) {
                Ok(demand) => demand,
                Err(invalid) => return Err(invalid),
            };
            needed[process] = match quota_for(process, figures, &instances[process].demand) {
                Ok(needed) => needed,
                Err(invalid) => return Err(invalid),
            };
            pool_bytes = pool_bytes.saturating_add(pool_of(figures));
            process += 1;
        }
        let whole = certify_instances::<Lock, Covers>(&CONFIG, &CALLS, &instances);
        let Ok(whole) = whole else {
            let what = "no heap can serve all demands";
            return Err(Invalid::new(None, what, None));
        };
        let region_bytes = whole.aligned_bytes.saturating_add(1);
        if region_bytes > load.ram as usize {
            return Err(Invalid::new(
                None,
                "the demand does not fit the RAM: lower it, or give the line ram as many bytes",
                Some(region_bytes),
            ));
        }
        Ok(Self {
            region_bytes,
            needed,
            pages: whole.used_pages,
            work: whole.work,
            pool_bytes,
        })
    }
}

/// What a process holds at most.
const fn demand_of(number: usize, process: &Process) -> Result<InstanceDemand<'static>, Invalid> {
    let quota = process.quota as usize;
    if process.is_by_quota() {
        return Ok(InstanceDemand::of_quota(&CONFIG, quota));
    }
    let (objects, bytes) = (process.objects as u64, process.bytes as u64);
    match Budget::of_mix::<Wide>(CONFIG.config(), objects, process.longest as usize, bytes) {
        Ok(budget) => Ok(InstanceDemand {
            demand: Demand::Joint(budget),
            quota,
        }),
        Err(_) => Err(Invalid::new(
            Some(number),
            "no heap can serve its demand",
            None,
        )),
    }
}

/// The bytes of pages that a process needs, if its quota and its budget of work allow them.
const fn quota_for(
    number: usize,
    process: &Process,
    demand: &Demand<'_>,
) -> Result<usize, Invalid> {
    let block = block_bytes(process.longest as usize);
    if (process.copied as usize) < block {
        return Err(Invalid::new(
            Some(number),
            "its bytes copied must be enough to free its longest object",
            Some(block),
        ));
    }
    if process.is_by_quota() {
        return Ok(process.quota as usize);
    }
    let alone = certify_shared::<Lock, Covers>(&CONFIG, &CALLS, demand);
    let Ok(alone) = alone else {
        return Err(Invalid::new(
            Some(number),
            "no heap can serve its demand",
            None,
        ));
    };
    let needed = alone.used_pages as usize * PAGE as usize;
    if (process.quota as usize) < needed {
        return Err(Invalid::new(
            Some(number),
            "its quota is below the certificate of its demand: lower the demand, or give the quota as many bytes",
            Some(needed),
        ));
    }
    Ok(needed)
}

/// The most bytes that the free of an object of `len` bytes copies, and those of its page-block.
pub const fn block_bytes(len: usize) -> usize {
    let geometry = CONFIG.config().geometry();
    match geometry.class_for_bytes(len) {
        Some(class) => geometry.layout(class).block_bytes as usize,
        None => usize::MAX,
    }
}

/// A layout of bytes.
///
/// # Errors
/// If no object can be so long.
pub fn layout(len: usize) -> Result<Layout, Refused> {
    let limit = isize::MAX as usize;
    Layout::from_size_align(len, 8).map_err(|_| Refused::TooLarge { limit })
}

const fn pool_of(process: &Process) -> usize {
    if process.is_by_quota() {
        return process.quota as usize;
    }
    // A place is a multiple of eight bytes.
    (process.longest as usize).next_multiple_of(8) * process.objects as usize
}
