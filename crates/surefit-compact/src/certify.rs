//! How many bytes are enough: from a configuration and a demand, without running anything.
//!
//! A [`Demand`] says what is live at most; [`certify`] answers with a [`Certificate`]: a heap over a region of
//! [`Certificate::heap_bytes`] bytes refuses nothing that stays inside the demand, in any order of allocations and
//! frees. It is `const`, so the region can be a `static` of exactly that size.
//!
//! ```text
//! demand            data pages D                                                      entries E
//! per class: H      Σ ⌈H/π⌉                                                           Σ H
//! joint: N, B       most Σ min(h, bound(h), ⌈H/π⌉) over Σ h ≤ N, Σ β·h ≤ B            N       (H ≤ N, B/β)
//! both              the same, with H no more than each class's own peak                N
//!
//! bytes = P·D + w·E + fixed area (class states, page records) + what may be skipped to align the region
//! ```
//! P: bytes of a page. π, β: page-blocks of a page, bytes of a page-block. h, H: page-blocks of a class live now, and ever
//! at once. w: bytes of an entry. Data pages and entries peak separately, since the address table never shrinks.
//! [`certify_shared`] does the same for heaps that threads share.
//!
//! # Bounds
//! Per-class demands: linear in the classes. Joint demands: some 600 passes over the classes used.
//!
//! # Drawbacks
//! A certificate counts page-blocks, not requests: a budget in requests must allow for rounding, pieces and spines
//! ([`BlockCount`], [`DemandMeter`]). Small heaps with many classes pay nearly a page a class.
//!
//! # Source
//! docs/bounds.md, with proofs.
#![deny(unsafe_code)]

mod budget;
mod demand;
mod meter;
mod shared;
mod work;

use core::fmt;

pub use demand::{BlockCount, Budget, ClassSet, Demand};
pub use meter::DemandMeter;
pub use shared::{
    SharedCertificate, SharedParts, SharedWork, Sharing, certify_shared, shared_region_bytes,
};
pub use work::{CallWork, moves_max};

use crate::config::Config;
use crate::geometry::{Geometry, Tail};
use crate::layout;
use crate::width::{Generation, Width};

/// The bytes that suffice for a demand, and the most work of one call.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Certificate {
    /// Bytes of region that suffice, wherever it begins: the sum of `parts`.
    pub heap_bytes: usize,
    /// Bytes that suffice if the region begins at a multiple of the page size.
    pub aligned_bytes: usize,
    /// What the bytes are for.
    pub parts: CertifiedParts,
    /// Data pages that the demand can fill at once.
    pub data_pages: u64,
    /// Entries of the address table that the demand can need at once, retired ones included.
    pub entries: u64,
    /// The most moves that the free of one page-block causes; an allocation causes none.
    pub moves_max_per_op: u32,
    /// The most bytes that these moves copy.
    pub moved_bytes_max_per_op: u64,
    /// The most pages of the region that the allocation or free of one page-block touches.
    pub pages_touched_max_per_op: u64,
}

/// Where the bytes of a certificate go; the parts add up to `heap_bytes`, but for `back_reference_bytes`.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct CertifiedParts {
    /// Data pages.
    pub data_page_bytes: usize,
    /// The address table, padded to eight bytes.
    pub handle_bytes: usize,
    /// Page records, padded to eight bytes.
    pub page_record_bytes: usize,
    /// Class states.
    pub class_state_bytes: usize,
    /// What may be skipped until a page begins.
    pub alignment_bytes: usize,
    /// Of the data pages: at most these bytes are there because of the live objects' back-references.
    pub back_reference_bytes: usize,
}

/// Why a demand has no certificate.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum Uncertifiable {
    /// The geometry's back-references are not as wide as the heap's words.
    Width,
    /// The demand names a size-class that the geometry lacks.
    NoSuchClass,
    /// More entries than a word can number.
    TooManyEntries {
        /// The most there can be.
        limit: u64,
    },
    /// More pages than a heap of this width can have.
    TooManyPages {
        /// The most there can be.
        limit: u64,
    },
    /// An object that must be contiguous is larger than a page, or aligned beyond it.
    TooLarge {
        /// Bytes of a page.
        limit: usize,
    },
    /// More objects can be pinned at once in a shared heap than its configuration says.
    TooManyPins {
        /// The pins configured.
        limit: u32,
    },
    /// A shared heap cannot have so many instances with these size-classes.
    TooManyInstances {
        /// The most there can be.
        limit: u32,
    },
    /// An object that was never counted, or not with this length and alignment, is freed or resized.
    NotCounted,
}

