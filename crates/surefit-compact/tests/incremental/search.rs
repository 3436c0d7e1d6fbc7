//! The search: every state of a class that its threads can reach, section by section, and the
//! checks of each.
//!
//! Between any two sections another thread may run one. Pins come and go at any time, also while a
//! section runs. So a section that takes the last step of a move stops before its commit, with the
//! lock held.

use std::collections::BTreeMap;
use std::sync::Mutex;

use stateright::{Checker, Model, Property};
use surefit_compact::Bound;
use surefit_compact::automaton::incremental::{bound_in_flight, most_steps, pages_bound_in_flight};
use surefit_compact::automaton::pages_bound;

use crate::class::{Call, Class, Moving, Page, Pinned, Place, Rules};

/// What a thread may do next.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(crate) enum Action {
    Malloc,
    Free(Place),
    FreeInMotion(Place),
    Compact,
    Round(usize),
    Commit(usize),
    Pin(Place),
    Unpin(Place),
    PinMoving(Pinned),
    UnpinMoving,
    Cancel,
}

/// The largest values seen, by calls in progress.
#[derive(Clone, Debug, Default)]
pub(crate) struct Census {
    pub(crate) states: usize,
    pub(crate) transitions: usize,
    /// The most steps of one free.
    pub(crate) steps: u8,
    /// n − κ, or holes − limit, by calls in progress.
    pub(crate) excess: BTreeMap<usize, i32>,
    /// Pages less those that the class needs at rest, by calls in progress.
    pub(crate) pages: BTreeMap<usize, i32>,
    /// Whether n or the holes reached `bound_in_flight`, and the pages `pages_bound_in_flight` with
    /// calls in progress.
    pub(crate) reached: bool,
    pub(crate) pages_reached: bool,
}

/// A class, and what the search found about it.
pub(crate) struct Search {
    rules: Rules,
    census: Mutex<Census>,
}

/// Walks every reachable state; returns the first fault, with the path to it, if there is one.
pub(crate) fn explore(rules: Rules) -> (Census, Option<String>) {
    let search = Search {
        rules,
        census: Mutex::default(),
    };
    // One thread: the same states in the same order every time.
    let done = search.checker().threads(1).spawn_bfs().join();
    let names = done
        .model()
        .properties()
        .into_iter()
        .map(|demand| demand.name);
    let mut found = names.filter_map(|name| Some((name, done.discovery(name)?)));
    let fault = found.next().map(|(name, path)| {
        let wrong = path.last_state().fault(&rules).unwrap_or_default();
        let story: Vec<String> = path.into_vec().into_iter().map(told).collect();
        format!("{name}: {wrong}\n{}", story.join("\n"))
    });
    let mut census = done.model().census.lock().expect("no panic").clone();
    census.states = done.unique_state_count();
    census.transitions = done.state_count();
    (census, fault)
}

/// A line of the path to a fault: full pages, the list, the move, the calls, and the next action.
fn told((class, action): (Class, Option<Action>)) -> String {
    let steps: Vec<_> = class
        .calls
        .iter()
        .map(|call| (call.steps, call.own))
        .collect();
    let (full, list) = (pictures(&class.full), pictures(&class.not_full));
    format!(
        "[{full}] list [{list}] {:?} calls {steps:?} then {action:?}",
        class.moving
    )
}

/// A dot for a block that nobody pins, P for a pinned one, v and t for the ends of the move.
fn pictures(pages: &[Page]) -> String {
    let picture = |page: &Page| {
        let (plain, pinned) = (usize::from(page.plain), usize::from(page.pinned));
        let (v, t) = (usize::from(page.source), usize::from(page.target));
        [
            ".".repeat(plain),
            "P".repeat(pinned),
            "v".repeat(v),
            "t".repeat(t),
        ]
        .concat()
    };
    pages.iter().map(picture).collect::<Vec<_>>().join(" ")
}

impl Model for Search {
    type State = Class;
    type Action = Action;

