//! The size-class automaton, exhaustively: every state that a class can reach, for every small page
//! and bound.
//!
//! `model` composes the automaton over a vector of pages. A breadth-first search walks all its
//! reachable states, in the order of the least peak H that reaches them, and checks every
//! transition against the claims of docs/bounds.md:
//!
//! - a free moves at most two blocks; one if ε = 0 or if pages swap roles; none if the bound does
//!   not require it. An allocation moves none;
//! - the bound is kept: n ≤ κ, or holes ≤ δ + ⌊εh⌋; counters agree with the pages;
//! - there are never more pages than `pages_bound` says, at every h and H; at the end, exactly as
//!   many in some state;
//! - at κ = 1 there is one state for each h.
//!
//! The tests of surefit-compact run real heaps beside the model: the engine composes the automaton
//! in the same way, page by page.

#[expect(dead_code, reason = "what only real heaps beside the model use")]
mod model;
mod parked;

use std::collections::{BTreeMap, HashSet};

use model::{Class, Page, Rules, Victim};
use surefit_classes::automaton::{Free, Malloc, pages_bound, swaps_roles};
use surefit_classes::{Bound, Fraction, PageOrder};

// ---- states ------------------------------------------------------------------------------------

/// A state in a word: full pages (8 bits), not-full pages (5 bits), used blocks of each, head first
/// (3 bits each).
#[derive(Clone, Copy, PartialEq, Eq, Hash)]
struct Packed(u64);

const MOST_NOT_FULL: usize = 17;

impl Packed {
    fn new(class: &Class) -> Self {
        let n = class.not_full.len();
        assert!(
            n <= MOST_NOT_FULL && class.full.len() < 256,
            "the state fits in a word"
        );
        let start = (class.full.len() as u64) << 5 | n as u64;
        let push = |word: u64, page: &Page| word << 3 | u64::from(page.used);
        Self(class.not_full.iter().fold(start, push))
    }

    fn unpack(self, rules: Rules, n: usize) -> Class {
        let used = |place: usize| (self.0 >> (3 * (n - 1 - place)) & 7) as u32;
        let mut class = Class::new(rules);
        class.full = vec![0; (self.0 >> (3 * n) >> 5) as usize];
        class.not_full = (0..n)
            .map(|place| Page {
                name: 0,
                used: used(place),
            })
            .collect();
        class.recount();
        class
    }
}

/// A state and its number of not-full pages, without which it cannot be decoded.
type State = (Packed, usize);

fn pack(class: &Class) -> State {
    (Packed::new(class), class.not_full.len())
}

// ---- the search --------------------------------------------------------------------------------

/// What a search found.
#[derive(Clone, Debug, Default)]
struct Census {
    states: usize,
    transitions: usize,
    moves: [usize; 3],
    most_not_full: usize,
    /// The most pages at (H, h).
    most_pages: BTreeMap<(u32, u32), u32>,
    /// How often each transition was taken.
    labels: BTreeMap<String, usize>,
}

struct Search {
    rules: Rules,
    limit: u32,
    seen: HashSet<State>,
    /// States to visit, by the least peak that reaches them.
    agenda: Vec<Vec<State>>,
    census: Census,
}

/// Walks every state with at most `limit` live blocks.
fn explore(rules: Rules, limit: u32) -> Census {
    let mut search = Search {
        rules,
        limit,
        seen: HashSet::new(),
        agenda: vec![Vec::new(); limit as usize + 1],
        census: Census::default(),
    };
    search.agenda[0].push(pack(&Class::new(rules)));
    let mut most = vec![0; limit as usize + 1];
    for peak in 0..=limit {
        while let Some(state) = search.agenda[peak as usize].pop() {
            if search.seen.insert(state) {
                let class = state.0.unpack(rules, state.1);
                let pages = &mut most[class.live as usize];
                *pages = class.pages().max(*pages);
                search.visit(&class, peak);
            }
        }
        let so_far = (0..=peak).map(|live| ((peak, live), most[live as usize]));
        search.census.most_pages.extend(so_far);
    }
    search.census.states = search.seen.len();
    search.census
}

