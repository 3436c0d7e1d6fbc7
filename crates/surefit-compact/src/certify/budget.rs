//! The most data pages that a joint budget can demand, in any mix of its size-classes.
//!
//! ```text
//! maximise   Σ f(h)  over the classes' live page-blocks h,  Σ h ≤ N,  Σ β·h ≤ B        f(h): most pages at h live blocks
//! for any prices x of a byte and y of an object, both ≥ 0:
//!            Σ f(h) ≤ x·B + y·N + Σ max over h of (f(h) − (x·β + y)·h)                 weak duality: sound at any price
//! ```
//! Prices are in pages, held as multiples of 2⁻⁴⁰ page; every rounding is upwards. The best prices are those at which
//! the blocks that the maxima take just use up N and B: a bisection for y inside one for x.
//!
//! The maximum of one class is taken over its number of pages p. The fewest live blocks with which p pages are possible
//! are r(p) = max(p, (a·p − b) / d), so p − price·r(p) rises, has a kink, and rises or falls: its maximum is at the kink
//! or at the most pages the class can ever have.
//!
//! ```text
//! Pages(κ)      a = π          b = κ(π − 1)        d = 1
//! Holes(δ, ε)   a = π          b = π − 1 + δ       d = 1 + ε       (a, b and d times ε's denominator)
//! Unbounded     a = 0          b = 0               d = 1
//! ```
//!
//! # Bounds
//! About 600 evaluations, each linear in the classes used; one class's error is below one page.
//!
//! # Source
//! docs/bounds.md, sections 2 and 3.
#![deny(unsafe_code)]

use super::Budget;
use crate::config::Bound;
use crate::geometry::{Geometry, MAX_CLASSES};

/// One page, as a fixed-point number.
const PAGE: u128 = 1 << PAGE_BITS;
const PAGE_BITS: u32 = 40;

/// Steps of the byte price within a power of two, as bits: prices are tried to 2⁻¹⁶ of themselves.
const STEP_BITS: u32 = 16;

/// What one class can demand.
#[derive(Clone, Copy)]
struct Curve {
    /// β.
    block_bytes: u128,
    /// ⌈H / π⌉ for the most blocks H that the budget allows.
    most_pages: u128,
    /// a, b and d of r(p).
    blocks: u128,
    free: u128,
    scale: u128,
}

/// A class's best answer to a price: pages less their cost, and the blocks they take.
#[derive(Clone, Copy)]
struct Answer {
    gain: u128,
    live: u128,
}

impl Curve {
    const NONE: Self = Self {
        block_bytes: 1,
        most_pages: 0,
        blocks: 0,
        free: 0,
        scale: 1,
    };

    const fn new(bound: Bound, blocks: u16, block_bytes: u32, most_live: u64) -> Self {
        let pi = blocks as u128;
        let (a, b, d) = match bound {
            Bound::Unbounded => (0, 0, 1),
            Bound::Pages(most) => (pi, most as u128 * (pi - 1), 1),
            Bound::Holes { base, fraction } => {
                let denominator = fraction.denominator() as u128;
                (
                    denominator * pi,
                    denominator * (pi - 1 + base as u128),
                    denominator + fraction.numerator() as u128,
                )
            }
        };
        Self {
            block_bytes: block_bytes as u128,
            most_pages: most_live.div_ceil(blocks as u64) as u128,
            blocks: a,
            free: b,
            scale: d,
        }
    }

    /// The most of p − price·r(p) over 0 ≤ p ≤ `most_pages`.
    const fn answer(&self, price: u128) -> Answer {
        if price >= PAGE || self.most_pages == 0 {
            return Answer { gain: 0, live: 0 };
        }
        if PAGE * self.scale >= price * self.blocks {
            return self.at(price, self.most_pages);
        }
        // The function falls behind the kink, so a > d·PAGE/price > d.
        let kink = self.free / (self.blocks - self.scale);
        let low = clamp(kink, self.most_pages);
        let high = clamp(low + 1, self.most_pages);
        let (low, high) = (self.at(price, low), self.at(price, high));
        if high.gain > low.gain { high } else { low }
    }

    const fn at(&self, price: u128, pages: u128) -> Answer {
        let compacted = (self.blocks * pages).saturating_sub(self.free);
        let live = if compacted > pages * self.scale {
            compacted
        } else {
            pages * self.scale
        };
        Answer {
            gain: (PAGE * pages).saturating_sub(price * live / self.scale),
            live: live / self.scale,
        }
    }
}

const fn clamp(pages: u128, most: u128) -> u128 {
    if pages < 1 {
        1
    } else if pages > most {
        most
    } else {
        pages
    }
}

const fn least(a: u128, b: u128) -> u128 {
    if a < b { a } else { b }
}

