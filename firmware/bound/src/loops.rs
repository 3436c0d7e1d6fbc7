//! The loops of a graph, each with one head.

use std::collections::{BTreeMap, BTreeSet};

use anyhow::{Result, bail};

use crate::graph::Graph;

/// A loop.
#[derive(Clone, Debug)]
pub struct Loop {
    /// The block through which it is entered.
    pub head: usize,
    /// Its blocks, with those of the loops inside.
    pub blocks: BTreeSet<usize>,
    /// The heads of the loops inside, and all their blocks.
    pub inner: BTreeSet<usize>,
}

/// All loops; the outer ones come first.
///
/// # Errors
/// A loop that is entered in two places.
pub fn of(graph: &Graph) -> Result<Vec<Loop>> {
    let mut loops = Vec::new();
    let all = (0..graph.blocks.len()).collect();
    within(graph, &all, &BTreeSet::new(), &mut loops)?;
    let sets: Vec<BTreeSet<usize>> = loops.iter().map(|it| it.blocks.clone()).collect();
    for (number, it) in loops.iter_mut().enumerate() {
        for (other, blocks) in sets.iter().enumerate() {
            if other != number && blocks.is_subset(&it.blocks) {
                it.inner.extend(blocks);
            }
        }
    }
    Ok(loops)
}

/// The loops among some blocks, without the edges into the heads of the loops around.
fn within(
    graph: &Graph,
    blocks: &BTreeSet<usize>,
    cut: &BTreeSet<usize>,
    loops: &mut Vec<Loop>,
) -> Result<()> {
    let next = |block: usize| {
        let next = graph.blocks[block].next.iter().copied();
        next.filter(|next| blocks.contains(next) && !cut.contains(next))
    };
    let reach = |from: usize| {
        let mut seen = BTreeSet::new();
        let mut open: Vec<usize> = next(from).collect();
        while let Some(block) = open.pop() {
            if seen.insert(block) {
                open.extend(next(block));
            }
        }
        seen
    };
    let reached: BTreeMap<usize, BTreeSet<usize>> = blocks.iter().map(|&b| (b, reach(b))).collect();
    let mut done: BTreeSet<usize> = BTreeSet::new();
    for (block, seen) in &reached {
        if done.contains(block) || !seen.contains(block) {
            continue;
        }
        let cycle: BTreeSet<usize> = seen
            .iter()
            .copied()
            .filter(|other| reached[other].contains(block))
            .collect();
        done.extend(&cycle);
        // All edges count here, also those that were cut: an inner loop may be entered by them.
        let heads: BTreeSet<usize> = cycle
            .iter()
            .copied()
            .filter(|&head| {
                let entered = |(from, it): (usize, &crate::graph::Block)| {
                    !cycle.contains(&from) && it.next.contains(&head)
                };
                head == 0 || graph.blocks.iter().enumerate().any(entered)
            })
            .collect();
        let (Some(&head), 1) = (heads.first(), heads.len()) else {
            bail!(
                "{}: a loop that is entered in {} places",
                graph.name,
                heads.len()
            );
        };
        loops.push(Loop {
            head,
            blocks: cycle.clone(),
            inner: BTreeSet::new(),
        });
        let mut cut = cut.clone();
        cut.insert(head);
        within(graph, &cycle, &cut, loops)?;
    }
    Ok(())
}
