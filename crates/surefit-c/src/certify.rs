//! The bytes that are enough for a demand.

use surefit_compact::certify::{
    BlockCount, Budget, ClassSet, Demand, Uncertifiable, certify_for_life,
};
use surefit_compact::geometry::MAX_CLASSES;
use surefit_compact::pieces::Pieces;
use surefit_compact::{Config, Keyed, Width};

use crate::config::surefit_config;
use crate::heap::{LONGEST, layout, surefit_heap};
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

/// What a program has live at most: peaks of sizes, each on its own, or a budget in any mix of
/// sizes, or both at once: then they are added up, to a budget.
#[repr(C)]
#[derive(Clone, Copy, Debug)]
pub struct surefit_demand {
    /// The peaks; NULL if there are none.
    pub peaks: *const surefit_peak,
    /// How many peaks there are.
    pub peak_count: usize,
    /// Budget: the most page-blocks live at once, besides those of the peaks. With peaks, 0 means
    /// that there is no budget.
    pub blocks: u64,
    /// Budget: the most bytes of these page-blocks. The page-block of an object is the smallest of
    /// a size-class that holds it and is a multiple of its alignment, if that is more than 8.
    pub block_bytes: u64,
    /// Budget: the largest request in bytes; 0 if any size is requested.
    pub largest: usize,
    /// The most objects that are freed or resized in the life of the heap; 0 if fewer than 4
    /// billion for each key's entry. Entries of which all generations are used up cost their bytes.
    pub frees: u64,
    /// Budget: the largest length that an object has before or after a resize; 0 if surefit_resize
    /// is not called. A resize holds the old page-blocks and the new ones at once; blocks and
    /// block_bytes count only the larger of both. Peaks need no such number: a resize within their
    /// classes counts at both lengths, if both have a peak.
    pub resized_largest: usize,
    /// Budget: the strictest alignment of a request; 0 means 8.
    pub align: usize,
    /// Budget, in requests instead of page-blocks: the most objects live at once, each of up to
    /// `largest` bytes, which must be given. Their page-blocks are added to blocks and block_bytes.
    /// 0: no such objects, or any number of them with request_bytes.
    pub objects: u64,
    /// The most bytes of these objects together, as they are requested, each at least 16; 0 if only
    /// their number is limited. Not with a stricter alignment than 8.
    pub request_bytes: u64,
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

/// Computes how large a region must be, so that surefit_alloc and surefit_resize refuse nothing
/// within the demand, in any order of calls, as long as no resize changes an alignment. It needs no
/// heap: call it in a program for the host, or when you start; on a 32-bit processor it takes
/// 8.5 KiB of stack. A demand of zeros: the smallest
/// region that surefit_heap_init accepts.
///
/// Answers NULL, CONFIG, ALIGN and TOO_LARGE where surefit_alloc answers so to the request in every
/// heap, DEMAND if no heap of this configuration serves it, or an object is resized that is larger
/// than the largest. Time for a budget: some 600 passes over the size-classes.
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
    if certificate.is_null() {
        return Err(surefit_status::Null);
    }
    // SAFETY: the caller's promise.
    let (config, demand) = unsafe { given(config, demand) }?;
    let found = for_width!(config, W => {
        let certify = |live: &Demand<'_>| certify_for_life::<Keyed<W>>(config, live, demand.frees);
        // SAFETY: the caller's promise of the peaks.
        unsafe { of_width::<Keyed<W>, _>(config, &demand, certify) }
    }, else Err(surefit_status::Config))?;
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

/// A configuration and a demand that a caller names.
///
/// # Safety
/// Each pointer is NULL or leads to what it says.
pub(crate) unsafe fn given<'a>(
    config: *const surefit_config,
    demand: *const surefit_demand,
) -> Result<(&'a Config, surefit_demand), surefit_status> {
    if config.is_null() || demand.is_null() {
        return Err(surefit_status::Null);
    }
    if !config.is_aligned() {
        return Err(surefit_status::Config);
    }
    // SAFETY: not NULL, aligned; the caller's.
    let config = unsafe { &(*config).0 };
    // SAFETY: not NULL; the caller's.
    Ok((config, unsafe { demand.read_unaligned() }))
}