impl Uncertifiable {
    const fn message(self) -> &'static str {
        match self {
            Self::Width => "the geometry's back-references are not as wide as the heap's words",
            Self::NoSuchClass => "the demand names a size-class that the geometry lacks",
            Self::TooManyEntries { .. } => "the demand needs more entries than a word can number",
            Self::TooManyPages { .. } => "the demand needs more pages than this width can name",
            Self::TooLarge { .. } => "a contiguous object is larger than a page",
            Self::TooManyPins { .. } => "guards and other threads pin more than is configured",
            Self::TooManyInstances { .. } => "the size-classes of so many instances have no names",
            Self::NotCounted => "an object is freed or resized that was not allocated so",
        }
    }
}

impl fmt::Display for Uncertifiable {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.message())?;
        match self {
            Self::TooManyEntries { limit } | Self::TooManyPages { limit } => {
                write!(f, ": at most {limit}")
            }
            Self::TooLarge { limit } => write!(f, " of {limit} bytes"),
            Self::TooManyPins { limit } | Self::TooManyInstances { limit } => {
                write!(f, ": at most {limit}")
            }
            _ => Ok(()),
        }
    }
}

impl core::error::Error for Uncertifiable {}

/// What a demand needs, before it is laid out in a region.
struct Needs {
    pages: u64,
    entries: u64,
    back_reference_bytes: u64,
}

impl Needs {
    /// The needs of a demand that both describe.
    const fn and(&self, other: &Self) -> Self {
        Self {
            pages: least(self.pages, other.pages),
            entries: least(self.entries, other.entries),
            back_reference_bytes: least(self.back_reference_bytes, other.back_reference_bytes),
        }
    }
}

const fn least(a: u64, b: u64) -> u64 {
    if a < b { a } else { b }
}

/// A certificate for a demand on a heap of width `W`.
///
/// # Errors
/// Why the demand cannot be served by any heap of this width and configuration.
///
/// # Complexity
/// See the module.
///
/// # Examples
/// ```
/// use surefit_compact::certify::{Budget, ClassSet, Demand, certify};
/// use surefit_compact::{Config, Heap, Wide};
///
/// static CONFIG: Config = Config::DEFAULT;
/// // At most 1000 objects at once, 64 KiB of page-blocks, requests of up to 512 bytes.
/// let classes = ClassSet::of_requests(CONFIG.geometry(), 512);
/// let demand = Demand::Joint(Budget { objects: 1000, block_bytes: 64 << 10, classes });
/// let certificate = certify::<Wide>(&CONFIG, &demand).expect("a heap can serve it");
/// let mut memory = vec![core::mem::MaybeUninit::uninit(); certificate.heap_bytes];
/// let heap: Heap = Heap::new(&mut memory, &CONFIG)?;
/// # Ok::<(), surefit_core::Refused>(())
/// ```
pub const fn certify<W: Width>(
    config: &Config,
    demand: &Demand<'_>,
) -> Result<Certificate, Uncertifiable> {
    certify_for_life::<W>(config, demand, 0)
}

/// As [`certify`], for a heap of keys that frees at most `frees` objects in its life: entries whose generations are
/// exhausted retire, and their bytes are counted.
///
/// # Errors
/// As [`certify`].
pub const fn certify_for_life<W: Width>(
    config: &Config,
    demand: &Demand<'_>,
    frees: u64,
) -> Result<Certificate, Uncertifiable> {
    match config.geometry().tail() {
        Tail::BackReferences { bytes } if bytes == W::WORD_BYTES => {}
        _ => return Err(Uncertifiable::Width),
    }
    let mut needs = match needs::<W>(config, demand) {
        Ok(needs) => needs,
        Err(error) => return Err(error),
    };
    needs.entries += retired_max::<W>(frees);
    if needs.entries > numbers::<W>() {
        return Err(Uncertifiable::TooManyEntries {
            limit: numbers::<W>(),
        });
    }
    lay_out::<W>(config, demand, &needs)
}

