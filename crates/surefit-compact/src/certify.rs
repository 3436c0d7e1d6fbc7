//! How many bytes are enough: computed from a configuration and a demand, without running anything.
//!
//! A [`Demand`] says what is live at most, and [`certify`] returns a [`Certificate`]. A heap over a
//! region of [`Certificate::heap_bytes`] bytes refuses nothing that stays within the demand, in any
//! order of allocations and frees. The function is `const`, so the region can be a `static` of
//! exactly that size.
//!
//! ```text
//! demand            data pages D                                              entries E
//! per class: H      Σ ⌈H/π⌉                                                   Σ H
//! joint: N, B       most Σ min(h, bound(h), ⌈H/π⌉)                            N   (H ≤ N, B/β)
//!                   over Σ h ≤ N, Σ β·h ≤ B
//! both              the same, with H at most each class's own peak            N
//!
//! bytes = P·D + w·E + fixed area (class states, page records) + bytes skipped to align the region
//! ```
//! P: bytes per page. π, β: page-blocks per page, bytes per page-block. h, H: page-blocks of a
//! class that are live now, and the most ever live at once. w: bytes per entry. Data pages and
//! entries peak separately, because the address table never shrinks. [`certify_shared`] does the
//! same for heaps that threads share.
//!
//! # Bounds
//! Per-class demands: linear in the classes. Joint demands: about 600 passes over the classes used.
//!
//! # Drawbacks
//! A certificate counts page-blocks, not requests: a budget in requests must allow for rounding,
//! pieces and spines ([`BlockCount`], [`DemandMeter`]). Small heaps with many classes pay nearly
//! one page per class. A demand holds for the heap's life. If there is ever one object too many, it
//! may be served, and may then cost the address table a page for good.
//!
//! # Numbers
//! A demand may contain any numbers. Their sums saturate. A saturated sum is above every limit, so
//! that limit refuses the demand; numbers within the limits are small enough that later sums do not
//! overflow. No certificate is based on a wrapped sum, and none is for more bytes than a region can
//! have.
//!
//! # Source
//! [The bounds, with proofs](crate::bounds).
#![deny(
    unsafe_code,
    clippy::arithmetic_side_effects,
    clippy::cast_possible_truncation
)]

mod budget;
mod certificate;
mod contiguous;
mod demand;
mod limits;
mod meter;
mod mix;
mod requests;
#[cfg(any(target_has_atomic = "32", feature = "portable-atomic"))]
mod shared;
mod slack;
mod uncertifiable;
mod work;

pub use certificate::{Certificate, CertifiedParts, ContiguousCertificate};
pub use contiguous::ContiguousDemand;
pub use demand::{BlockCount, Budget, ClassSet, Demand};
pub use meter::DemandMeter;
#[cfg(any(target_has_atomic = "32", feature = "portable-atomic"))]
pub use shared::{
    SharedCertificate, SharedParts, SharedWork, Sharing, certify_shared, certify_shared_with_slack,
    shared_region_bytes, shared_slack_bytes,
};
pub use slack::{certify_with_slack, slack_bytes, slack_bytes_for_life};
pub use uncertifiable::Uncertifiable;
pub use work::{CallWork, moves_max};

use limits::{least, most, numbers, word_bits};
use work::{Areas, Lending};

use surefit_classes::{Bound, Geometry, Tail};

use crate::config::Config;
use crate::layout;
use crate::width::{Generation, Width};

/// The needs of a demand, before they are laid out in a region.
struct Needs {
    pages: u64,
    entries: u64,
    back_reference_bytes: u64,
}

impl Needs {
    /// The needs of a demand that both `self` and `other` bound.
    const fn and(&self, other: &Self) -> Self {
        Self {
            pages: least(self.pages, other.pages),
            entries: least(self.entries, other.entries),
            back_reference_bytes: least(self.back_reference_bytes, other.back_reference_bytes),
        }
    }

    /// The same, and further pages.
    const fn with_pages(&self, pages: u64) -> Self {
        Self {
            pages: self.pages.saturating_add(pages),
            ..*self
        }
    }
}