/// What `compute` finds for a demand in page-blocks.
///
/// # Safety
/// The peaks are as many as the demand says.
pub(crate) unsafe fn of_width<W: Width, T>(
    config: &Config,
    demand: &surefit_demand,
    compute: impl FnOnce(&Demand<'_>) -> Result<T, Uncertifiable>,
) -> Result<T, surefit_status> {
    let mut most = [0; MAX_CLASSES];
    let has_peaks = !demand.peaks.is_null();
    if has_peaks {
        for at in 0..demand.peak_count {
            // SAFETY: the caller's promise.
            let peak = unsafe { demand.peaks.add(at).read_unaligned() };
            add::<W>(config, &mut most, peak)?;
        }
    }
    let most = &most[..config.geometry().class_count()];
    let is_budget = demand.blocks != 0 || demand.objects != 0 || demand.request_bytes != 0;
    let live = if has_peaks && !is_budget {
        Demand::PerClass(most)
    } else {
        Demand::Joint(budget::<W>(config, demand)?.and_per_class(config.geometry(), most))
    };
    compute(&live).map_err(|error| match error {
        Uncertifiable::TooSmall { .. } => surefit_status::Region,
        _ => surefit_status::Demand,
    })
}

/// A budget, with what a resize holds besides the larger of both lengths: one is in flight at a
/// time.
///
/// # Errors
/// `TooLarge` for a largest request that `surefit_alloc` refuses, `Demand` if a resized object is
/// larger than it.
fn budget<W: Width>(config: &Config, demand: &surefit_demand) -> Result<Budget, surefit_status> {
    let page = config.geometry().page_bytes();
    let (resized, align) = (demand.resized_largest, layout(0, demand.align)?.align());
    if align > page {
        return Err(surefit_status::Align);
    }
    let longest = config.piece_bytes().map_or(page, |_| LONGEST);
    if demand.largest.max(resized) > longest {
        return Err(surefit_status::TooLarge);
    }
    if demand.largest != 0 && resized > demand.largest {
        return Err(surefit_status::Demand);
    }
    let in_flight = if resized == 0 {
        BlockCount::default()
    } else {
        BlockCount::in_resize::<W>(config, resized, align).ok_or(surefit_status::Demand)?
    };
    let largest = if demand.largest == 0 {
        usize::MAX
    } else {
        demand.largest
    };
    let requested = requested::<W>(config, demand, align)?;
    let sum = |a: u64, b: u64, c: u64| a.saturating_add(b).saturating_add(c);
    Ok(Budget {
        objects: sum(demand.blocks, in_flight.blocks, requested.blocks),
        block_bytes: sum(demand.block_bytes, in_flight.bytes, requested.bytes),
        classes: ClassSet::of_objects(config, largest, align),
    })
}

/// The page-blocks of the objects that the budget states in requests.
///
/// # Errors
/// `Demand` if their length is not given, or their bytes and a strict alignment; `TooLarge` if no
/// heap holds one.
fn requested<W: Width>(
    config: &Config,
    demand: &surefit_demand,
    align: usize,
) -> Result<BlockCount, surefit_status> {
    if demand.objects == 0 && demand.request_bytes == 0 {
        return Ok(BlockCount::default());
    }
    if demand.largest == 0 {
        return Err(surefit_status::Demand);
    }
    if demand.request_bytes > 0 {
        return mixed::<W>(config, demand, align);
    }
    let each = BlockCount::most::<W>(config, demand.largest, align);
    let each = each.ok_or(surefit_status::TooLarge)?;
    Ok(BlockCount {
        blocks: each.blocks.saturating_mul(demand.objects),
        bytes: each.bytes.saturating_mul(demand.objects),
    })
}

/// As [`requested`], of objects whose bytes are limited.
fn mixed<W: Width>(
    config: &Config,
    demand: &surefit_demand,
    align: usize,
) -> Result<BlockCount, surefit_status> {
    if align > layout(0, 0)?.align() {
        return Err(surefit_status::Demand);
    }
    let objects = match demand.objects {
        0 => u64::MAX,
        objects => objects,
    };
    let mix = Budget::of_mix::<W>(config, objects, demand.largest, demand.request_bytes);
    let mix = mix.map_err(|_| surefit_status::TooLarge)?;
    Ok(BlockCount {
        blocks: mix.objects,
        bytes: mix.block_bytes,
    })
}

/// Adds the page-blocks of a peak: those of its pieces and of their spine, if it has them.
///
/// # Errors
/// What `surefit_alloc` answers to such a request in any heap; `Demand` if there are too many.
fn add<W: Width>(config: &Config, most: &mut [u32; MAX_CLASSES], peak: surefit_peak) -> Answer {
    let asked = layout(peak.bytes, peak.align)?;
    if asked.align() > config.geometry().page_bytes() {
        return Err(surefit_status::Align);
    }
    let (bytes, align) = (asked.size(), asked.align());
    for run in Pieces::new(bytes, align, config.division(), W::SPINE_WORD_BYTES) {
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
