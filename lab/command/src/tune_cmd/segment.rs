//! The size-classes of least waste: optimal segmentation by dynamic programming.
//!
//! Page-blocks are needed for some sizes s(1) < … < s(m), with h(i) of each live at the peak. A
//! size-class serves a run of neighbouring sizes, and its page-blocks have the largest of them. So
//! choosing classes is dividing the sizes into at most n segments:
//!
//! ```text
//! cost(i, j) = P · max(min(1, H), H/π(s(j)) + u·min(1, H)) + class state    H = h(i+1) + … + h(j)
//! free(0)    = 0,  free(j) = min over i < j of free(i) + cost(i, j)
//! best(0, 0) = 0,  best(k, j) = min over i < j of best(k − 1, i) + cost(i, j)
//! result     = free(m) if its division has at most n segments, else min over k ≤ n of best(k, m)
//! ```
//! π(s) is how many page-blocks of s bytes fit in a page, with their part of the bitmap and of the
//! back-references. So the cost contains page-block-internal and page-internal fragmentation,
//! back-references, and u unfilled pages per class; a class that is used has a page at least. Where
//! h is known exactly, the class has ⌈H/π⌉ pages.
//! No segment passes a size that must be a class.
//!
//! # Bounds
//! O(m²) steps if n classes are enough for the least cost, else O(n · m²); m is at most 8192.
//! Recorded programs have some hundred sizes.

/// Page-blocks of one size.
#[derive(Clone, Copy, Debug)]
pub(super) struct Point {
    /// Bytes of the smallest page-block that serves them.
    pub(super) bytes: u32,
    /// π: how many of these fit in a page.
    pub(super) per_page: u32,
    /// h: how many are live.
    pub(super) live: f64,
    /// Whether a size-class must have exactly this size.
    pub(super) is_kept: bool,
}

/// What a class leaves unfilled of its pages.
#[derive(Clone, Copy, Debug)]
pub(super) enum Unfilled {
    /// u pages, on average: what is live is known about.
    Mean(f64),
    /// The rest of its last page: what is live is known exactly.
    Rest,
}

/// What pages and classes cost.
#[derive(Clone, Copy, Debug)]
pub(super) struct Price {
    /// P: bytes of a page with its record.
    pub(super) page_bytes: f64,
    /// u: the part of a page that a class leaves unfilled.
    pub(super) unfilled: Unfilled,
    /// Bytes of the state of a class.
    pub(super) state_bytes: f64,
}

impl Price {
    fn of(self, live: f64, per_page: u32) -> f64 {
        let pages = live / f64::from(per_page);
        let least = live.min(1.0);
        let pages = match self.unfilled {
            Unfilled::Mean(unfilled) => (pages + unfilled * least).max(least),
            Unfilled::Rest => pages.ceil(),
        };
        self.page_bytes * pages + self.state_bytes
    }
}

/// What every division of the points shares.
struct Division<'p> {
    points: &'p [Point],
    /// How many page-blocks come before each point, and all.
    before: Vec<f64>,
    /// For each end, the first start of a segment: none passes a kept size.
    least: Vec<usize>,
    price: Price,
}

impl<'p> Division<'p> {
    fn new(points: &'p [Point], price: Price) -> Self {
        let (mut before, mut least) = (vec![0.0], vec![0]);
        let (mut sum, mut last) = (0.0, 0);
        for (index, point) in points.iter().enumerate() {
            sum += point.live;
            before.push(sum);
            least.push(last);
            if point.is_kept {
                last = index + 1;
            }
        }
        Self {
            points,
            before,
            least,
            price,
        }
    }

    /// The cheapest last segment that ends at `end`: its start, and the cost with what comes
    /// before.
    fn last(&self, end: usize, first: usize, cost_before: &[f64]) -> (usize, f64) {
        let per_page = self.points[end - 1].per_page;
        let mut found = (end - 1, f64::INFINITY);
        let costs = cost_before.iter().enumerate().take(end);
        for (start, before) in costs.skip(self.least[end].max(first)) {
            let live = self.before[end] - self.before[start];
            let cost = before + self.price.of(live, per_page);
            if cost < found.1 {
                found = (start, cost);
            }
        }
        found
    }

    /// The cheapest division into any number of segments: their ends.
    fn free(&self) -> Vec<usize> {
        let mut cost = vec![0.0];
        let mut from = vec![0];
        for end in 1..=self.points.len() {
            let (start, least) = self.last(end, 0, &cost);
            cost.push(least);
            from.push(start);
        }
        let mut ends = Vec::new();
        let mut end = self.points.len();
        while end > 0 {
            ends.push(end);
            end = from[end];
        }
        ends.reverse();
        ends
    }

    /// The cheapest division into at most `most` segments: their ends.
    fn limited(&self, most: usize) -> Vec<usize> {
        let all = self.points.len();
        let mut cost = vec![f64::INFINITY; all + 1];
        cost[0] = 0.0;
        let mut from: Vec<Vec<usize>> = Vec::new();
        let mut found = (0, f64::INFINITY);
        for round in 1..=most.min(all) {
            let mut next = vec![f64::INFINITY; all + 1];
            let mut starts = vec![0; all + 1];
            for end in round..=all {
                (starts[end], next[end]) = self.last(end, round - 1, &cost);
            }
            cost = next;
            from.push(starts);
            if cost[all] < found.1 {
                found = (round, cost[all]);
            }
        }
        let (mut end, mut ends) = (all, Vec::new());
        for starts in from[..found.0].iter().rev() {
            ends.push(end);
            end = starts[end];
        }
        ends.reverse();
        ends
    }
}