/// Computes a certificate for a demand on a heap of width `W`.
///
/// # Errors
/// Why no heap of this width and configuration can serve the demand.
///
/// # Complexity
/// See the module.
///
/// # Examples
/// ```
/// use surefit_compact::certify::{Demand, certify};
/// use surefit_compact::{Config, Heap, Wide};
///
/// static CONFIG: Config = Config::DEFAULT;
/// // At most 1000 objects of up to 512 bytes at once, 48 KiB in all.
/// let demand = Demand::of_mix::<Wide>(&CONFIG, 1000, 512, 48 << 10);
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

/// As [`certify`], for a heap of keys that frees or resizes objects at most `frees` times in its
/// life. Each time one generation ends, however many page-blocks the object has. Entries whose
/// generations are exhausted retire; the certificate counts their bytes.
///
/// `W` has generations: [`Keyed<Wide>`](crate::Keyed) for `KeyHeap`, `Keyed<Narrow>` for
/// `KeyHeap<Narrow>`. Without them it is the certificate of a heap of handles, whose entries are
/// shorter and never retire.
///
/// # Errors
/// As [`certify`].
///
/// # Examples
/// ```
/// use surefit_compact::certify::{Demand, certify_for_life};
/// use surefit_compact::{Config, KeyHeap, Keyed, Narrow};
///
/// static CONFIG: Config = Config::TINY;
/// // 4,000 objects of up to 16 bytes at once, and a million frees.
/// let demand = Demand::of_requests::<Keyed<Narrow>>(&CONFIG, 4000, 16);
/// let certificate = certify_for_life::<Keyed<Narrow>>(&CONFIG, &demand, 1_000_000);
/// let bytes = certificate.expect("certifiable").heap_bytes;
/// let mut memory = vec![core::mem::MaybeUninit::uninit(); bytes];
/// let mut heap: KeyHeap<Narrow> = KeyHeap::new(&mut memory, &CONFIG)?;
/// for number in 0..4000_u64 {
///     heap.insert([number; 2])?;
/// }
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
pub const fn certify_for_life<W: Width>(
    config: &Config,
    demand: &Demand<'_>,
    frees: u64,
) -> Result<Certificate, Uncertifiable> {
    let mut needs = match needs::<W>(config, config.bound(), demand) {
        Ok(needs) => needs,
        Err(error) => return Err(error),
    };
    needs.entries = needs.entries.saturating_add(retired_max::<W>(frees));
    lay_out::<W>(config, demand, &needs, Lending::nothing(config.bound()))
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
/// use surefit_compact::certify::{ContiguousDemand, Demand, certify_contiguous};
/// use surefit_compact::{Config, Heap, Wide};
///
/// static CONFIG: Config = Config::DEFAULT;
/// let demand = Demand::of_mix::<Wide>(&CONFIG, 1000, 512, 48 << 10);
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
    objects: &[ContiguousDemand],
) -> Result<ContiguousCertificate, Uncertifiable> {
    let windows = match contiguous::windows(config.geometry().page_bytes(), objects) {
        Ok(windows) => windows,
        Err(error) => return Err(error),
    };
    let mut needs = match needs::<W>(config, config.bound(), demand) {
        Ok(needs) => needs,
        Err(error) => return Err(error),
    };
    needs.pages = most(windows.slots, needs.pages.saturating_add(windows.pages));
    needs.entries = needs.entries.saturating_add(windows.objects);
    let heap = match lay_out::<W>(config, demand, &needs, Lending::nothing(config.bound())) {
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

/// The bytes of region that are enough for a demand, wherever the region begins; for constants.
///
/// # Panics
/// If the demand has no certificate. In a constant this is a compile error that gives the reason.
#[must_use]
pub const fn heap_bytes<W: Width>(config: &Config, demand: &Demand<'_>) -> usize {
    expect::<W>(config, demand).heap_bytes
}

/// The `BYTES` of a page-aligned [`Region`](surefit_core::Region) that is enough for a demand. One
/// of these bytes records whether the region was taken.
///
/// The region's marker must be at least the configuration's page: `Page16K` for
/// `Config::DEFAULT`, `Page1K` for `Config::TINY`. With a smaller one the region may begin between
/// two pages, and requests inside the demand are refused. [`heap_bytes`] are enough under any
/// marker, with one byte more.
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
/// // At most 100 objects of 32 bytes at once.
/// const DEMAND: Demand<'static> = Demand::PerClass(&[0, 0, 100]);
/// static MEMORY: Region<{ region_bytes::<Wide>(&CONFIG, &DEMAND) }, Page16K> = Region::new();
/// let heap: Heap = Heap::new(MEMORY.take().expect("taken once"), &CONFIG)?;
/// # Ok::<(), surefit_core::Refused>(())
/// ```
#[must_use]
pub const fn region_bytes<W: Width>(config: &Config, demand: &Demand<'_>) -> usize {
    // No certificate is for more bytes than a region can have, half of the range of usize.
    expect::<W>(config, demand).aligned_bytes.saturating_add(1)
}

const fn expect<W: Width>(config: &Config, demand: &Demand<'_>) -> Certificate {
    match certify::<W>(config, demand) {
        Ok(certificate) => certificate,
        Err(error) => panic!("{}", error.message()),
    }
}

/// The most pages that a heap of this width can have.
#[must_use]
#[expect(
    clippy::arithmetic_side_effects,
    reason = "words have 16 or 32 bits, a page at most 2^12 page-blocks and 2^16 bytes: no shift is by more than 35"
)]
pub const fn pages_max<W: Width>(geometry: &Geometry) -> u64 {
    let named = if W::BY_BLOCK {
        let bits = word_bits::<W>();
        let blocks = most_blocks(geometry).next_power_of_two().trailing_zeros();
        if blocks < bits {
            1 << (bits - blocks)
        } else {
            0
        }
    } else {
        1_u64 << (word_bits::<W>() + 3 - geometry.page_shift())
    };
    least(named, numbers::<W>())
}