    fn init_states(&self) -> Vec<Class> {
        vec![Class::default()]
    }

    fn actions(&self, class: &Class, actions: &mut Vec<Action>) {
        if class.wrong.is_some() {
            return;
        }
        match class.calls.iter().position(|call| call.commits) {
            Some(call) => actions.push(Action::Commit(call)),
            None => self.sections(class, actions),
        }
        self.pins(class, actions);
    }

    fn next_state(&self, class: &Class, action: Action) -> Option<Class> {
        let rules = &self.rules;
        let mut next = class.clone();
        match action {
            Action::Malloc => next.malloc(rules),
            Action::Free(place) => next.free(rules, place, false),
            Action::FreeInMotion(place) => next.free(rules, place, true),
            Action::Compact => next.calls.push(Call {
                compaction: Some(rules.compaction),
                ..Call::default()
            }),
            Action::Round(call) => next.round(rules, call),
            Action::Commit(call) => next.commit(rules, call),
            Action::Pin(place) => next.pin(place),
            Action::Unpin(place) => next.unpin(place),
            Action::PinMoving(how) => next.pin_moving(how),
            Action::UnpinMoving => next.unpin_moving(),
            Action::Cancel => next.cancel(rules),
        }
        Some(next.sorted())
    }

    fn properties(&self) -> Vec<Property<Self>> {
        vec![
            Property::always(
                "no block, page or write is lost",
                |search: &Self, class: &Class| class.fault(&search.rules).is_none(),
            ),
            Property::always("every free ends", |search: &Self, class: &Class| {
                search.ends(class)
            }),
            Property::always("the bound is kept", |search: &Self, class: &Class| {
                search.keeps_bound(class)
            }),
            Property::always(
                "a compaction pays every debt",
                |search: &Self, class: &Class| search.compacts(class),
            ),
        ]
    }
}

// ---- what may happen ---------------------------------------------------------------------------

impl Search {
    /// The sections that may get the lock next.
    fn sections(&self, class: &Class, actions: &mut Vec<Action>) {
        let rules = &self.rules;
        if class.live < rules.live {
            actions.push(Action::Malloc);
        }
        let room = class.calls.len() < usize::from(rules.calls);
        if room {
            actions.extend(distinct(class, |page| page.plain > 0).map(Action::Free));
            let free = class
                .moving
                .is_some_and(|moving| moving.pinned == Pinned::No);
            let v = class.places().find(|&place| class.at(place).source);
            actions.extend(v.filter(|_| free).map(Action::FreeInMotion));
        }
        let compacting = class.calls.iter().any(|call| call.compaction.is_some());
        if room && rules.compaction > 0 && !compacting {
            actions.push(Action::Compact);
        }
        actions.extend((0..class.calls.len()).map(Action::Round));
        if class
            .moving
            .is_some_and(|moving| moving.pinned == Pinned::Waits)
        {
            actions.push(Action::Cancel);
        }
    }

    /// Pins need no lock.
    fn pins(&self, class: &Class, actions: &mut Vec<Action>) {
        if class.pins() < self.rules.pins {
            actions.extend(distinct(class, |page| page.plain > 0).map(Action::Pin));
            if class
                .moving
                .is_some_and(|moving| moving.pinned == Pinned::No)
            {
                actions.push(Action::PinMoving(Pinned::Reads));
                actions.push(Action::PinMoving(Pinned::Waits));
            }
        }
        actions.extend(distinct(class, |page| page.pinned > 0).map(Action::Unpin));
        let held = |moving: Moving| matches!(moving.pinned, Pinned::Reads | Pinned::Writes);
        if class.moving.is_some_and(held) {
            actions.push(Action::UnpinMoving);
        }
    }
}

/// The pages for which `holds` is true, but only one of several equal full pages.
fn distinct(class: &Class, holds: impl Fn(Page) -> bool) -> impl Iterator<Item = Place> {
    let again = |at: usize| at > 0 && class.full[at] == class.full[at - 1];
    class.places().filter(move |&place| {
        holds(class.at(place)) && !matches!(place, Place::Full(at) if again(at))
    })
}

