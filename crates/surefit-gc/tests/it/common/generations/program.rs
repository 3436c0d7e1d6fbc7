//! Random programs for the judge of a collector with two generations.

use surefit_gc::OneByOne;

use super::{Aged, Verdict};

/// One step of a program, chosen by `below`.
pub fn step<S: OneByOne>(
    world: &mut Aged<'_, S>,
    below: &mut impl FnMut(usize) -> usize,
) -> Verdict {
    let nodes = world.reached.len();
    match below(100) {
        0..40 => {
            let wide = below(40) == 0;
            let slots = below(if wide { 300 } else { 5 });
            if world.alloc(slots, below(12))?.is_none() {
                for _ in 0..8 {
                    world.drop_root(below(world.roots.len() + 1))?;
                }
            }
        }
        40..65 if nodes > 0 => {
            let (from, to) = (
                world.reached[below(nodes)],
                world.reached[often_late(nodes, below)],
            );
            if world.slots(from) > 0 {
                let slot = below(world.slots(from));
                world.link(from, slot, Some(to))?;
            }
        }
        65..69 if nodes > 0 => {
            let from = world.reached[below(nodes)];
            if world.slots(from) > 0 {
                let slot = below(world.slots(from));
                world.link(from, slot, None)?;
            }
        }
        69..72 if nodes > 0 => {
            let from = world.reached[below(nodes)];
            let to = (below(4) > 0).then(|| world.reached[often_late(nodes, below)]);
            world.link_beside(from, to)?;
        }
        72..75 if nodes > 0 => world.hold(world.reached[below(nodes)])?,
        75..91 => world.drop_root(often_late(world.roots.len() + 1, below))?,
        91..94 if nodes > 0 => world.weaken(world.reached[below(nodes)]),
        94..98 => world.collect_young()?,
        98 if below(3) == 0 => most_die(world)?,
        99 if below(4) == 0 => world.collect()?,
        _ => {}
    }
    Ok(())
}

/// More is dead than kept, when it is collected.
fn most_die<S: OneByOne>(world: &mut Aged<'_, S>) -> Verdict {
    world.keep_roots(2);
    world.collect()?;
    let few = world.reached.len();
    for _ in 0..2 * few + 4 {
        world.alloc(1, 2)?;
    }
    world.keep_roots(2);
    world.collect_young()
}

/// A number below `bound`: often one of the last, since most objects die young.
fn often_late(bound: usize, below: &mut impl FnMut(usize) -> usize) -> usize {
    match below(3) {
        0 => below(bound),
        _ => bound - 1 - below(bound.min(8)),
    }
}
