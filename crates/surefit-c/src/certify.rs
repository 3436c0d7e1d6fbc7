//! The bytes that are enough for a demand.

use surefit_compact::certify::{Budget, Certificate, ClassSet, Demand, certify_for_life};
use surefit_compact::geometry::MAX_CLASSES;
use surefit_compact::pieces::Pieces;
use surefit_compact::{Config, Keyed, Width};

use crate::config::surefit_config;
use crate::heap::surefit_heap;
use crate::place::control_bytes;
use crate::status::{Answer, put, status, surefit_status};
use crate::words::for_width;

/// The most objects of one size that are live at once.
#[repr(C)]
#[derive(Clone, Copy, Debug, Default)]
pub struct surefit_peak {
    /// Bytes of such a request.
    pub bytes: usize,
    /// Its alignment; 0 means 8.
    pub align: usize,
    /// How many are live at once, at most.
    pub objects: u32,
}

/// What a program has live at most: either peaks of sizes, each on its own, or a budget in any mix of
/// sizes.
#[repr(C)]
#[derive(Clone, Copy, Debug)]
pub struct surefit_demand {
    /// The peaks; NULL for a budget.
    pub peaks: *const surefit_peak,
    /// How many peaks there are.
    pub peak_count: usize,
    /// Budget: the most page-blocks live at once.
    pub blocks: u64,
    /// Budget: the most bytes of these page-blocks. The page-block of an object is its size rounded
    /// up to a size-class.
    pub block_bytes: u64,
    /// Budget: the largest request in bytes; 0 if any size-class may be used.
    pub largest: usize,
    /// The most objects that are freed or resized in the life of the heap; 0 if fewer than 4 billion
    /// for each key's entry. Entries of which all generations are used up cost their bytes.
    pub frees: u64,
}

/// The bytes that are enough for a demand, and the most work of one call.
#[repr(C)]
#[derive(Clone, Copy, Debug, Default)]
pub struct surefit_certificate {
    /// Bytes of a region that are enough, wherever it begins, the control structure included.
    pub heap_bytes: usize,
    /// Bytes that are enough if the region begins at a multiple of the page.
    pub aligned_bytes: usize,
    /// Pages that the demand can fill.
    pub pages: u64,
    /// Entries that it can need at once.
    pub entries: u64,
    /// The most moves that the free of one page-block makes.
    pub moves_max: u32,
    /// The most bytes that these moves copy.
    pub moved_bytes_max: u64,
}

/// Computes how large a region must be, so that surefit_alloc refuses nothing within the demand, in
/// any order of calls. It needs no heap: call it in a program for the host, or when you start.
///
/// Answers NULL, CONFIG, ALIGN, TOO_LARGE, DEMAND if no heap of this configuration serves it. Time
/// for a budget: some 600 passes over the size-classes.
///
/// # Safety
/// Each pointer is NULL or leads to what it says.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn surefit_certify(
    config: *const surefit_config,
    demand: *const surefit_demand,
    certificate: *mut surefit_certificate,
) -> surefit_status {
    // SAFETY: the caller's promise.
    status(unsafe { certified(config, demand, certificate) })
}

unsafe fn certified(
    config: *const surefit_config,
    demand: *const surefit_demand,
    certificate: *mut surefit_certificate,
) -> Answer {
    if config.is_null() || demand.is_null() || certificate.is_null() {
        return Err(surefit_status::Null);
    }
    if !config.is_aligned() {
        return Err(surefit_status::Config);
    }
    // SAFETY: not NULL, aligned; the caller's.
    let config = unsafe { &(*config).0 };
    // SAFETY: not NULL; the caller's.
    let demand = unsafe { demand.read_unaligned() };
    // SAFETY: the caller's promise of the peaks.
    let found = for_width!(config, W => unsafe { of_width::<Keyed<W>>(config, &demand) }, else Err(surefit_status::Config))?;
    let written = surefit_certificate {
        heap_bytes: found
            .heap_bytes
            .saturating_add(control_bytes::<surefit_heap>()),
        aligned_bytes: found
            .aligned_bytes
            .saturating_add(control_bytes::<surefit_heap>()),
        pages: found.data_pages,
        entries: found.entries,
        moves_max: found.moves_max_per_op,
        moved_bytes_max: found.moved_bytes_max_per_op,
    };
    // SAFETY: not NULL.
    unsafe { put(certificate, written) }
}

/// # Safety
/// The peaks are as many as the demand says.
unsafe fn of_width<W: Width>(
    config: &Config,
    demand: &surefit_demand,
) -> Result<Certificate, surefit_status> {
    let mut most = [0; MAX_CLASSES];
    let demand = if demand.peaks.is_null() {
        (Demand::Joint(budget(config, demand)), demand.frees)
    } else {
        for at in 0..demand.peak_count {
            // SAFETY: the caller's promise.
            let peak = unsafe { demand.peaks.add(at).read_unaligned() };
            add::<W>(config, &mut most, peak)?;
        }
        (
            Demand::PerClass(&most[..config.geometry().class_count()]),
            demand.frees,
        )
    };
    let found = certify_for_life::<W>(config, &demand.0, demand.1);
    found.map_err(|_| surefit_status::Demand)
}

fn budget(config: &Config, demand: &surefit_demand) -> Budget {
    let (geometry, page) = (config.geometry(), config.geometry().page_bytes());
    let largest = if demand.largest == 0 {
        usize::MAX
    } else {
        demand.largest
    };
    let piece = config.piece_bytes().unwrap_or(page);
    let classes = ClassSet::of_requests(geometry, largest.min(piece));
    let large = config.division().large_bytes();
    let in_pieces = config.piece_bytes().is_some() && largest >= large;
    let large = geometry.class_for(large, 1).filter(|_| in_pieces);
    Budget {
        objects: demand.blocks,
        block_bytes: demand.block_bytes,
        classes: large.map_or(classes, |large| classes.with(large)),
    }
}

/// Adds the page-blocks of a peak: those of its pieces and of their spine, if it has them.
fn add<W: Width>(config: &Config, most: &mut [u32; MAX_CLASSES], peak: surefit_peak) -> Answer {
    let align = if peak.align == 0 {
        align_of::<u64>()
    } else {
        peak.align
    };
    if !align.is_power_of_two() {
        return Err(surefit_status::Align);
    }
    for run in Pieces::new(peak.bytes, align, config.division(), W::SPINE_WORD_BYTES) {
        let class = config.geometry().class_for(run.bytes, run.align);
        let class = class.ok_or(surefit_status::TooLarge)?;
        let count = u32::try_from(run.count).ok();
        let count = count.and_then(|count| count.checked_mul(peak.objects));
        let place = &mut most[class.index()];
        let sum = count.and_then(|count| place.checked_add(count));
        *place = sum.ok_or(surefit_status::Demand)?;
    }
    Ok(())
}
