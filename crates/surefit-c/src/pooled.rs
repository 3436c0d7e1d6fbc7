//! Raw heaps whose bytes are known from a demand.

use core::ffi::c_void;
use core::mem::MaybeUninit;

#[cfg(feature = "direct")]
use surefit_direct::Standard;
#[cfg(feature = "tiny")]
use surefit_direct::Tiny;
use surefit_direct::{DirectDemand, Partitioning, PooledHeap, certify};

use crate::certify::surefit_peak;
use crate::place::{control_bytes, place};
use crate::raw::{Any, layout, surefit_raw};
use crate::status::{Answer, put, status, surefit_status};

/// The most lines of a demand on a certified raw heap.
pub const SUREFIT_RAW_PEAKS_MAX: usize = 64;

/// A demand in the words of the heap.
struct Lines {
    lines: [DirectDemand; SUREFIT_RAW_PEAKS_MAX],
    count: usize,
}

impl Lines {
    /// # Safety
    /// There are so many peaks, or the pointer is NULL.
    unsafe fn read(peaks: *const surefit_peak, count: usize) -> Result<Self, surefit_status> {
        if peaks.is_null() {
            return Err(surefit_status::Null);
        }
        if count > SUREFIT_RAW_PEAKS_MAX {
            return Err(surefit_status::Demand);
        }
        let mut lines = [DirectDemand::new(0, 0); SUREFIT_RAW_PEAKS_MAX];
        for (at, line) in lines.iter_mut().enumerate().take(count) {
            // SAFETY: the caller's promise.
            let peak = unsafe { peaks.add(at).read_unaligned() };
            let align = match peak.align {
                0 => layout(peak.bytes).ok_or(surefit_status::TooLarge)?.align(),
                align if align.is_power_of_two() => align,
                _ => return Err(surefit_status::Align),
            };
            *line = DirectDemand {
                bytes: peak.bytes,
                align,
                objects: peak.objects,
            };
        }
        Ok(Self { lines, count })
    }

    fn demand(&self) -> &[DirectDemand] {
        &self.lines[..self.count]
    }

    fn heap_bytes<S: Partitioning>(&self) -> Result<usize, surefit_status> {
        let certificate = certify::<S>(self.demand()).map_err(surefit_status::of)?;
        let all = certificate
            .heap_bytes
            .checked_add(control_bytes::<surefit_raw>());
        all.ok_or(surefit_status::TooLarge)
    }

    fn heap<S: Partitioning>(
        &self,
        region: &'static mut [MaybeUninit<u8>],
    ) -> Result<PooledHeap<'static, S>, surefit_status> {
        PooledHeap::certified(region, self.demand()).map_err(surefit_status::of)
    }
}

/// Computes how large a region must be for surefit_raw_init_certified. Each peak is a request of
/// malloc, or with an alignment of aligned_alloc, and the most such objects that are live at once;
/// a realloc that moves its object counts twice. DIRECT: up to 2 KiB (TINY: 128 bytes), a peak
/// counts for the size-class of its request, and a class without a peak is refused. Above, a peak
/// counts for all requests that are longer than the next shorter peak. Alignments are at most 1 KiB
/// (TINY: 64 bytes).
///
/// Answers NULL, CONFIG for another kind than DIRECT and TINY, DEMAND for over 64 peaks, ALIGN,
/// TOO_LARGE. O(peaks squared).
///
/// # Safety
/// There are so many peaks; each pointer is NULL or leads to what it says.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn surefit_raw_certify(
    kind: u32,
    peaks: *const surefit_peak,
    peak_count: usize,
    heap_bytes: *mut usize,
) -> surefit_status {
    let certify = || {
        // SAFETY: the caller's promise.
        let lines = unsafe { Lines::read(peaks, peak_count) }?;
        let bytes = match kind {
            #[cfg(feature = "direct")]
            crate::raw::SUREFIT_RAW_DIRECT => lines.heap_bytes::<Standard>()?,
            #[cfg(feature = "tiny")]
            crate::raw::SUREFIT_RAW_TINY => lines.heap_bytes::<Tiny>()?,
            _ => return Err(surefit_status::Config),
        };
        // SAFETY: the caller's promise.
        unsafe { put(heap_bytes, bytes) }
    };
    status(certify())
}

/// Makes a heap of raw pointers that refuses nothing within a demand, in any order of calls, and
/// what exceeds it: pages and the places of larger objects are pools of their own. For peaks see
/// surefit_raw_certify; they are read only now.
///
/// Answers NULL, CONFIG, DEMAND, ALIGN, TOO_LARGE, REGION if the region is smaller than
/// surefit_raw_certify says. O(tables).
///
/// # Safety
/// As surefit_raw_init and surefit_raw_certify.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn surefit_raw_init_certified(
    region: *mut c_void,
    bytes: usize,
    kind: u32,
    peaks: *const surefit_peak,
    peak_count: usize,
    raw: *mut *mut surefit_raw,
) -> surefit_status {
    // SAFETY: the caller's promise.
    status(unsafe { init(region.cast(), bytes, kind, (peaks, peak_count), raw) })
}

unsafe fn init(
    region: *mut u8,
    bytes: usize,
    kind: u32,
    (peaks, count): (*const surefit_peak, usize),
    raw: *mut *mut surefit_raw,
) -> Answer {
    if raw.is_null() {
        return Err(surefit_status::Null);
    }
    // SAFETY: the caller's promise.
    let lines = unsafe { Lines::read(peaks, count) }?;
    // SAFETY: the caller's promise.
    let (memory, place) = unsafe { place::<surefit_raw>(region, bytes) }?;
    let heap = match kind {
        #[cfg(feature = "direct")]
        crate::raw::SUREFIT_RAW_DIRECT => Any::Pooled(lines.heap::<Standard>(memory)?),
        #[cfg(feature = "tiny")]
        crate::raw::SUREFIT_RAW_TINY => Any::PooledTiny(lines.heap::<Tiny>(memory)?),
        _ => return Err(surefit_status::Config),
    };
    // SAFETY: the place is the structure's.
    unsafe { place.write(surefit_raw::new(heap)) };
    // SAFETY: not NULL.
    unsafe { put(raw, place) }
}