// ---- what is demanded --------------------------------------------------------------------------

impl Search {
    /// A free has taken no more steps than allowed; and if left alone, all calls return.
    fn ends(&self, class: &Class) -> bool {
        let rules = self.rules.decisions();
        let frees = class.calls.iter().filter(|call| call.compaction.is_none());
        let most = frees.map(|call| call.steps).max().unwrap_or(0);
        let mut census = self.census.lock().expect("no panic");
        census.steps = census.steps.max(most);
        u32::from(most) < most_steps(rules) + rules.steps_per_move && self.drains(class.clone())
    }

    /// Whether all calls return, each in its turn, with the pins as they are.
    fn drains(&self, mut class: Class) -> bool {
        let each = most_steps(self.rules.decisions()) + u32::from(self.rules.steps) + 2;
        let mut rounds = each * u32::from(self.rules.calls + self.rules.compaction);
        while !class.calls.is_empty() && class.wrong.is_none() && rounds > 0 {
            let call = rounds as usize % class.calls.len();
            self.turn(&mut class, call);
            rounds -= 1;
        }
        class.calls.is_empty() && class.moving.is_none() && class.fault(&self.rules).is_none()
    }

    /// A round of a call, with the commit that ends it.
    fn turn(&self, class: &mut Class, call: usize) {
        let commits = |class: &Class| class.calls.iter().position(|call| call.commits);
        match commits(class) {
            Some(call) => class.commit(&self.rules, call),
            None => class.round(&self.rules, call),
        }
        if let Some(call) = commits(class) {
            class.commit(&self.rules, call);
        }
    }

    fn keeps_bound(&self, class: &Class) -> bool {
        let rules = &self.rules;
        let calls = class.calls.len();
        let (blocks, live) = (u32::from(rules.blocks), u32::from(class.live));
        let (pins, peak) = (u32::from(rules.pins), u32::from(rules.live));
        let (holds, limit) = match rules.bound {
            Bound::Pages(most) => (class.not_full.len() as u32, most),
            _ => (class.holes(rules), rules.hole_limit(class.live)),
        };
        let most = bound_in_flight(rules.bound, blocks, live, calls as u32, pins);
        let pages = u32::from(class.pages);
        let at_rest = pages_bound(rules.bound, blocks, live, peak);
        let enough = pages_bound_in_flight(rules.bound, blocks, live, peak, calls as u32, pins);
        let mut census = self.census.lock().expect("no panic");
        raise(&mut census.excess, calls, holds as i32 - limit as i32);
        raise(&mut census.pages, calls, pages as i32 - at_rest as i32);
        census.reached |= most == Some(holds);
        census.pages_reached |= calls > 0 && pages == enough;
        most.is_none_or(|most| holds <= most) && pages <= enough
    }

    /// From a state at rest in which nothing is pinned, a compaction leaves at most one not-full
    /// page.
    fn compacts(&self, class: &Class) -> bool {
        if !class.calls.is_empty() || class.pins() > 0 {
            return true;
        }
        let rules = &self.rules;
        let mut class = class.clone();
        class.calls.push(Call {
            compaction: Some(u8::MAX),
            ..Call::default()
        });
        while !class.calls.is_empty() && class.wrong.is_none() {
            self.turn(&mut class, 0);
        }
        let (blocks, live) = (u32::from(rules.blocks), u32::from(class.live));
        class.fault(rules).is_none()
            && class.not_full.len() <= 1
            && u32::from(class.pages)
                <= pages_bound(rules.bound, blocks, live, live.max(1) * blocks)
    }
}

fn raise(most: &mut BTreeMap<usize, i32>, calls: usize, value: i32) {
    let entry = most.entry(calls).or_insert(value);
    *entry = value.max(*entry);
}
