//! The most data pages that a joint budget can demand, in any mix of its size-classes.
//!
//! ```text
//! maximise   Σ f(h)  over the classes' live page-blocks h,  Σ h ≤ N,  Σ β·h ≤ B
//!            f(h): most pages at h live blocks
//! for any prices x of a byte and y of an object, both ≥ 0, by weak duality (sound at any price):
//!            Σ f(h) ≤ x·B + y·N + Σ max over h of (f(h) − (x·β + y)·h)
//! ```
//! Prices are in pages, stored as multiples of 2⁻⁴⁰ page; every rounding is upwards. The best
//! prices are those at which the blocks in the maxima exactly use up N and B. One bisection for y
//! runs inside one for x.
//!
//! The maximum of one class is taken over its number of pages p. At least r(p) = max(p, (a·p − b) /
//! d) live blocks are needed for p pages. So p − price·r(p) rises, has a kink, and then rises or
//! falls: its maximum is at the kink, or at the most pages that the class can ever have.
//!
//! ```text
//! Pages(κ)      a = π          b = κ(π − 1)        d = 1
//! Holes(δ, ε)   a = π          b = π − 1 + δ       d = 1 + ε    (a, b, d times ε's denominator)
//! Unbounded     a = 0          b = 0               d = 1
//! ```
//! Shared heaps ([`Spread`]): with Π objects pinned, κ is at least Π + 1, and b of `Holes` is
//! greater by Π(π − 1). A class in G instances has p pages in sum only with r(p) for G·b: r is
//! convex, so p pages are cheapest in equal parts.
//!
//! # Numbers
//! All arithmetic is in u128. Nothing overflows, because a budget's objects are below
//! [`MOST_OBJECTS`]:
//!
//! ```text
//! N, H          < 2^32    a word cannot number more entries: refused before
//! B             < 2^64
//! β             ≤ 2^16    π ≤ 2^12    ε's denominator ≤ 2^32    Π + 1, δ ≤ 2^33    G ≤ 2^12
//! a             ≤ 2^44    d < 2^33    b·G ≤ 2^32·(2^33·2^12 + 2^32)·2^12 < 2^90
//! pages p       ≤ 2^32    no more than page-blocks that may be live
//! G·⌈H/π⌉, G·H  ≤ 2^44
//! prices        ≤ 2^40    one page
//! a·p, d·H      ≤ 2^76    their product with a price at most 2^116
//! x·B, y·N      ≤ 2^104   sums over at most 128 classes: seven bits more
//! Σ β·h times N < 2^90
//! ```
//!
//! # Bounds
//! About 600 evaluations, each linear in the classes used. The error per class is below one page.
//!
//! # Source
//! [The bounds](crate::bounds), sections 2, 3 and 7.
#![deny(
    unsafe_code,
    clippy::arithmetic_side_effects,
    clippy::cast_possible_truncation
)]

use surefit_classes::geometry::MAX_CLASSES;
use surefit_classes::{Bound, Geometry, SizeClass};

use super::demand::{Budget, ClassSet, most_of};

/// How a demand is spread over a heap, and what keeps objects from moving.
#[derive(Clone, Copy)]
pub(super) struct Spread {
    /// G: the instances in which each class exists; its objects are divided between them in any
    /// way.
    pub(super) instances: u32,
    /// Objects of any class that calls in progress keep in place.
    pub(super) busy: u32,
    /// Objects of the classes `pinned` that guards keep in place.
    pub(super) guards: u32,
    pub(super) pinned: ClassSet,
}

impl Spread {
    /// One owner, who cannot move what is borrowed.
    pub(super) const ALONE: Self = Self {
        instances: 1,
        busy: 0,
        guards: 0,
        pinned: ClassSet::EMPTY,
    };

    /// The same without pins.
    pub(super) const fn unpinned(self) -> Self {
        Self {
            busy: 0,
            guards: 0,
            ..self
        }
    }

    /// Π: the most objects of one class and one instance that are pinned at once.
    pub(super) const fn pins(&self, class: SizeClass) -> u32 {
        let guards = if self.pinned.contains(class) {
            self.guards
        } else {
            0
        };
        self.busy.saturating_add(guards)
    }
}

/// One page, as a fixed-point number.
const PAGE: u128 = 1 << PAGE_BITS;
const PAGE_BITS: u32 = 40;

/// Steps of the byte price within a power of two, as bits: prices are tried with a precision of
/// 2⁻¹⁶.
const STEP_BITS: u32 = 16;

/// A demand for more objects has no certificate: no word numbers their entries.
const MOST_OBJECTS: u64 = u32::MAX as u64;

/// What one class can demand.
#[derive(Clone, Copy)]
struct Curve {
    /// β.
    block_bytes: u128,
    /// The most pages p with r(p) ≤ H, for the most blocks H that the budget allows, and at most
    /// G·⌈H / π⌉.
    most_pages: u128,
    /// G·⌈H / π⌉.
    high_water: u128,
    /// a, b and d of r(p).
    blocks: u128,
    free: u128,
    scale: u128,
}

