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
mod needs;
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
pub use needs::pages_max;
#[cfg(any(target_has_atomic = "32", feature = "portable-atomic"))]
pub use shared::{
    InstanceDemand, SharedCertificate, SharedParts, SharedWork, Sharing, certify_instances,
    certify_shared, certify_shared_with_slack, shared_region_bytes, shared_slack_bytes,
};
pub use slack::{certify_with_slack, slack_bytes, slack_bytes_for_life};
pub use uncertifiable::Uncertifiable;
pub use work::{CallWork, moves_max};

use limits::most;
use needs::{lay_out, needs, retired_max};
use work::Lending;

use crate::config::Config;
use crate::width::Width;

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