/// The most pages of a heap that a region on this machine can hold. The bytes that are skipped for
/// alignment may add one page to them.
const fn pages_limit<W: Width>(geometry: &Geometry) -> u64 {
    let page = geometry.page_bytes();
    // Less the bytes that are skipped, and less the part of a page that the address table takes
    // from the slack.
    let most_bytes = (isize::MAX as usize)
        .saturating_sub(page)
        .saturating_sub(page);
    let held = layout::pages_in::<W>(most_bytes, page, geometry.class_count());
    least(pages_max::<W>(geometry).saturating_sub(1), held as u64)
}

const fn most_blocks(geometry: &Geometry) -> u32 {
    let (mut most, mut classes) = (1, geometry.each_class());
    while let Some(class) = classes.next_class() {
        let blocks = geometry.layout(class).blocks as u32;
        if blocks > most {
            most = blocks;
        }
    }
    most
}

/// The most entries that retire over `frees` frees: an entry retires after as many frees as it has
/// generations.
#[expect(clippy::arithmetic_side_effects, reason = "no divisor is zero")]
const fn retired_max<W: Width>(frees: u64) -> u64 {
    match W::Generation::BYTES {
        0 => 0,
        1 => frees / (u8::MAX as u64),
        2 => frees / (u16::MAX as u64),
        _ => frees / (u32::MAX as u64),
    }
}