/// A class's best answer to a price: its pages less their cost, and the blocks that they take.
#[derive(Clone, Copy)]
struct Answer {
    gain: u128,
    live: u128,
}

impl Curve {
    const NONE: Self = Self {
        block_bytes: 1,
        most_pages: 0,
        high_water: 0,
        blocks: 0,
        free: 0,
        scale: 1,
    };

    /// The curve of a class with at most `most_live` live page-blocks in all instances together.
    #[expect(clippy::arithmetic_side_effects, reason = "see the module's numbers")]
    const fn of(
        geometry: &Geometry,
        bound: Bound,
        class: SizeClass,
        most_live: u64,
        spread: &Spread,
    ) -> Self {
        let layout = geometry.layout(class);
        let (pi, pins) = (layout.blocks as u128, spread.pins(class) as u128);
        let (a, b, d) = match bound {
            Bound::Unbounded => (0, 0, 1),
            Bound::Pages(most) => {
                let stuck = if pins > 0 { pins + 1 } else { 0 };
                let most = most as u128;
                let most = if most < stuck { stuck } else { most };
                (pi, most * (pi - 1), 1)
            }
            Bound::Holes { base, fraction } => {
                let denominator = fraction.denominator() as u128;
                (
                    denominator * pi,
                    denominator * ((pins + 1) * (pi - 1) + base as u128),
                    denominator + fraction.numerator() as u128,
                )
            }
        };
        let (live, free) = (most_live as u128, b * spread.instances as u128);
        let high_water = live.div_ceil(pi) * spread.instances as u128;
        let afforded = match a {
            0 => live,
            _ => least(live, (d * live + free) / a),
        };
        Self {
            block_bytes: layout.block_bytes as u128,
            most_pages: least(high_water, afforded),
            high_water,
            blocks: a,
            free,
            scale: d,
        }
    }

    /// The maximum of p − price·r(p) over 0 ≤ p ≤ `most_pages`.
    #[expect(clippy::arithmetic_side_effects, reason = "see the module's numbers")]
    const fn answer(&self, price: u128) -> Answer {
        if price >= PAGE || self.most_pages == 0 {
            return Answer { gain: 0, live: 0 };
        }
        if PAGE * self.scale >= price * self.blocks {
            return self.at(price, self.most_pages);
        }
        // The function falls after the kink, so a > d·PAGE/price > d.
        let kink = self.free / (self.blocks - self.scale);
        let low = clamp(kink, self.most_pages);
        let high = clamp(low + 1, self.most_pages);
        let (low, high) = (self.at(price, low), self.at(price, high));
        if high.gain > low.gain { high } else { low }
    }

    #[expect(clippy::arithmetic_side_effects, reason = "see the module's numbers")]
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

/// The sum over the classes of their answers to one pair of prices.
#[derive(Clone, Copy)]
struct Total {
    /// The bound on the pages, in fixed point.
    pages: u128,
    live: u128,
    bytes: u128,
}

/// The most that a budget demands.
#[derive(Clone, Copy, Debug)]
pub(super) struct Worst {
    /// Data pages.
    pub(super) pages: u64,
    /// The part of a page, in units of 2⁻⁴⁰ pages, that rounding took from the bound on the pages.
    pub(super) fraction: u64,
    /// The part of the pages, in bytes, that is due to the number of objects and not to their
    /// bytes.
    pub(super) object_bytes: u64,
    /// Σ G·⌈H/π⌉: a limit of the pages in all cases.
    pub(super) high_water: u64,
    /// Σ G·H: a limit of the page-blocks, whichever instance holds what others freed.
    pub(super) apart: u64,
}

struct Market {
    curves: [Curve; MAX_CLASSES],
    count: usize,
    objects: u128,
    bytes: u128,
    /// At most one page per object, and at most the classes' own peaks.
    ceiling: u128,
    /// Σ G·⌈H / π⌉ and Σ G·H.
    high_water: u128,
    apart: u128,
}

impl Market {
    #[expect(clippy::arithmetic_side_effects, reason = "see the module's numbers")]
    const fn new(
        geometry: &Geometry,
        bound: Bound,
        budget: &Budget,
        peaks: Option<&[u32]>,
        spread: &Spread,
    ) -> Self {
        let mut market = Self {
            curves: [Curve::NONE; MAX_CLASSES],
            count: 0,
            objects: budget.objects as u128,
            bytes: budget.block_bytes as u128,
            ceiling: 0,
            high_water: 0,
            apart: 0,
        };
        debug_assert!(budget.objects <= MOST_OBJECTS, "the caller refused more");
        let mut classes = geometry.each_class();
        while let Some(class) = classes.next_class() {
            let layout = geometry.layout(class);
            let most_live = budget.most_live(class, layout.block_bytes, peaks);
            if most_live == 0 {
                continue;
            }
            let curve = Curve::of(geometry, bound, class, most_live, spread);
            market.ceiling += curve.most_pages;
            market.high_water += curve.high_water;
            market.apart += most_live as u128 * spread.instances as u128;
            market.curves[market.count] = curve;
            market.count += 1;
        }
        market.ceiling = least(market.ceiling, market.objects);
        market
    }

