//! Every state of one size-class with parked pairs: T2 and T3 of the library's `parked.rs`.
//!
//! The states are vectors of pages with their used and their parked page-blocks. Any parked block
//! may be taken next, any page-block may be freed, a free may park or not, and parked blocks may go
//! back at any time, in any order. So the walk covers every order of the engine's stack, and every
//! number of pairs that it may park, as far as T2 and T3 allow them.

use std::collections::HashSet;

use surefit_classes::Bound;
use surefit_classes::automaton::{
    self, ClassCounts, MAX_MOVES, credit, frees_in_a_row, pages_bound, swaps_roles,
};

use super::holes;

/// Used and parked page-blocks of a page.
type Page = (u32, u32);

#[derive(Clone, Debug, PartialEq, Eq, Hash)]
struct Class {
    /// Parked blocks of each full page.
    full: Vec<u32>,
    /// Head first.
    not_full: Vec<Page>,
}

struct Walk {
    bound: Bound,
    blocks: u32,
    seen: HashSet<Class>,
    agenda: Vec<Class>,
    parks: usize,
    gives: usize,
    moves: [usize; 3],
}

impl Class {
    fn parked(&self) -> u32 {
        self.full.iter().sum::<u32>() + self.not_full.iter().map(|page| page.1).sum::<u32>()
    }

    fn pages(&self) -> u32 {
        (self.full.len() + self.not_full.len()) as u32
    }

    fn counts(&self, bound: Bound, blocks: u32) -> ClassCounts {
        let used = blocks * self.full.len() as u32;
        let used = used + self.not_full.iter().map(|page| page.0).sum::<u32>();
        let others = self.not_full.split_last().map_or(&[][..], |split| split.1);
        let free: u32 = others.iter().map(|page| blocks - page.0).sum();
        ClassCounts {
            live: used - self.parked(),
            not_full: self.not_full.len() as u32,
            holes: match bound {
                Bound::Holes { .. } => free + self.parked(),
                _ => 0,
            },
        }
    }

    /// Places of a page-block: full pages, then not-full ones.
    fn places(&self) -> usize {
        self.full.len() + self.not_full.len()
    }

    fn page(&self, place: usize, blocks: u32) -> Page {
        match self.full.get(place) {
            Some(&parked) => (blocks, parked),
            None => self.not_full[place - self.full.len()],
        }
    }

    /// Clears one used block, of those that are parked or not; returns the page's place among the
    /// not-full ones, if it still has used blocks.
    fn clear(&mut self, place: usize, blocks: u32, is_parked: bool) -> Option<usize> {
        let (used, parked) = self.page(place, blocks);
        let page = (used - 1, parked - u32::from(is_parked));
        if place < self.full.len() {
            self.full.remove(place);
            if page.0 > 0 {
                self.not_full.insert(0, page);
            }
            return (page.0 > 0).then_some(0);
        }
        let place = place - self.full.len();
        self.not_full[place] = page;
        if page.0 == 0 {
            self.not_full.remove(place);
        }
        (page.0 > 0).then_some(place)
    }
}

impl Walk {
    fn new(bound: Bound, blocks: u32) -> Self {
        Self {
            bound,
            blocks,
            seen: HashSet::new(),
            agenda: vec![Class {
                full: Vec::new(),
                not_full: Vec::new(),
            }],
            parks: 0,
            gives: 0,
            moves: [0; 3],
        }
    }

    fn run(&mut self, most: u32) {
        while let Some(mut class) = self.agenda.pop() {
            class.full.sort_unstable();
            if self.seen.insert(class.clone()) {
                self.visit(&class, most);
            }
        }
    }

    fn visit(&mut self, class: &Class, most: u32) {
        let counts = class.counts(self.bound, self.blocks);
        assert!(!automaton::settle(self.bound, counts), "T2: {class:?}");
        assert!(class.pages() <= counts.live, "T3: {class:?}");
        let bound = pages_bound(self.bound, self.blocks, counts.live, u32::MAX);
        assert!(class.pages() <= bound, "{class:?}");
        let frees = frees_in_a_row(self.bound, counts);
        assert!(frees >= credit(self.bound, counts).min(counts.live));
        let may_park = frees.min(counts.live - class.pages()) > 0;
        if counts.live < most {
            self.allocate(class);
        }
        for place in 0..class.places() {
            let (used, parked) = class.page(place, self.blocks);
            if used > parked {
                if may_park {
                    let mut next = class.clone();
                    *parked_of(&mut next, place) += 1;
                    self.parks += 1;
                    self.agenda.push(next);
                }
                self.free(class, place);
            }
            if parked > 0 {
                self.give(class, place);
            }
        }
    }

    fn allocate(&mut self, class: &Class) {
        let parked: Vec<_> = (0..class.places())
            .filter(|&place| class.page(place, self.blocks).1 > 0)
            .collect();
        for &place in &parked {
            let mut next = class.clone();
            *parked_of(&mut next, place) -= 1;
            self.agenda.push(next);
        }
        if !parked.is_empty() {
            return;
        }
        let mut next = class.clone();
        if next.not_full.is_empty() {
            next.not_full.push((0, 0));
        }
        take(&mut next, self.blocks, 0);
        self.agenda.push(next);
    }