const fn needs<W: Width>(
    config: &Config,
    bound: Bound,
    demand: &Demand<'_>,
) -> Result<Needs, Uncertifiable> {
    match config.geometry().tail() {
        Tail::BackReferences { bytes } if bytes == W::WORD_BYTES => {}
        _ => return Err(Uncertifiable::Width),
    }
    match demand {
        Demand::PerClass(most) => per_class::<W>(config.geometry(), most),
        Demand::Joint(budget) => joint::<W>(config, bound, budget, None),
        Demand::Both(budget, peaks) => {
            let (joint, classes) = (
                joint::<W>(config, bound, budget, Some(peaks)),
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
            let pages = live.div_ceil(geometry.layout(class).blocks as u64);
            needs.pages = needs.pages.saturating_add(pages);
            needs.entries = needs.entries.saturating_add(live);
            if geometry.back_reference_bytes(class) > 0 {
                let bytes = live.saturating_mul(W::WORD_BYTES as u64);
                needs.back_reference_bytes = needs.back_reference_bytes.saturating_add(bytes);
            }
        } else if live > 0 {
            return Err(Uncertifiable::NoSuchClass);
        }
        index = index.saturating_add(1);
    }
    Ok(needs)
}

const fn joint<W: Width>(
    config: &Config,
    bound: Bound,
    budget: &Budget,
    peaks: Option<&[u32]>,
) -> Result<Needs, Uncertifiable> {
    let geometry = config.geometry();
    if budget.classes.len_from(geometry.class_count()) > 0 {
        return Err(Uncertifiable::NoSuchClass);
    }
    let objects = budget.objects_possible(geometry, peaks);
    if objects > numbers::<W>() {
        return Err(Uncertifiable::TooManyEntries {
            limit: numbers::<W>(),
        });
    }
    let worst = budget::worst(
        geometry,
        bound,
        &Budget { objects, ..*budget },
        peaks,
        &budget::Spread::ALONE,
    );
    let back_references = objects.saturating_mul(W::WORD_BYTES as u64);
    Ok(Needs {
        pages: worst.pages,
        entries: objects,
        back_reference_bytes: least(back_references, worst.object_bytes),
    })
}

/// Divides a region as `Heap::new` does: the address table takes the slack and then whole pages
/// from the back.
#[expect(
    clippy::arithmetic_side_effects,
    clippy::cast_possible_truncation,
    reason = "at most 2^32 entries of 8 bytes, and no more pages than leave everything within what a region can have"
)]
const fn lay_out<W: Width>(
    config: &Config,
    demand: &Demand<'_>,
    needs: &Needs,
    lending: Lending,
) -> Result<Certificate, Uncertifiable> {
    if needs.entries > numbers::<W>() {
        return Err(Uncertifiable::TooManyEntries {
            limit: numbers::<W>(),
        });
    }
    let geometry = config.geometry();
    let page = geometry.page_bytes() as u64;
    let table = (needs.entries * W::ENTRY_BYTES as u64).next_multiple_of(8);
    let pages = match needs.pages.saturating_add(table / page) {
        0 => 1,
        pages => pages,
    };
    let limit = pages_limit::<W>(geometry);
    if pages > limit {
        return Err(Uncertifiable::TooManyPages { limit });
    }
    let classes = geometry.class_count();
    let fixed = layout::fixed_bytes::<W>(classes, pages as usize);
    let class_state_bytes = layout::fixed_bytes::<W>(classes, 0);
    let data_page_bytes = ((pages - table / page) * page) as usize;
    let parts = CertifiedParts {
        data_page_bytes,
        handle_bytes: table as usize,
        page_record_bytes: fixed - class_state_bytes,
        class_state_bytes: class_state_bytes + lending.table_bytes,
        alignment_bytes: page as usize - 1,
        back_reference_bytes: least(needs.back_reference_bytes, data_page_bytes as u64) as usize,
    };
    let fixed = fixed + lending.table_bytes;
    let aligned_bytes = data_page_bytes + table as usize + fixed;
    let (moves, moved_bytes) = most_moved(config, demand, lending.bound);
    let areas = Areas {
        page_bytes: page,
        data_pages: needs.pages,
        table_bytes: table,
        entry_bytes: W::ENTRY_BYTES as u64,
        fixed_bytes: fixed as u64,
    };
    Ok(Certificate {
        heap_bytes: aligned_bytes + parts.alignment_bytes,
        aligned_bytes,
        parts,
        data_pages: needs.pages,
        entries: needs.entries,
        moves_max_per_op: moves,
        moved_bytes_max_per_op: moved_bytes,
        pages_touched_max_per_op: work::pages_touched(config, demand, lending, &areas),
    })
}

/// The most moves of one free over the classes that the demand uses, and the most bytes that these
/// moves copy.
const fn most_moved(config: &Config, demand: &Demand<'_>, bound: Bound) -> (u32, u64) {
    let geometry = config.geometry();
    let (mut most, mut bytes, mut classes) = (0, 0, geometry.each_class());
    while let Some(class) = classes.next_class() {
        let layout = geometry.layout(class);
        let moves = moves_max(bound, layout.blocks);
        let moved = (moves as u64).saturating_mul(layout.block_bytes as u64);
        if demand.uses(class, layout.block_bytes) {
            if moves > most {
                most = moves;
            }
            if moved > bytes {
                bytes = moved;
            }
        }
    }
    (most, bytes)
}