/// Σ over the classes of their answers to one pair of prices.
#[derive(Clone, Copy)]
struct Total {
    /// The bound on the pages, in fixed point.
    pages: u128,
    live: u128,
    bytes: u128,
}

/// What a budget demands at most.
#[derive(Clone, Copy, Debug)]
pub(super) struct Worst {
    /// Data pages.
    pub(super) pages: u64,
    /// The part of them, in bytes, that the number of objects causes and not their bytes.
    pub(super) object_bytes: u64,
}

struct Market {
    curves: [Curve; MAX_CLASSES],
    count: usize,
    objects: u128,
    bytes: u128,
    /// No more than a page an object, nor than the classes' own peaks.
    ceiling: u128,
}

impl Market {
    const fn new(
        geometry: &Geometry,
        bound: Bound,
        budget: &Budget,
        peaks: Option<&[u32]>,
    ) -> Self {
        let mut market = Self {
            curves: [Curve::NONE; MAX_CLASSES],
            count: 0,
            objects: budget.objects as u128,
            bytes: budget.block_bytes as u128,
            ceiling: 0,
        };
        let mut index = 0;
        while let Some(class) = geometry.class(index) {
            let layout = geometry.layout(class);
            let most_live = budget.most_live(class, layout.block_bytes, peaks);
            index += 1;
            if most_live == 0 {
                continue;
            }
            let curve = Curve::new(bound, layout.blocks, layout.block_bytes, most_live);
            market.ceiling += curve.most_pages;
            market.curves[market.count] = curve;
            market.count += 1;
        }
        market.ceiling = least(market.ceiling, market.objects);
        market
    }

    const fn total(&self, byte: u128, object: u128) -> Total {
        let mut total = Total {
            pages: byte * self.bytes + object * self.objects,
            live: 0,
            bytes: 0,
        };
        let mut index = 0;
        while index < self.count {
            let curve = &self.curves[index];
            let answer = curve.answer(byte * curve.block_bytes + object);
            total.pages += answer.gain;
            total.live += answer.live;
            total.bytes += answer.live * curve.block_bytes;
            index += 1;
        }
        total
    }

    /// The best object price for a byte price, its total, and whether the mix in demand there costs more than B bytes.
    const fn clear(&self, byte: u128) -> (u128, Total, bool) {
        let free = self.total(byte, 0);
        if free.live <= self.objects {
            return (0, free, free.bytes > self.bytes);
        }
        // At `low` too many objects are in demand, at `high` not: a price of a page stops all demand.
        let (mut low, mut high) = (0, PAGE);
        let (mut above, mut below) = (free, self.total(byte, PAGE));
        while high - low > 1 && (high - low) > high >> STEP_BITS {
            let middle = low + (high - low) / 2;
            let total = self.total(byte, middle);
            if total.live > self.objects {
                (low, above) = (middle, total);
            } else {
                (high, below) = (middle, total);
            }
        }
        let is_dear = self.mixed_bytes(above, below) > self.bytes;
        if above.pages < below.pages {
            (low, above, is_dear)
        } else {
            (high, below, is_dear)
        }
    }

    /// Bytes of the mix of two demands that has exactly N objects.
    const fn mixed_bytes(&self, above: Total, below: Total) -> u128 {
        let (more, less) = (above.live - self.objects, self.objects - below.live);
        (above.bytes * less + below.bytes * more) / (more + less)
    }

    const fn worst(&self) -> (u128, u128) {
        let (mut best, mut price) = (self.ceiling * PAGE, 0);
        let (mut low, mut high) = (0, PAGE_BITS << STEP_BITS);
        while low < high {
            let middle = low + (high - low) / 2;
            let (object, total, is_dear) = self.clear(byte_price(middle));
            if total.pages < best {
                (best, price) = (total.pages, object);
            }
            if is_dear {
                low = middle + 1;
            } else {
                high = middle;
            }
        }
        (best, price)
    }
}

/// The byte price of a step: exponential, linear within each power of two.
const fn byte_price(step: u32) -> u128 {
    let mantissa = (1 << STEP_BITS) + (step & ((1 << STEP_BITS) - 1)) as u128;
    (mantissa << (step >> STEP_BITS)) >> STEP_BITS
}

#[expect(
    clippy::cast_possible_truncation,
    reason = "there are no more pages than objects, which are counted in 64 bits; their bytes are capped"
)]
pub(super) const fn worst(
    geometry: &Geometry,
    bound: Bound,
    budget: &Budget,
    peaks: Option<&[u32]>,
) -> Worst {
    let market = Market::new(geometry, bound, budget, peaks);
    let (pages, price) = market.worst();
    let objects = (price * market.objects * geometry.page_bytes() as u128) >> PAGE_BITS;
    Worst {
        pages: (pages >> PAGE_BITS) as u64,
        object_bytes: least(objects, u64::MAX as u128) as u64,
    }
}