impl Search {
    fn visit(&mut self, class: &Class, peak: u32) {
        class.verify();
        assert!(class.keeps_bound(), "the bound is kept: {class:?}");
        let most = pages_bound(self.rules.bound, self.rules.blocks, class.live, peak);
        assert!(
            class.pages() <= most,
            "{most} pages at most with H = {peak}: {class:?}"
        );
        self.census.most_not_full = self.census.most_not_full.max(class.not_full.len());
        if class.live < self.limit {
            self.allocate(class, peak);
        }
        let full = (!class.full.is_empty()).then_some(Victim::Full(0));
        for victim in full
            .into_iter()
            .chain((0..class.not_full.len()).map(Victim::NotFull))
        {
            self.free(class, victim, peak);
        }
    }

    fn allocate(&mut self, class: &Class, peak: u32) {
        let mut next = class.clone();
        let (decision, _) = next.malloc(0);
        let opened = next.pages() - class.pages();
        assert_eq!(
            opened,
            u32::from(decision == Malloc::Open),
            "M1 alone opens a page"
        );
        self.arrive(&next, peak.max(next.live), &format!("{decision:?}"));
    }

    fn free(&mut self, class: &Class, victim: Victim, peak: u32) {
        let mut next = class.clone();
        let (decision, moves) = next.free(victim).expect("nothing is parked");
        assert!(moves <= 2, "two moves at most: {class:?} {victim:?}");
        if matches!(self.rules.bound, Bound::Pages(most) if class.not_full.len() < most as usize)
            || matches!(
                (self.rules.bound, victim),
                (Bound::Pages(_), Victim::NotFull(_))
            )
        {
            assert_eq!(moves, 0, "nothing asked for a move: {class:?} {victim:?}");
        }
        self.census.moves[moves as usize] += 1;
        self.arrive(&next, peak, &format!("{decision:?}"));
    }

    fn arrive(&mut self, next: &Class, peak: u32, label: &str) {
        self.census.transitions += 1;
        match self.census.labels.get_mut(label) {
            Some(count) => *count += 1,
            None => drop(self.census.labels.insert(label.to_owned(), 1)),
        }
        let state = pack(next);
        if !self.seen.contains(&state) {
            self.agenda[peak as usize].push(state);
        }
    }
}

// ---- configurations ----------------------------------------------------------------------------

/// Page-blocks in a page, and the most live blocks to explore: several pages each.
const SIZES: [(u32, u32); 6] = [(1, 12), (2, 32), (3, 36), (4, 40), (5, 40), (8, 48)];

const ORDERS: [PageOrder; 2] = [PageOrder::Newest, PageOrder::Original];

fn rules(blocks: u32, bound: Bound) -> Rules {
    let order = PageOrder::Newest;
    Rules {
        bound,
        order,
        blocks,
    }
}

fn holes(base: u32, (numerator, denominator): (u32, u32)) -> Bound {
    let fraction = Fraction::new(numerator, denominator).expect("at most one half");
    Bound::Holes { base, fraction }
}

const FRACTIONS: [(u32, u32); 5] = [(0, 1), (1, 16), (1, 4), (1, 3), (1, 2)];

/// Explores, and prints what was found.
fn report(rules: Rules, limit: u32) -> Census {
    let census = explore(rules, limit);
    println!(
        "π = {} {:?} {:?}: {} states, {} transitions, frees with 0, 1, 2 moves {:?}",
        rules.blocks, rules.bound, rules.order, census.states, census.transitions, census.moves
    );
    census
}

/// The (H, h) at which no reachable state has as many pages as the bound allows.
fn loose(rules: Rules, census: &Census) -> Vec<(u32, u32)> {
    let pages = census.most_pages.iter();
    let bound = |h, peak| pages_bound(rules.bound, rules.blocks, h, peak);
    pages
        .filter(|&(&(peak, h), &most)| most < bound(h, peak))
        .map(|(&at, _)| at)
        .collect()
}

// ---- claims ------------------------------------------------------------------------------------

/// The bound on pages is reached at every h and every H: no smaller bound would hold.
fn assert_tight(rules: Rules, census: &Census) {
    let loose = loose(rules, census);
    assert!(
        loose.is_empty(),
        "{rules:?}: fewer pages would do at (H, h) {loose:?}"
    );
}

