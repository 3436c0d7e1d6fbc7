//! What a checker, a diagram and a simulation need to know of a size-class.

use std::fmt;
use std::hash::Hash;

/// One size-class with moves in flight. The default is a class without pages.
///
/// An action is one critical section, or what a thread does without a lock. Threads may interleave
/// actions in every way.
pub trait SizeClass: Clone + fmt::Debug + Default + Eq + Hash {
    /// The configuration, and the limits of a search.
    type Rules: Copy + fmt::Debug;
    /// What a thread does next.
    type Action: Copy + fmt::Debug + Eq;

    /// Adds everything that may happen next.
    fn actions(&self, rules: &Self::Rules, actions: &mut Vec<Self::Action>);

    /// Does one of [`actions`](Self::actions), and leaves the state in a canonical order; returns
    /// what happened.
    fn act(&mut self, rules: &Self::Rules, action: Self::Action) -> Label;

    /// What is wrong with the state, if anything.
    fn fault(&self, rules: &Self::Rules) -> Option<&'static str>;

    /// The figures of the state, with their bounds.
    fn measured(&self, rules: &Self::Rules) -> Measured;

    /// Whether all calls in progress return if nothing new begins, and leave no move in flight.
    fn ends(&self, rules: &Self::Rules) -> bool;

    /// Whether the state keeps what is promised when no call is in progress; true if one is.
    fn rests(&self, rules: &Self::Rules) -> bool;

    /// Whether a section is not over yet: a checker lets readers act in it, a diagram leaves it
    /// out.
    fn is_within_section(&self) -> bool {
        false
    }

    /// Live page-blocks h.
    fn live(&self) -> u32;

    /// The pages and the calls in progress, in a short line each.
    fn picture(&self, rules: &Self::Rules) -> String;
}

/// A size-class that a simulation drives; each method runs one section.
pub trait Simulated: SizeClass {
    /// Allocates a page-block.
    fn allocate(&mut self, rules: &Self::Rules);

    /// The first section of a free of the nth live object, counted from 0. If a move may take n
    /// blocks, it takes the `draw(n)`th.
    ///
    /// # Panics
    /// If fewer objects are live.
    fn release(&mut self, rules: &Self::Rules, nth: u32, draw: &mut dyn FnMut(u32) -> u32);

    /// The next section of the nth call in progress.
    ///
    /// # Panics
    /// If fewer calls are in progress.
    fn proceed(&mut self, rules: &Self::Rules, call: usize);
}

/// What an action did, in up to three words; empty words are left out.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct Label(pub [&'static str; 3]);

impl fmt::Display for Label {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let words: Vec<_> = self.0.into_iter().filter(|word| !word.is_empty()).collect();
        f.write_str(&words.join(" "))
    }
}

/// Figures of one state. Each `…_most` is a bound that holds in every state.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Measured {
    /// Frees and compactions in progress.
    pub calls: usize,
    /// The most steps that a free in progress has taken.
    pub steps: u32,
    /// The most steps of one free.
    pub steps_most: u32,
    /// Not-full pages, with source pages, or holes: what the compaction bound limits.
    pub held: u32,
    /// The compaction bound: κ, or δ + ⌊εh⌋. Calls in progress may exceed it.
    pub allowed: u32,
    /// The most of `held`; `None` if nothing limits it.
    pub held_most: Option<u32>,
    /// Pages.
    pub pages: u32,
    /// Pages that the class needs at most if no call is in progress and nothing is pinned.
    pub pages_at_rest: u32,
    /// The most pages.
    pub pages_most: u32,
    /// Emptying pages: those that hold nothing but blocks that moves leave.
    pub emptying: u32,
    /// Transient fragmentation in page-blocks: those that moves in flight keep from use.
    pub transient: u32,
    /// The most of `transient`.
    pub transient_most: u32,
}

/// Groups of pages in a line.
pub(crate) fn or_none(groups: &[String]) -> String {
    if groups.is_empty() {
        "no page".to_owned()
    } else {
        groups.join(" | ")
    }
}
