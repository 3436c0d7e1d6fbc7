//! Bytes that are enough for contiguous objects over a page beside page-blocks, and the most bytes
//! that one call moves.
//!
//! ```text
//! m, n     pages of an object; the most such objects live at once
//! s        pages of its slot: 2^⌈log₂ m⌉
//! D        max(Σ n·s, D of the page-blocks + Σ n·m)
//! E        E of the page-blocks + Σ n
//! moved    allocate: m + 2·g·s pages    free: 2·(most m) − (least m) + 2·g·s pages
//!          most and least over the objects of this slot; g: sizes of smaller slots in the demand
//! ```
//! # Bounds
//! O(k²) for a demand of k numbers of pages, besides the certificate of the page-blocks.
//!
//! # Source
//! [The bounds, section 9](crate::bounds#9-contiguous-objects-over-a-page).
#![deny(
    unsafe_code,
    clippy::arithmetic_side_effects,
    clippy::cast_possible_truncation
)]

use super::limits::{least, most, numbers};
use super::{Certificate, Demand, Uncertifiable, lay_out, needs};
use crate::config::Config;
use crate::geometry::Tail;
use crate::width::Width;

/// Contiguous objects of one number of pages, two or more.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ContiguousDemand {
    /// The length of the longest of these objects, in bytes; each has as many pages as this one.
    pub bytes: usize,
    /// The most of them that are live at once. A resize that changes the slot holds two for a
    /// moment.
    pub objects: u32,
}

/// The bytes that are enough for page-blocks and contiguous objects, and the most work of one call.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ContiguousCertificate {
    /// The bytes for everything. Its work of one call is that of calls on page-blocks.
    pub heap: Certificate,
    /// The most pages of contiguous objects at once: Σ n·m.
    pub window_pages: u64,
    /// The most pages of their slots at once: Σ n·s.
    pub slot_pages: u64,
    /// The most bytes that allocating or freeing one contiguous object moves. A resize that changes
    /// the slot does both.
    pub moved_bytes_max_per_call: u64,
}

/// What contiguous objects take.
struct Windows {
    pages: u64,
    slots: u64,
    objects: u64,
    moved_pages: u64,
}

/// Computes a certificate for page-blocks and contiguous objects over a page of one heap of width
/// `W`. Contiguous objects up to a page are page-blocks: they belong to `demand`.
///
/// # Errors
/// Why no heap of this width and configuration can serve the demand;
/// [`Uncertifiable::WithinPage`] for an object of at most a page.
///
/// # Examples
/// ```
/// use surefit_compact::certify::{Budget, ClassSet, ContiguousDemand, Demand, certify_contiguous};
/// use surefit_compact::{Config, Heap, Wide};
///
/// static CONFIG: Config = Config::DEFAULT;
/// let classes = ClassSet::of_requests(CONFIG.geometry(), 512);
/// let demand = Demand::Joint(Budget { objects: 1000, block_bytes: 64 << 10, classes });
/// // Besides, at most three objects of 100,000 bytes: seven pages each, in slots of eight.
/// let frames = [ContiguousDemand { bytes: 100_000, objects: 3 }];
/// let certificate = certify_contiguous::<Wide>(&CONFIG, &demand, &frames).expect("certifiable");
/// assert_eq!((certificate.window_pages, certificate.slot_pages), (21, 24));
/// let mut memory = vec![core::mem::MaybeUninit::uninit(); certificate.heap.heap_bytes];
/// let heap: Heap = Heap::new(&mut memory, &CONFIG)?;
/// # Ok::<(), surefit_core::Refused>(())
/// ```
pub const fn certify_contiguous<W: Width>(
    config: &Config,
    demand: &Demand<'_>,
    contiguous: &[ContiguousDemand],
) -> Result<ContiguousCertificate, Uncertifiable> {
    match config.geometry().tail() {
        Tail::BackReferences { bytes } if bytes == W::WORD_BYTES => {}
        _ => return Err(Uncertifiable::Width),
    }
    let windows = match windows(config.geometry().page_bytes(), contiguous) {
        Ok(windows) => windows,
        Err(error) => return Err(error),
    };
    let mut needs = match needs::<W>(config, demand) {
        Ok(needs) => needs,
        Err(error) => return Err(error),
    };
    needs.pages = most(windows.slots, needs.pages.saturating_add(windows.pages));
    needs.entries = needs.entries.saturating_add(windows.objects);
    if needs.entries > numbers::<W>() {
        return Err(Uncertifiable::TooManyEntries {
            limit: numbers::<W>(),
        });
    }
    let heap = match lay_out::<W>(config, demand, &needs) {
        Ok(heap) => heap,
        Err(error) => return Err(error),
    };
    let page = config.geometry().page_bytes() as u64;
    Ok(ContiguousCertificate {
        heap,
        window_pages: windows.pages,
        slot_pages: windows.slots,
        moved_bytes_max_per_call: windows.moved_pages.saturating_mul(page),
    })
}