/// The cheapest sizes, ascending, at most `most` of them; none if the kept sizes are more. Points
/// ascend.
pub(super) fn cheapest(points: &[Point], most: usize, price: Price) -> Vec<u32> {
    let division = Division::new(points, price);
    let mut ends = division.free();
    if ends.len() > most {
        ends = division.limited(most);
    }
    ends.iter().map(|end| points[end - 1].bytes).collect()
}

#[cfg(test)]
mod tests {
    use super::{Point, Price, Unfilled, cheapest};
    use rand::{Rng, SeedableRng};
    use rand_chacha::ChaCha8Rng;

    /// The cost of sizes, computed from its definition; infinite if they do not serve all points.
    fn cost(points: &[Point], sizes: &[u32], price: Price) -> f64 {
        let kept = points.iter().filter(|point| point.is_kept);
        if !kept.clone().all(|point| sizes.contains(&point.bytes)) {
            return f64::INFINITY;
        }
        let (mut sum, mut rest) = (0.0, points);
        for size in sizes {
            let count = rest.iter().take_while(|it| it.bytes <= *size).count();
            let (served, above) = rest.split_at(count);
            let live: f64 = served.iter().map(|point| point.live).sum();
            let per_page = served.last().expect("its own point").per_page;
            let pages = live / f64::from(per_page);
            let pages = match price.unfilled {
                Unfilled::Mean(unfilled) => (pages + unfilled * live.min(1.0)).max(live.min(1.0)),
                Unfilled::Rest => pages.ceil(),
            };
            sum += pages * price.page_bytes + price.state_bytes;
            rest = above;
        }
        if rest.is_empty() { sum } else { f64::INFINITY }
    }

    /// The cheapest of all choices of at most `most` sizes.
    fn brute(points: &[Point], most: usize, price: Price) -> f64 {
        let choices = 1_u32..1 << points.len();
        let choices = choices.filter(|choice| choice.count_ones() as usize <= most);
        let costs = choices.map(|choice| {
            let chosen = (0..points.len()).filter(|index| choice >> index & 1 == 1);
            let sizes: Vec<_> = chosen.map(|index| points[index].bytes).collect();
            cost(points, &sizes, price)
        });
        costs.fold(f64::INFINITY, f64::min)
    }

    fn some_points(random: &mut ChaCha8Rng) -> Vec<Point> {
        let count = random.random_range(1..=9);
        let mut bytes = 0;
        let points = (0..count).map(|index| {
            bytes += 8 * random.random_range(1..=20);
            Point {
                bytes,
                per_page: 4096 / bytes.max(1),
                live: f64::from(random.random_range(0..4_u32)) * random.random_range(0.0..90.0),
                is_kept: index + 1 == count || random.random_bool(0.15),
            }
        });
        points.collect()
    }

    #[test]
    fn no_choice_of_sizes_is_cheaper() {
        let (mut random, mut limited) = (ChaCha8Rng::seed_from_u64(17), 0);
        for case in 0..400 {
            let points = some_points(&mut random);
            let most = random.random_range(1..=points.len());
            let price = Price {
                page_bytes: 4096.0,
                unfilled: match random.random_range(0..4_u32) {
                    3 => Unfilled::Rest,
                    halves => Unfilled::Mean(f64::from(halves) / 2.0),
                },
                state_bytes: 24.0,
            };
            let sizes = cheapest(&points, most, price);
            let least = brute(&points, most, price);
            if least.is_infinite() {
                assert!(cost(&points, &sizes, price).is_infinite(), "case {case}");
                continue;
            }
            limited += usize::from(sizes.len() == most);
            assert!(
                sizes.len() <= most && sizes.is_sorted(),
                "case {case}: {sizes:?}"
            );
            let found = cost(&points, &sizes, price);
            assert!(
                (found - least).abs() < 1e-6,
                "case {case}: {found} for {least}: {points:?}"
            );
        }
        assert!(limited > 50, "the limit counted in {limited} cases");
    }

    #[test]
    fn sizes_that_many_share_are_classes_of_their_own() {
        let point = |bytes: u32, live, is_kept| Point {
            bytes,
            per_page: 4096 / bytes,
            live,
            is_kept,
        };
        let points = [
            point(24, 9000.0, false),
            point(32, 3.0, false),
            point(40, 5000.0, false),
            point(4096, 0.0, true),
        ];
        let price = Price {
            page_bytes: 4096.0,
            unfilled: Unfilled::Mean(0.5),
            state_bytes: 24.0,
        };
        assert_eq!(cheapest(&points, 64, price), [24, 40, 4096]);
        assert_eq!(cheapest(&points, 2, price), [40, 4096]);
        assert_eq!(cheapest(&[], 64, price), [0_u32; 0]);
    }
}
