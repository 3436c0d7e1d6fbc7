//! Exhausts the scripts within a demand: breadth first over the states of real heaps.
//!
//! ```text
//! known = {the new heap};  for each state, for each step that the demand allows in it:
//!     a fresh region of exactly the bytes; the state's shortest script, and the step
//!     refused?  a counterexample, and no shorter one exists
//!     else      its key is new?  known ← it
//! ```
//! When no state is left to visit, the set of keys is closed. Then no script of any length is
//! refused, because every script leads from state to state along steps that were tried.
//!
//! # When two states may count as one
//! A state's key is the heap's *shape* and what the demand counts ([`Key`]), with names erased.
//! This is sound if states with the same key allow the same steps, and if each such step leads to
//! the same key or is refused in both. It is so, because
//! - the shape holds every word that the engines compare: lists of pages in order, used
//!   page-blocks, free pages, room for entries, objects that wait to be freed, pins, generations
//!   where they may run out, and what threads hold ready;
//! - entries and pages are names: an engine stores and follows them, and compares them only with
//!   *none*. (It compares page numbers with the frontier, and entry numbers with those made; the
//!   shape counts both.) So a renaming maps every run to another, step by step;
//! - which page-blocks of a page are used decides where the next object lies, but a bound only
//!   counts page-blocks. So the order of the page-blocks of a page is erased too, but not which of
//!   them are pinned, or are pieces of which object;
//! - the shape of a heap of one owner holds which page-blocks are parked, in which order, and how
//!   many more frees may park; in a shared heap, how long the bound need not be asked (H5) decides
//!   nothing while `check` holds, which every new state passes.
//!
//! States are states at rest. A call that pauses while another one is made is one step together
//! with it, at one of a few points. So it always leads from one state at rest to the same next one.
//!
//! `bisimulation.rs` of surefit-compact does not rely on this argument: it exhausts spaces with the
//! order of page-blocks kept, and asserts that states that the coarse key merges have the same
//! successors.

use std::collections::HashMap;
use std::fmt::Debug;

/// The result of a script.
#[derive(Debug)]
pub enum Outcome<S> {
    /// The last step was refused.
    Refused(String),
    /// A state, and the steps that the demand allows in it.
    Reached {
        /// The state.
        key: Key,
        /// The steps.
        steps: Vec<S>,
    },
}

/// A state with names erased.
pub type Key = Box<[u32]>;

/// A heap of some size, and a demand on it.
pub trait Space {
    /// A call.
    type Step: Copy + Debug;
    /// Makes the calls of a script on a new heap; all but the last are known to succeed. Verifies
    /// the heap's invariants if the state is not in `known`.
    fn replay(&self, script: &[Self::Step], known: &dyn Fn(&Key) -> bool) -> Outcome<Self::Step>;
}

/// What a search found.
#[derive(Debug)]
pub struct Found {
    /// How many states there are.
    pub states: usize,
    /// How many steps were tried.
    pub steps: usize,
    /// The shortest script that is refused, and why.
    pub refused: Option<String>,
    /// Whether states were left when the search gave up.
    pub is_cut: bool,
}

impl Found {
    /// Every script was granted.
    #[must_use]
    pub fn is_exhausted(&self) -> bool {
        self.refused.is_none() && !self.is_cut
    }
}

struct State<S> {
    /// The previous state, and the step from there.
    before: Option<(usize, S)>,
    steps: Vec<S>,
}

/// Searches until a step is refused, no state is left, or `most` states are known.
pub fn search<W: Space>(space: &W, most: usize) -> Found {
    let (mut states, mut known) = (Vec::<State<W::Step>>::new(), HashMap::<Key, usize>::new());
    let mut found = Found {
        states: 0,
        steps: 0,
        refused: None,
        is_cut: false,
    };
    let mut reach = |states: &mut Vec<State<W::Step>>, script: &[W::Step], before| {
        match space.replay(script, &|key| known.contains_key(key)) {
            Outcome::Refused(why) => return Some(format!("{why} at the end of {script:?}")),
            Outcome::Reached { key, steps } => {
                let number = states.len();
                if *known.entry(key).or_insert(number) == number {
                    states.push(State { before, steps });
                }
            }
        }
        None
    };
    found.refused = reach(&mut states, &[], None);
    let mut next = 0;
    while next < states.len() && found.refused.is_none() {
        let mut script = script_to(&states, next);
        for step in std::mem::take(&mut states[next].steps) {
            script.push(step);
            found.steps += 1;
            found.refused = reach(&mut states, &script, Some((next, step)));
            script.pop();
            if found.refused.is_some() {
                break;
            }
        }
        next += 1;
        if states.len() > most {
            found.is_cut = true;
            break;
        }
    }
    found.states = states.len();
    found
}

fn script_to<S: Copy>(states: &[State<S>], mut at: usize) -> Vec<S> {
    let mut script = Vec::new();
    while let Some((before, step)) = states[at].before {
        script.push(step);
        at = before;
    }
    script.reverse();
    script
}