    /// A parked block goes back: this never adds to holes or pages.
    fn give(&mut self, class: &Class, place: usize) {
        let before = class.counts(self.bound, self.blocks);
        let mut next = class.clone();
        next.clear(place, self.blocks, true);
        let after = next.counts(self.bound, self.blocks);
        assert!(after.holes <= before.holes && after.live == before.live);
        self.gives += 1;
        self.agenda.push(next);
    }

    /// A free in a page that settles. Which parked blocks it gives back is left open.
    fn free(&mut self, class: &Class, place: usize) {
        let mut next = class.clone();
        let left = next.clear(place, self.blocks, false);
        let breaks = |class: &Class| {
            let counts = class.counts(self.bound, self.blocks);
            automaton::settle(self.bound, counts)
        };
        if let Some(place) = left.filter(|_| breaks(&next)) {
            let tail = next.not_full.last().expect("the page is not full").0;
            if swaps_roles(next.not_full[place].0, tail) {
                let page = next.not_full.remove(place);
                next.not_full.push(page);
            }
        }
        self.settle(next, 0);
    }

    fn settle(&mut self, class: Class, moves: u32) {
        let counts = class.counts(self.bound, self.blocks);
        if automaton::settle(self.bound, counts) {
            assert!(moves < MAX_MOVES, "a third move: {class:?}");
            if class.not_full.len() > 1 {
                return self.fill_hole(&class, moves);
            }
        } else if class.pages() <= counts.live {
            self.moves[moves as usize] += 1;
            self.agenda.push(class);
            return;
        }
        assert!(class.parked() > 0, "holes without a page: {class:?}");
        for place in 0..class.places() {
            if class.page(place, self.blocks).1 > 0 {
                let mut next = class.clone();
                next.clear(place, self.blocks, true);
                self.settle(next, moves);
            }
        }
    }

    /// The block that moves may be a parked one.
    fn fill_hole(&mut self, class: &Class, moves: u32) {
        let (used, parked) = *class.not_full.last().expect("a tail");
        for is_parked in [false, true] {
            if parked >= u32::from(is_parked) && used - parked >= u32::from(!is_parked) {
                let mut next = class.clone();
                next.clear(class.places() - 1, self.blocks, is_parked);
                take(&mut next, self.blocks, u32::from(is_parked));
                self.settle(next, moves + 1);
            }
        }
    }
}

fn parked_of(class: &mut Class, place: usize) -> &mut u32 {
    let full = class.full.len();
    match place.checked_sub(full) {
        None => &mut class.full[place],
        Some(place) => &mut class.not_full[place].1,
    }
}

/// Takes a block of the head page.
fn take(class: &mut Class, blocks: u32, parked: u32) {
    let head = &mut class.not_full[0];
    *head = (head.0 + 1, head.1 + parked);
    if head.0 == blocks {
        let page = class.not_full.remove(0);
        class.full.push(page.1);
    }
}

#[test]
fn a_class_with_parked_pairs_keeps_its_bound_in_every_state() {
    let bounds = [
        holes(0, (0, 1)),
        holes(1, (0, 1)),
        holes(3, (1, 3)),
        holes(0, (1, 2)),
        holes(2, (1, 4)),
        Bound::Unbounded,
    ];
    let (mut parks, mut gives, mut moves) = (0, 0, [0; 3]);
    for bound in bounds {
        for (blocks, most) in [(1, 4), (2, 7), (3, 8), (4, 8)] {
            let mut walk = Walk::new(bound, blocks);
            walk.run(most);
            println!("{bound:?}, π = {blocks}: {} states", walk.seen.len());
            assert!(blocks > 1 || walk.parks == 0, "nothing parks for π = 1");
            parks += walk.parks;
            gives += walk.gives;
            moves
                .iter_mut()
                .zip(walk.moves)
                .for_each(|(sum, n)| *sum += n);
        }
    }
    println!("{parks} pairs parked, {gives} given back, frees by moves {moves:?}");
    assert!(parks > 0 && gives > 0 && moves.iter().all(|&n| n > 0));
}

/// The greatest number of frees that the inequality of H5 allows, by counting.
#[test]
fn frees_in_a_row_are_counted_exactly() {
    for bound in [
        holes(0, (0, 1)),
        holes(3, (1, 3)),
        holes(4, (1, 16)),
        holes(1, (2, 5)),
    ] {
        let Bound::Holes { base, fraction } = bound else {
            unreachable!("only bounds in holes")
        };
        for live in 0..60 {
            for holes in 0..=base + fraction.of(live) {
                let counts = ClassCounts {
                    live,
                    not_full: 0,
                    holes,
                };
                let stands = |n: &u32| holes + n <= base + fraction.of(live - n);
                let counted = (0..=live).take_while(stands).last().expect("none");
                assert_eq!(
                    frees_in_a_row(bound, counts),
                    counted,
                    "{bound:?} {counts:?}"
                );
            }
        }
    }
}
