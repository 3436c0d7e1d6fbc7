//! The search: every state that the threads of a size-class can reach, section by section, and the
//! checks of each. The class is ours or the papers'.

use std::collections::BTreeMap;
use std::sync::Mutex;

use stateright::{Checker, Model, Property};
use surefit_models::{Measured, SizeClass};

/// The largest values seen, by calls in progress.
#[derive(Clone, Debug, Default)]
pub(crate) struct Census {
    pub(crate) states: usize,
    pub(crate) transitions: usize,
    /// The most steps of one free.
    pub(crate) steps: u32,
    /// n − κ, or holes − limit, by calls in progress.
    pub(crate) excess: BTreeMap<usize, i32>,
    /// Pages less those that the class needs at rest, by calls in progress.
    pub(crate) pages: BTreeMap<usize, i32>,
    /// Transient fragmentation in page-blocks, by calls in progress.
    pub(crate) transient: BTreeMap<usize, i32>,
    /// The most emptying pages.
    pub(crate) emptying: u32,
    /// Whether n or the holes reached their bound, and the pages theirs with calls in progress.
    pub(crate) reached: bool,
    pub(crate) pages_reached: bool,
}

impl Census {
    /// Notes the figures of a state; returns whether all of them are within their bounds.
    pub(crate) fn note(&mut self, found: &Measured) -> bool {
        raise(
            &mut self.excess,
            found.calls,
            found.held as i32 - found.allowed as i32,
        );
        raise(
            &mut self.pages,
            found.calls,
            found.pages as i32 - found.pages_at_rest as i32,
        );
        raise(&mut self.transient, found.calls, found.transient as i32);
        self.emptying = self.emptying.max(found.emptying);
        self.reached |= found.held_most == Some(found.held);
        self.pages_reached |= found.calls > 0 && found.pages == found.pages_most;
        found.held_most.is_none_or(|most| found.held <= most)
            && found.pages <= found.pages_most
            && found.transient <= found.transient_most
    }
}

fn raise(most: &mut BTreeMap<usize, i32>, calls: usize, value: i32) {
    let entry = most.entry(calls).or_insert(value);
    *entry = value.max(*entry);
}

/// A class, and what the search found about it.
struct Search<C: SizeClass> {
    rules: C::Rules,
    census: Mutex<Census>,
}

/// Walks every reachable state; returns the first fault, with the path to it, if there is one.
pub(crate) fn explore<C>(rules: C::Rules) -> (Census, Option<String>)
where
    C: SizeClass + Send + Sync + 'static,
    C::Rules: Send + Sync + 'static,
    C::Action: 'static,
{
    let search = Search::<C> {
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
        let line = |(class, action): (C, Option<C::Action>)| {
            format!("{} {class:?} then {action:?}", class.picture(&rules))
        };
        let story: Vec<String> = path.into_vec().into_iter().map(line).collect();
        format!("{name}: {wrong}\n{}", story.join("\n"))
    });
    let mut census = done.model().census.lock().expect("no panic").clone();
    census.states = done.unique_state_count();
    census.transitions = done.state_count();
    (census, fault)
}

impl<C> Model for Search<C>
where
    C: SizeClass + Send + Sync + 'static,
    C::Rules: Send + Sync + 'static,
    C::Action: 'static,
{
    type State = C;
    type Action = C::Action;

    fn init_states(&self) -> Vec<C> {
        vec![C::default()]
    }

    fn actions(&self, class: &C, actions: &mut Vec<C::Action>) {
        class.actions(&self.rules, actions);
    }

    fn next_state(&self, class: &C, action: C::Action) -> Option<C> {
        let mut next = class.clone();
        next.act(&self.rules, action);
        Some(next)
    }

    fn properties(&self) -> Vec<Property<Self>> {
        vec![
            Property::always(
                "no block, page or write is lost",
                |search: &Self, class: &C| class.fault(&search.rules).is_none(),
            ),
            Property::always("every free ends", |search: &Self, class: &C| {
                search.ends(class)
            }),
            Property::always("the bound is kept", |search: &Self, class: &C| {
                let mut census = search.census.lock().expect("no panic");
                census.note(&class.measured(&search.rules))
            }),
            Property::always(
                "what a class promises at rest",
                |search: &Self, class: &C| class.rests(&search.rules),
            ),
        ]
    }
}

impl<C: SizeClass> Search<C> {
    /// A free has taken no more steps than allowed; and if left alone, all calls return.
    fn ends(&self, class: &C) -> bool {
        let found = class.measured(&self.rules);
        let mut census = self.census.lock().expect("no panic");
        census.steps = census.steps.max(found.steps);
        found.steps <= found.steps_most && class.ends(&self.rules)
    }
}