/// The bytes of a region that suffice for a demand, wherever the region begins; for constants.
///
/// # Panics
/// If the demand has no certificate: in a constant, a compile error that says why.
#[must_use]
pub const fn heap_bytes<W: Width>(config: &Config, demand: &Demand<'_>) -> usize {
    expect::<W>(config, demand).heap_bytes
}

/// The `BYTES` of a [`Region`](surefit_core::Region), aligned to the page size, that suffices for a demand: one byte of
/// it says whether the region was taken.
///
/// # Panics
/// As [`heap_bytes`].
///
/// # Examples
/// ```
/// use surefit_compact::certify::{Demand, region_bytes};
/// use surefit_compact::{Config, Heap, Wide};
/// use surefit_core::{Page16K, Region};
///
/// static CONFIG: Config = Config::DEFAULT;
/// const DEMAND: Demand<'static> = Demand::PerClass(&[0, 0, 100]); // at most 100 objects of 32 bytes at once
/// static MEMORY: Region<{ region_bytes::<Wide>(&CONFIG, &DEMAND) }, Page16K> = Region::new();
/// let heap: Heap = Heap::new(MEMORY.take().expect("taken once"), &CONFIG)?;
/// # Ok::<(), surefit_core::Refused>(())
/// ```
#[must_use]
pub const fn region_bytes<W: Width>(config: &Config, demand: &Demand<'_>) -> usize {
    expect::<W>(config, demand).aligned_bytes + 1
}

const fn expect<W: Width>(config: &Config, demand: &Demand<'_>) -> Certificate {
    match certify::<W>(config, demand) {
        Ok(certificate) => certificate,
        Err(error) => panic!("{}", error.message()),
    }
}

/// The most pages that a heap of this width can have.
#[must_use]
pub const fn pages_max<W: Width>(geometry: &Geometry) -> u64 {
    let named = if W::BY_BLOCK {
        let bits = 8 * W::WORD_BYTES as u32;
        let blocks = most_blocks(geometry).next_power_of_two().trailing_zeros();
        if blocks < bits {
            1 << (bits - blocks)
        } else {
            0
        }
    } else {
        1_u64 << (35 - geometry.page_shift())
    };
    least(named, numbers::<W>())
}

/// Entries and pages that a word can number: its greatest value names nothing.
const fn numbers<W: Width>() -> u64 {
    (1 << (8 * W::WORD_BYTES as u32)) - 1
}

const fn most_blocks(geometry: &Geometry) -> u32 {
    let (mut most, mut index) = (1, 0);
    while let Some(class) = geometry.class(index) {
        let blocks = geometry.layout(class).blocks as u32;
        if blocks > most {
            most = blocks;
        }
        index += 1;
    }
    most
}

/// Entries that retire at most over that many frees: one takes as many frees as it has generations.
const fn retired_max<W: Width>(frees: u64) -> u64 {
    match W::Generation::BYTES {
        0 => 0,
        bytes => frees / ((1 << (8 * bytes as u32)) - 1),
    }
}

const fn needs<W: Width>(config: &Config, demand: &Demand<'_>) -> Result<Needs, Uncertifiable> {
    match demand {
        Demand::PerClass(most) => per_class::<W>(config.geometry(), most),
        Demand::Joint(budget) => joint::<W>(config, budget, None),
        Demand::Both(budget, peaks) => {
            let (joint, classes) = (
                joint::<W>(config, budget, Some(peaks)),
                per_class::<W>(config.geometry(), peaks),
            );
            match (joint, classes) {
                (Ok(joint), Ok(classes)) => Ok(joint.and(&classes)),
                (Err(error), _) | (_, Err(error)) => Err(error),
            }
        }
    }
}

