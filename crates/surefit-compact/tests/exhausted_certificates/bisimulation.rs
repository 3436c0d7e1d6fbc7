//! The key of a search erases the order of a page's page-blocks. These tests keep the order: states
//! that the coarse key merges have the same successors, including refusals. So the search misses
//! nothing.

use std::collections::{BTreeSet, HashMap, HashSet, VecDeque};

use surefit_compact::certify::{Demand, Sharing, certify};
use surefit_compact::shared::{PerClass, PerPage};
use surefit_compact::{Bound, Wide};

use crate::region::Region;
use crate::search::{Key, Outcome, Space};
use crate::shape::Grain;
use crate::shared::Handles as Shared;
use crate::sharers::Case;
use crate::single::Handles;
use crate::{PAGE, SIZES, bounds, config};

/// A refusal among the successors of a state.
const REFUSED: [u32; 1] = [u32::MAX];

fn reached<W: Space>(space: &W, script: &[W::Step]) -> Option<(Key, Vec<W::Step>)> {
    match space.replay(script, &|_| false) {
        Outcome::Refused(_) => None,
        Outcome::Reached { key, steps } => Some((key, steps)),
    }
}

/// Walks all fine states; returns the number of fine and of coarse states.
fn assert_bisimilar<W: Space>(fine: &W, coarse: &W) -> (usize, usize) {
    let mut known = HashSet::new();
    let mut successors: HashMap<Key, BTreeSet<Key>> = HashMap::new();
    let mut todo = VecDeque::from([Vec::new()]);
    let (first, _) = reached(fine, &[]).expect("a new heap");
    known.insert(first);
    while let Some(mut script) = todo.pop_front() {
        let (class, steps) = reached(coarse, &script).expect("known to be granted");
        let mut next = BTreeSet::new();
        for step in steps {
            script.push(step);
            let key = reached(coarse, &script).map_or(REFUSED.into(), |found| found.0);
            next.insert(key);
            if let Some((key, _)) = reached(fine, &script) {
                if known.insert(key) {
                    todo.push_back(script.clone());
                }
            }
            script.pop();
        }
        let others = successors.entry(class).or_insert_with(|| next.clone());
        assert_eq!(*others, next, "after {script:?}");
    }
    (known.len(), successors.len())
}

#[test]
fn states_of_a_key_have_the_same_successors() {
    let (mut fine, mut coarse) = (0, 0);
    for bound in bounds() {
        let config = config(4, bound);
        for (most, fewer) in [(&[5][..], 0), (&[3, 2], 0), (&[5], PAGE)] {
            let demand = Demand::PerClass(most);
            let certificate = certify::<Wide>(&config, &demand).expect("small");
            let new = |grain| {
                let region = Region::aligned(certificate.aligned_bytes - fewer, PAGE);
                let mut space = Handles::<Wide>::new(&config, &demand, &SIZES, region);
                space.grain = grain;
                space
            };
            let found = assert_bisimilar(&new(Grain::Fine), &new(Grain::Coarse));
            (fine, coarse) = (fine + found.0, coarse + found.1);
        }
    }
    println!("one owner: {fine} fine states, {coarse} coarse ones");
    assert!(fine > coarse, "the order of page-blocks is seen");
}

#[test]
fn states_of_a_shared_heaps_key_have_the_same_successors() {
    let case = Case {
        guards: 1,
        buffers: (1, 2),
        ..Case::ALONE
    };
    let (mut fine, mut coarse) = (0, 0);
    for bound in [Bound::Pages(1), Bound::DEFAULT] {
        let config = config(4, bound);
        let demand = Demand::PerClass(&[5]);
        macro_rules! compare {
            ($maker:ty, $lock:ty, $sharing:expr) => {{
                let config = case.config::<$lock>(&config);
                let sharing: Sharing = $sharing;
                let new = |grain| {
                    let mut space = case.space::<$maker>(&config, &sharing, &demand, 0);
                    space.grain = grain;
                    space
                };
                let found = assert_bisimilar(&new(Grain::Fine), &new(Grain::Coarse));
                (fine, coarse) = (fine + found.0, coarse + found.1);
            }};
        }
        compare!(Shared<PerClass>, PerClass, case.sharing());
        compare!(Shared<PerPage>, PerPage, case.sharing());
    }
    println!("shared: {fine} fine states, {coarse} coarse ones");
    assert!(fine > coarse, "the order of page-blocks is seen");
}