const fn windows(
    page_bytes: usize,
    contiguous: &[ContiguousDemand],
) -> Result<Windows, Uncertifiable> {
    let mut sum = Windows {
        pages: 0,
        slots: 0,
        objects: 0,
        moved_pages: 0,
    };
    let mut index = 0;
    while index < contiguous.len() {
        let ContiguousDemand { bytes, objects } = contiguous[index];
        index = index.saturating_add(1);
        if bytes <= page_bytes {
            return Err(Uncertifiable::WithinPage { limit: page_bytes });
        }
        if objects == 0 {
            continue;
        }
        let (pages, slot, count) = (
            pages_of(page_bytes, bytes),
            slot_of(page_bytes, bytes),
            objects as u64,
        );
        sum.pages = sum.pages.saturating_add(pages.saturating_mul(count));
        sum.slots = sum.slots.saturating_add(slot.saturating_mul(count));
        sum.objects = sum.objects.saturating_add(count);
        let moved = moved_pages(page_bytes, contiguous, bytes);
        sum.moved_pages = most(sum.moved_pages, moved);
    }
    Ok(sum)
}

const fn pages_of(page_bytes: usize, bytes: usize) -> u64 {
    bytes.div_ceil(page_bytes) as u64
}

const fn slot_of(page_bytes: usize, bytes: usize) -> u64 {
    // A length has at most 2^63 pages or, with fewer bits, 2^31.
    pages_of(page_bytes, bytes).next_power_of_two()
}

/// The most pages that allocating or freeing an object of `bytes` bytes moves beside others of the
/// demand.
const fn moved_pages(page_bytes: usize, contiguous: &[ContiguousDemand], bytes: usize) -> u64 {
    let slot = slot_of(page_bytes, bytes);
    let (mut smaller, mut longest, mut shortest) = (0_u64, 0, u64::MAX);
    let mut index = 0;
    while index < contiguous.len() {
        let other = contiguous[index];
        let other_slot = slot_of(page_bytes, other.bytes);
        if other.objects > 0 && other_slot == slot {
            longest = most(longest, pages_of(page_bytes, other.bytes));
            shortest = least(shortest, pages_of(page_bytes, other.bytes));
        }
        if other_slot < slot && is_first_of_its_slot(page_bytes, contiguous, index) {
            smaller = smaller.saturating_add(1);
        }
        index = index.saturating_add(1);
    }
    let replaced = longest.saturating_add(longest.saturating_sub(shortest));
    let shifted = smaller.saturating_mul(2).saturating_mul(slot);
    replaced.saturating_add(shifted)
}

/// Whether no earlier part of a demand has objects with slots of this size, and this part has.
const fn is_first_of_its_slot(
    page_bytes: usize,
    contiguous: &[ContiguousDemand],
    index: usize,
) -> bool {
    let slot = slot_of(page_bytes, contiguous[index].bytes);
    let mut earlier = 0;
    while earlier < index {
        let other = contiguous[earlier];
        if other.objects > 0 && slot_of(page_bytes, other.bytes) == slot {
            return false;
        }
        earlier = earlier.saturating_add(1);
    }
    contiguous[index].objects > 0
}