const fn per_class<W: Width>(geometry: &Geometry, most: &[u32]) -> Result<Needs, Uncertifiable> {
    let mut needs = Needs {
        pages: 0,
        entries: 0,
        back_reference_bytes: 0,
    };
    let mut index = 0;
    while index < most.len() {
        let live = most[index] as u64;
        if let Some(class) = geometry.class(index) {
            needs.pages += live.div_ceil(geometry.layout(class).blocks as u64);
            needs.entries += live;
            if geometry.back_reference_bytes(class) > 0 {
                needs.back_reference_bytes += live * W::WORD_BYTES as u64;
            }
        } else if live > 0 {
            return Err(Uncertifiable::NoSuchClass);
        }
        index += 1;
    }
    Ok(needs)
}

const fn joint<W: Width>(
    config: &Config,
    budget: &Budget,
    peaks: Option<&[u32]>,
) -> Result<Needs, Uncertifiable> {
    let geometry = config.geometry();
    if budget.classes.len_from(geometry.class_count()) > 0 {
        return Err(Uncertifiable::NoSuchClass);
    }
    let objects = budget.objects_possible(geometry);
    if objects > numbers::<W>() {
        return Err(Uncertifiable::TooManyEntries {
            limit: numbers::<W>(),
        });
    }
    let worst = budget::worst(
        geometry,
        config.bound(),
        &Budget { objects, ..*budget },
        peaks,
        &budget::Spread::ALONE,
    );
    let back_references = objects * W::WORD_BYTES as u64;
    Ok(Needs {
        pages: worst.pages,
        entries: objects,
        back_reference_bytes: least(back_references, worst.object_bytes),
    })
}

/// Divides a region as `Heap::new` does: the address table takes whole pages from the back and the slack behind them.
#[expect(
    clippy::cast_possible_truncation,
    reason = "the pages were checked against the width, so everything is below 2^36 bytes, and below 2^32 where usize is"
)]
const fn lay_out<W: Width>(
    config: &Config,
    demand: &Demand<'_>,
    needs: &Needs,
) -> Result<Certificate, Uncertifiable> {
    let geometry = config.geometry();
    let page = geometry.page_bytes() as u64;
    let table = (needs.entries * W::ENTRY_BYTES as u64).next_multiple_of(8);
    let pages = match needs.pages + table / page {
        0 => 1,
        pages => pages,
    };
    // The bytes skipped for alignment may turn out to be one page more.
    let limit = pages_max::<W>(geometry) - 1;
    if pages > limit || pages * page > usize::MAX as u64 / 2 {
        return Err(Uncertifiable::TooManyPages { limit });
    }
    let classes = geometry.class_count();
    let fixed = layout::fixed_bytes::<W>(classes, pages as usize).next_multiple_of(8);
    let class_state_bytes = layout::fixed_bytes::<W>(classes, 0);
    let data_page_bytes = ((pages - table / page) * page) as usize;
    let parts = CertifiedParts {
        data_page_bytes,
        handle_bytes: table as usize,
        page_record_bytes: fixed - class_state_bytes,
        class_state_bytes,
        alignment_bytes: page as usize - 1,
        back_reference_bytes: needs.back_reference_bytes as usize,
    };
    let aligned_bytes = data_page_bytes + table as usize + fixed;
    let (moves, moved_bytes) = most_moved(config, demand);
    Ok(Certificate {
        heap_bytes: aligned_bytes + parts.alignment_bytes,
        aligned_bytes,
        parts,
        data_pages: needs.pages,
        entries: needs.entries,
        moves_max_per_op: moves,
        moved_bytes_max_per_op: moved_bytes,
        pages_touched_max_per_op: work::pages_touched(
            config.bound(),
            moves,
            page,
            table,
            fixed as u64,
        ),
    })
}

/// The most moves of one free over the classes that the demand uses, and the most bytes that they copy.
const fn most_moved(config: &Config, demand: &Demand<'_>) -> (u32, u64) {
    let geometry = config.geometry();
    let (mut most, mut bytes, mut index) = (0, 0, 0);
    while let Some(class) = geometry.class(index) {
        let layout = geometry.layout(class);
        let moves = moves_max(config.bound(), layout.blocks);
        let moved = moves as u64 * layout.block_bytes as u64;
        if demand.uses(class, layout.block_bytes) {
            if moves > most {
                most = moves;
            }
            if moved > bytes {
                bytes = moved;
            }
        }
        index += 1;
    }
    (most, bytes)
}
