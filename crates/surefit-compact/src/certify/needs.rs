//! What a demand on a heap of one owner needs, and how a region is divided for it.
//!
//! # Source
//! [The bounds](crate::bounds), sections 3 and 4.
#![deny(
    unsafe_code,
    clippy::arithmetic_side_effects,
    clippy::cast_possible_truncation
)]

use surefit_classes::{Bound, Geometry, Tail};

use super::budget;
use super::certificate::{Certificate, CertifiedParts};
use super::demand::{Budget, Demand};
use super::limits::{least, numbers, word_bits};
use super::uncertifiable::Uncertifiable;
use super::work::{self, Areas, Lending, moves_max};
use crate::config::Config;
use crate::layout;
use crate::width::{Generation, Width};

/// The needs of a demand, before they are laid out in a region.
pub(super) struct Needs {
    pub(super) pages: u64,
    /// The part of a page, in units of 2⁻⁴⁰ pages, that rounding took from a bound on the pages
    /// that more holes raise.
    pub(super) fraction: u64,
    pub(super) entries: u64,
    back_reference_bytes: u64,
}

impl Needs {
    /// The needs of a demand that `self` bounds, and peaks do, whatever holes there are.
    const fn and(&self, other: &Self) -> Self {
        Self {
            pages: least(self.pages, other.pages),
            fraction: if self.pages < other.pages {
                self.fraction
            } else {
                0
            },
            entries: least(self.entries, other.entries),
            back_reference_bytes: least(self.back_reference_bytes, other.back_reference_bytes),
        }
    }

    /// The same, and further pages.
    pub(super) const fn with_pages(&self, pages: u64) -> Self {
        Self {
            pages: self.pages.saturating_add(pages),
            ..*self
        }
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
    // from the rest.
    let most_bytes = (isize::MAX as usize)
        .saturating_sub(page)
        .saturating_sub(page);
    let held = layout::pages_in::<W>(most_bytes, page, geometry.class_count());
    least(pages_max::<W>(geometry).saturating_sub(1), held as u64)
}

pub(super) const fn most_blocks(geometry: &Geometry) -> u32 {
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
pub(super) const fn retired_max<W: Width>(frees: u64) -> u64 {
    match W::Generation::BYTES {
        0 => 0,
        1 => frees / (u8::MAX as u64),
        2 => frees / (u16::MAX as u64),
        _ => frees / (u32::MAX as u64),
    }
}

pub(super) const fn needs<W: Width>(
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
        fraction: 0,
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
        fraction: worst.fraction,
        entries: objects,
        back_reference_bytes: least(back_references, worst.object_bytes),
    })
}

/// Divides a region as `Heap::new` does: the address table takes the rest and then whole pages
/// from the back.
#[expect(
    clippy::arithmetic_side_effects,
    clippy::cast_possible_truncation,
    reason = "at most 2^32 entries of 8 bytes, and no more pages than leave everything within what a region can have"
)]
pub(super) const fn lay_out<W: Width>(
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