    #[expect(clippy::arithmetic_side_effects, reason = "see the module's numbers")]
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

    /// The best object price for a byte price, the total at these prices, and whether the mix
    /// demanded there costs more than B bytes.
    #[expect(clippy::arithmetic_side_effects, reason = "see the module's numbers")]
    const fn clear(&self, byte: u128) -> (u128, Total, bool) {
        let free = self.total(byte, 0);
        if free.live <= self.objects {
            return (0, free, free.bytes > self.bytes);
        }
        // At `low`, too many objects are demanded; at `high`, no longer: a price of one page stops
        // all demand.
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

    /// The bytes of the mix of two demands that has exactly N objects.
    #[expect(clippy::arithmetic_side_effects, reason = "see the module's numbers")]
    const fn mixed_bytes(&self, above: Total, below: Total) -> u128 {
        let (more, less) = (above.live - self.objects, self.objects - below.live);
        (above.bytes * less + below.bytes * more) / (more + less)
    }

    #[expect(clippy::arithmetic_side_effects, reason = "see the module's numbers")]
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

/// The byte price of a step: exponential, and linear within each power of two.
#[expect(
    clippy::arithmetic_side_effects,
    reason = "a step is at most 40 << 16: shifts by at most 40 of 17 bits"
)]
const fn byte_price(step: u32) -> u128 {
    let mantissa = (1 << STEP_BITS) + (step & ((1 << STEP_BITS) - 1)) as u128;
    (mantissa << (step >> STEP_BITS)) >> STEP_BITS
}

#[expect(
    clippy::arithmetic_side_effects,
    clippy::cast_possible_truncation,
    reason = "see the module's numbers: no more pages than objects; what may be above 64 bits is capped"
)]
pub(super) const fn worst(
    geometry: &Geometry,
    bound: Bound,
    budget: &Budget,
    peaks: Option<&[u32]>,
    spread: &Spread,
) -> Worst {
    let market = Market::new(geometry, bound, budget, peaks, spread);
    let (pages, price) = market.worst();
    let objects = (price * market.objects * geometry.page_bytes() as u128) >> PAGE_BITS;
    Worst {
        pages: (pages >> PAGE_BITS) as u64,
        fraction: (pages & (PAGE - 1)) as u64,
        object_bytes: least(objects, u64::MAX as u128) as u64,
        high_water: least(market.high_water, u64::MAX as u128) as u64,
        apart: least(market.apart, u64::MAX as u128) as u64,
    }
}

/// The bytes of slack for which `pages` pages more are enough, beside a bound from which rounding
/// took a fraction of a page: the greatest S with ⌊V + S/P⌋ = ⌊V⌋ + pages.
#[expect(
    clippy::arithmetic_side_effects,
    clippy::cast_possible_truncation,
    reason = "a page has at most 2^16 bytes, a fraction less than 2^40 units: the rest is less than a page"
)]
pub(super) const fn slack_in(pages: usize, page_bytes: usize, fraction: u64) -> usize {
    let left = (page_bytes as u64 * (PAGE as u64 - fraction) - 1) >> PAGE_BITS;
    pages
        .saturating_mul(page_bytes)
        .saturating_add(left as usize)
}

/// The pages that so much slack needs beside such a bound: ⌊V + S/P⌋ − ⌊V⌋.
#[expect(
    clippy::arithmetic_side_effects,
    clippy::cast_possible_truncation,
    reason = "2^64 bytes of 2^40 units each, in u128; no more pages than bytes"
)]
pub(super) const fn pages_for(slack: usize, page_bytes: usize, fraction: u64) -> u64 {
    let page = page_bytes as u128;
    (((slack as u128 * PAGE + fraction as u128 * page) / page) >> PAGE_BITS) as u64
}

/// As [`worst`], for classes with at most `most` live page-blocks each.
///
/// Without pins and with one instance, the pages are Σ ⌈H/π⌉.
#[expect(
    clippy::arithmetic_side_effects,
    clippy::cast_possible_truncation,
    reason = "at most a page for each of 128·2^32 page-blocks in each of 4096 instances"
)]
pub(super) const fn worst_of_each(
    geometry: &Geometry,
    bound: Bound,
    most: &[u32],
    spread: &Spread,
) -> Worst {
    let mut worst = Worst {
        pages: 0,
        fraction: 0,
        object_bytes: 0,
        high_water: 0,
        apart: 0,
    };
    let mut classes = geometry.each_class();
    while let Some(class) = classes.next_class() {
        let live = most_of(most, class.index()) as u64;
        let curve = Curve::of(geometry, bound, class, live, spread);
        worst.pages += curve.most_pages as u64;
        worst.high_water += curve.high_water as u64;
        worst.apart += live * spread.instances as u64;
    }
    worst
}
