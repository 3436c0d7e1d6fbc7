//! Pairs of pages that one physical page could hold.
//!
//! ```text
//! found     fullest page first, each with the fullest page left that fits it; of equally full ones that of the lowest address
//! most      the most pairs whose live page-blocks are no more than a page has, whatever their numbers
//! ```
//! `found` ≤ the greatest number of disjoint pairs that fit ≤ `most` ≤ ⌊not-full pages / 2⌋.

use super::pages::Page;

/// The pages of one size-class, or of several, and the pairs among them.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) struct Pairs {
    /// Pages in use.
    pub(super) pages: u64,
    /// Those that are not full.
    pub(super) not_full: u64,
    /// Disjoint pairs of pages that fit, found greedily: a lower bound.
    pub(super) found: u64,
    /// An upper bound of disjoint pairs that fit.
    pub(super) most: u64,
}

impl Pairs {
    /// Those among the pages of a size-class, given in the order of their addresses. Quadratic in
    /// the not-full pages.
    pub(super) fn of(pages: &[&Page]) -> Self {
        let mut open: Vec<_> = pages
            .iter()
            .copied()
            .filter(|page| !is_full(page))
            .collect();
        // stable: of pages that are equally full, the one with the lowest address comes first
        open.sort_by_key(|page| std::cmp::Reverse(page.used()));
        Self {
            pages: pages.len() as u64,
            not_full: open.len() as u64,
            found: found(&open),
            most: most(&open),
        }
    }

    /// The sums of two.
    pub(super) fn and(self, other: Self) -> Self {
        Self {
            pages: self.pages + other.pages,
            not_full: self.not_full + other.not_full,
            found: self.found + other.found,
            most: self.most + other.most,
        }
    }
}

fn is_full(page: &Page) -> bool {
    page.used() == page.blocks()
}

/// Pairs that fit, of pages of which the fullest is first.
fn found(open: &[&Page]) -> u64 {
    let mut taken = vec![false; open.len()];
    let mut pairs = 0;
    for (at, page) in open.iter().enumerate() {
        if taken[at] {
            continue;
        }
        // fuller ones have more live page-blocks than this one has free ones
        let free = page.blocks() - page.used();
        let first = open.partition_point(|other| other.used() > free);
        let mut others = first.max(at + 1)..open.len();
        if let Some(other) = others.find(|&other| !taken[other] && page.fits(open[other])) {
            taken[other] = true;
            pairs += 1;
        }
    }
    pairs
}

/// Pairs that fit by their numbers of live page-blocks, of pages of which the fullest is first:
/// each page from the emptiest on takes the fullest one left that has room.
fn most(open: &[&Page]) -> u64 {
    let (mut fullest, mut emptiest, mut pairs) = (0, open.len(), 0);
    while fullest + 1 < emptiest {
        let (full, empty) = (open[fullest], open[emptiest - 1]);
        // if the emptiest page does not fit the fullest one, none does
        if full.used() + empty.used() <= full.blocks() {
            emptiest -= 1;
            pairs += 1;
        }
        fullest += 1;
    }
    pairs
}

#[cfg(test)]
mod tests {
    use super::{Page, Pairs};

    /// π = 8.
    const BLOCK_BYTES: usize = 1024;

    fn pairs(pages: &[&[usize]]) -> (u64, u64) {
        let pages: Vec<_> = pages
            .iter()
            .map(|live| Page::with(BLOCK_BYTES, live.iter().copied()))
            .collect();
        let pairs = Pairs::of(&pages.iter().collect::<Vec<_>>());
        assert!(pairs.found <= pairs.most && pairs.most <= pairs.not_full / 2);
        (pairs.found, pairs.most)
    }

    #[test]
    fn complementary_pages_fit_and_overlapping_ones_do_not() {
        assert_eq!(pairs(&[&[0, 2, 4, 6], &[1, 3, 5, 7]]), (1, 1));
        assert_eq!(pairs(&[&[0, 1], &[7]]), (1, 1));
        assert_eq!(pairs(&[&[0, 1], &[1, 2]]), (0, 1));
        assert_eq!(pairs(&[&[0, 1, 2, 3, 4], &[5, 6, 7, 0]]), (0, 0));
        assert_eq!(pairs(&[]), (0, 0));
        assert_eq!(pairs(&[&[3]]), (0, 0));
    }

    #[test]
    fn full_pages_never_fit() {
        let full: Vec<_> = (0..8).collect();
        assert_eq!(pairs(&[&full, &full, &[0]]), (0, 0));
        let full = Page::with(BLOCK_BYTES, 0..8);
        let one = Page::with(BLOCK_BYTES, [7]);
        assert!(!full.fits(&one) && !one.fits(&full));
        let all = Pairs::of(&[&full, &one]);
        assert_eq!((all.pages, all.not_full), (2, 1));
    }

    #[test]
    fn pages_of_two_classes_never_fit() {
        assert!(!Page::with(1024, [0]).fits(&Page::with(512, [1])));
    }

    #[test]
    fn last_page_blocks_of_the_smallest_class_count() {
        let last = Page::with(8, [1023]);
        assert!(!last.fits(&Page::with(8, [0, 1023])) && last.fits(&Page::with(8, 0..1023)));
    }

    #[test]
    fn the_fullest_page_goes_with_the_fullest_that_fits_and_a_page_only_once() {
        // five blocks with three, and the pages of one block with each other
        let five: &[usize] = &[0, 1, 2, 3, 4];
        assert_eq!(pairs(&[&[5], &[6], five, &[5, 6, 7]]), (2, 2));
        assert_eq!(pairs(&[&[0], &[1], &[2]]), (1, 1));
    }

    #[test]
    fn greedy_is_a_lower_bound_only() {
        // {0 1 2} takes {3 4}, the only page for {0 5}; it could have taken {5 6}
        assert_eq!(pairs(&[&[0, 1, 2], &[3, 4], &[0, 5], &[5, 6]]), (1, 2));
        assert_eq!(pairs(&[&[0, 1, 2], &[5, 6], &[0, 5], &[3, 4]]), (2, 2));
    }

    /// All ways to pair pages that fit, by brute force.
    fn best(pages: &[Page]) -> u64 {
        let Some((first, rest)) = pages.split_first() else {
            return 0;
        };
        let mut best_here = best(rest);
        for (at, other) in rest.iter().enumerate() {
            if first.fits(other) {
                let mut left = rest.to_vec();
                left.remove(at);
                best_here = best_here.max(1 + best(&left));
            }
        }
        best_here
    }

    #[test]
    fn both_bounds_enclose_the_best_pairs_and_are_the_same_again() {
        let mut random = 1_u64;
        let (mut apart, mut equal) = (0, 0);
        for _ in 0..300 {
            let pages: Vec<_> = (0..7)
                .map(|_| {
                    random = random
                        .wrapping_mul(6_364_136_223_846_793_005)
                        .wrapping_add(1);
                    let bits = ((random >> 40) & (random >> 48) & 0xff) | 1 << ((random >> 33) % 8);
                    Page::with(BLOCK_BYTES, (0..8).filter(|block| bits >> block & 1 != 0))
                })
                .collect();
            let all: Vec<_> = pages.iter().collect();
            let (pairs, best) = (Pairs::of(&all), best(&pages));
            assert!(pairs.found <= best && best <= pairs.most, "{pages:?}");
            assert_eq!(pairs, Pairs::of(&all));
            apart += u64::from(pairs.found < pairs.most);
            equal += u64::from(pairs.found == best);
        }
        assert!(apart > 0 && equal > 0);
    }
}