#[test]
fn a_bound_in_pages_is_kept_in_every_state() {
    let mut sum = (0, 0);
    for (blocks, limit) in SIZES {
        for (most, order) in (1..=3).flat_map(|most| ORDERS.map(|order| (most, order))) {
            let bound = Bound::Pages(most);
            let rules = Rules {
                bound,
                order,
                blocks,
            };
            let census = report(rules, limit);
            assert_eq!(
                census.moves[2], 0,
                "a bound in pages moves one block at most"
            );
            assert_tight(rules, &census);
            if blocks > 1 {
                assert_eq!(census.most_not_full, most as usize, "n = κ is reached");
            }
            sum = (sum.0 + census.states, sum.1 + census.transitions);
        }
    }
    println!("bounds in pages: {} states, {} transitions", sum.0, sum.1);
}

#[test]
fn a_hole_bound_is_kept_in_every_state() {
    let mut sum = (0, 0);
    for (blocks, limit) in SIZES {
        for (base, fraction) in (0..=3).flat_map(|base| FRACTIONS.map(|f| (base, f))) {
            let rules = rules(blocks, holes(base, fraction));
            let census = report(rules, limit);
            assert_tight(rules, &census);
            let most_moves = 1 + usize::from(fraction.0 > 0 && blocks > 1);
            let more = &census.moves[most_moves + 1..];
            assert!(more.iter().all(|&frees| frees == 0), "one move if ε = 0");
            sum = (sum.0 + census.states, sum.1 + census.transitions);
        }
    }
    println!("hole bounds: {} states, {} transitions", sum.0, sum.1);
}

#[test]
fn an_unbounded_class_keeps_to_its_high_water_mark() {
    for (blocks, limit) in SIZES {
        let rules = rules(blocks, Bound::Unbounded);
        let census = report(rules, limit);
        assert_eq!(census.moves[1..], [0, 0], "nothing ever moves");
        assert_tight(rules, &census);
    }
}

/// κ = 1, and the hole bound without a hole: the counts alone determine the state, and the only
/// not-full page is the reservoir.
#[test]
fn full_compaction_has_one_state_for_each_number_of_live_blocks() {
    for (blocks, limit) in SIZES {
        for bound in [Bound::Pages(1), holes(0, (0, 1))] {
            for order in ORDERS {
                let rules = Rules {
                    bound,
                    order,
                    blocks,
                };
                let census = explore(rules, limit);
                assert_eq!(census.states, limit as usize + 1, "{rules:?}");
                let not_full = usize::from(blocks > 1);
                assert_eq!(census.most_not_full, not_full, "n = [h mod π ≠ 0]");
            }
        }
    }
}

/// Every row of the automaton's table is a transition of some reachable state, and there are no
/// other transitions.
#[test]
fn every_transition_is_taken_and_no_other() {
    let labels = |blocks, bound| -> Vec<String> {
        explore(rules(blocks, bound), 12)
            .labels
            .into_keys()
            .collect()
    };
    let refill = |empties_source| format!("{:?}", Free::Refill { empties_source });
    let (f2, f3) = (refill(false), refill(true));
    assert_eq!(labels(1, Bound::Pages(1)), ["Open", "Release"]);
    assert_eq!(
        labels(2, Bound::Unbounded),
        ["Fill", "Loosen", "Open", "Release"]
    );
    let paged = ["Fill", "Loosen", "Open", &f3, "Release"];
    assert_eq!(labels(2, Bound::Pages(2)), paged, "π = 2 has no M2, F2, F4");
    let all = [
        "Clear", "Fill", "Loosen", "Open", &f2, &f3, "Release", "Take",
    ];
    assert_eq!(labels(4, Bound::Pages(2)), all);
    let held = ["Clear", "Fill", "Loosen", "Open", "Release", "Take"];
    assert_eq!(
        labels(4, Bound::DEFAULT),
        held,
        "holes are settled after the transition"
    );
}

/// Equal pages keep their roles: swapping them would gain no hole.
#[test]
fn only_an_emptier_page_becomes_the_reservoir() {
    for used in 1..8 {
        for least in 1..8 {
            assert_eq!(swaps_roles(used, least), used < least);
        }
    }
}
